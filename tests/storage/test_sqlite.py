"""The SQLite store: its file, and the ways in which it can be wrong."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest
from support.expected import problem
from support.stores import add_event, check_whole

from memprove.ledger.storage import sqlite
from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.registry import FILE_NAME, create_store, open_store
from memprove.ledger.storage.sqlite_schema import FORMAT


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A folder with a ledger of one event, closed."""
    with closing(create_store(tmp_path)) as store:
        write_one(store)
    return tmp_path


@pytest.fixture
def raw(ledger: Path) -> Iterator[apsw.Connection]:
    """The ledger's file as anybody could open it."""
    connection = apsw.Connection(str(ledger / FILE_NAME))
    with closing(connection):
        yield connection


def write_one(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)


def read_one(data_dir: Path) -> int:
    with closing(open_store(data_dir)) as store:
        return check_whole(store)


def test_create_makes_files_that_nobody_else_reads(ledger: Path) -> None:
    assert {path.name for path in ledger.iterdir()} == {
        "ledger.db",
        "ledger.db-shm",
        "ledger.db-wal",
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in ledger.iterdir()} == {0o600}


def test_create_changes_no_ledger_that_is_there(ledger: Path) -> None:
    with problem("ledger_exists"):
        create_store(ledger)
    assert read_one(ledger) == 1


def test_create_starts_over_where_another_died(tmp_path: Path) -> None:
    (tmp_path / "ledger.db.new").write_bytes(b"half a database")
    with closing(create_store(tmp_path)) as store:
        write_one(store)
    assert not (tmp_path / "ledger.db.new").exists()
    assert read_one(tmp_path) == 1


def test_create_needs_the_folder(tmp_path: Path) -> None:
    with problem("data_dir_unreadable"):
        create_store(tmp_path / "missing")


def test_open_makes_no_file(tmp_path: Path) -> None:
    with problem("data_dir_unreadable"):
        open_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"not a database\n" * 400, b"SQLite format 3\0" + b"\xff" * 8000]
)
def test_another_file_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with problem("ledger_damaged"):
        open_store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with problem("ledger_damaged"):
        open_store(tmp_path)


def test_the_database_of_another_program_is_no_ledger(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / FILE_NAME))) as other:
        other.execute("CREATE TABLE event(seq INTEGER PRIMARY KEY)")
    with problem("ledger_damaged"):
        open_store(tmp_path)


def test_a_truncated_file_is_damaged(ledger: Path) -> None:
    with closing(open_store(ledger)) as store, store.write() as writer:
        writer.put_blob("00", b"x" * 100_000)
    with closing(apsw.Connection(str(ledger / FILE_NAME))) as connection:
        connection.pragma("schema_version")  # a first read opens the WAL
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    os.truncate(ledger / FILE_NAME, 8192)
    with problem("ledger_damaged"):
        read_one(ledger)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE more(x)",
        "CREATE TRIGGER evil AFTER INSERT ON event BEGIN DELETE FROM head; END",
        "DROP TRIGGER event_is_never_deleted",
        "DROP INDEX event_kind",
        "ALTER TABLE event ADD COLUMN more TEXT",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 0",
        "DELETE FROM format",
        "INSERT INTO format VALUES (1)",
        "UPDATE format SET min_writer = -99",
        "UPDATE format SET min_writer = 2",
        "PRAGMA journal_mode = DELETE",
    ],
)
def test_a_changed_schema_is_damaged(ledger: Path, raw: apsw.Connection, change: str) -> None:
    raw.execute(change)
    with problem("ledger_damaged"):
        open_store(ledger)


def test_a_value_of_another_type_is_damaged(ledger: Path, raw: apsw.Connection) -> None:
    """Strict tables refuse it, but whoever can write the file can write it all the same."""
    raw.pragma("writable_schema", True)
    raw.execute("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'head'")
    raw.pragma("writable_schema", "RESET")
    with closing(apsw.Connection(str(ledger / FILE_NAME))) as loose:
        loose.execute("UPDATE head SET note = 'text'")
        loose.pragma("writable_schema", True)
        loose.execute("UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'head'")
    with problem("ledger_damaged"), closing(open_store(ledger)) as store, store.read() as reader:
        reader.head()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM event",
        "UPDATE event SET leaf = x''",
        "UPDATE event SET payload = x'00'",
        "UPDATE event SET seq = 7",
    ],
)
def test_events_are_never_changed_by_accident(raw: apsw.Connection, change: str) -> None:
    with pytest.raises(apsw.ConstraintError, match="events are never"):
        raw.execute(change)


def test_a_payload_and_its_salt_can_be_erased(ledger: Path, raw: apsw.Connection) -> None:
    raw.execute("UPDATE event SET payload = NULL, salt = NULL")
    with closing(open_store(ledger)) as store, store.read() as reader:
        erased = reader.event(1)
    assert erased is not None
    assert (erased.payload, erased.salt) == (None, None)


def test_a_newer_ledger_is_read_but_not_written(ledger: Path, raw: apsw.Connection) -> None:
    raw.execute("CREATE TABLE space(name TEXT PRIMARY KEY) STRICT")
    raw.pragma("user_version", FORMAT + 1)
    raw.execute("UPDATE format SET min_writer = ?", (FORMAT + 1,))
    with closing(open_store(ledger)) as store:
        assert check_whole(store) == 1
        with problem("ledger_newer"):
            write_one(store)
        assert check_whole(store) == 1


def test_a_newer_ledger_that_welcomes_older_writers_is_written(
    ledger: Path, raw: apsw.Connection
) -> None:
    raw.execute("CREATE TABLE space(name TEXT PRIMARY KEY) STRICT")
    raw.pragma("user_version", FORMAT + 1)
    with closing(open_store(ledger)) as store:
        write_one(store)
        assert check_whole(store) == 2


def test_a_ledger_that_became_newer_while_it_was_open_is_not_written(
    ledger: Path, raw: apsw.Connection
) -> None:
    with closing(open_store(ledger)) as store:
        raw.execute("UPDATE format SET min_writer = ?", (FORMAT + 1,))
        with problem("ledger_newer"):
            write_one(store)


def test_a_writer_beside_the_lock_makes_the_ledger_busy(ledger: Path, raw: apsw.Connection) -> None:
    raw.execute("BEGIN IMMEDIATE")
    with closing(open_store(ledger, wait=0.05)) as store:
        with problem("ledger_busy"):
            write_one(store)
        raw.execute("ROLLBACK")
        write_one(store)
        assert check_whole(store) == 2


def test_a_file_that_was_replaced_while_open_is_not_written(ledger: Path) -> None:
    with closing(open_store(ledger)) as store:
        copy = (ledger / FILE_NAME).read_bytes()
        (ledger / FILE_NAME).unlink()
        with problem("ledger_unwritable"):
            write_one(store)
        (ledger / FILE_NAME).write_bytes(copy)
        with problem("ledger_unwritable", "replaced"):
            write_one(store)


def test_a_commit_leaves_the_wal_to_the_next_opener(ledger: Path) -> None:
    assert (ledger / "ledger.db-wal").stat().st_size > 0
    assert read_one(ledger) == 1


def test_the_wal_does_not_grow_for_ever(ledger: Path) -> None:
    with closing(open_store(ledger)) as store:
        for number in range(12):
            with store.write() as writer:
                writer.put_row("t", "key", b"%d" % number * 1_000_000)
        assert (ledger / "ledger.db-wal").stat().st_size < 2 * 4096 * sqlite.WAL_LIMIT
        assert (ledger / "ledger.db").stat().st_size > 1_000_000
        assert check_whole(store) == 1


def test_a_reader_keeps_its_snapshot_while_the_wal_is_moved(ledger: Path) -> None:
    with closing(open_store(ledger)) as store, closing(open_store(ledger)) as other:
        with store.read() as reader:
            for _ in range(3):
                with other.write() as writer:
                    add_event(writer)
                    writer.put_blob(str(writer.size()), b"x" * 3_000_000)
            assert reader.size() == 1
            assert len(list(reader.events())) == 1
        assert check_whole(store) == 4


def test_a_forgotten_iterator_holds_no_snapshot(ledger: Path) -> None:
    with closing(open_store(ledger)) as store, closing(open_store(ledger)) as other:
        write_one(other)
        with store.read() as reader:
            events = reader.events()
            next(events)
        write_one(other)
        assert check_whole(store) == 3
        write_one(store)
        assert check_whole(other) == 4


def test_an_exception_of_a_writer_frees_the_ledger_for_others(ledger: Path) -> None:
    with closing(open_store(ledger)) as store, closing(open_store(ledger, wait=0.05)) as other:
        with suppress(ValueError), store.write() as writer:
            add_event(writer)
            raise ValueError
        write_one(other)
        assert check_whole(store) == 2


def test_what_memprove_sets_is_set(ledger: Path) -> None:
    with closing(open_store(ledger)) as store:
        assert isinstance(store, sqlite.SqliteStore)
        connection = store._connection
        settings = (
            "synchronous secure_delete cell_size_check mmap_size wal_autocheckpoint fullfsync"
        )
        values = [connection.pragma(name) for name in settings.split()]
        assert values == [2, 1, 1, 0, 0, 1]
        assert connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        assert connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1) == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1) == 1
