"""What somebody who can write the file, but has no key, can do to it: verify finds it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from support.expected import problem
from support.logs import BLOB, DATA, Log, a_run, a_task, registered, run_ended

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Actor, Leaf, encode
from memprove.ledger.log.append import commitment
from memprove.ledger.log.reading import check_head, read_stream
from memprove.ledger.log.report import CHECKS, CheckResult, Report
from memprove.ledger.log.verify import verify
from memprove.ledger.storage.interface import StoredEvent
from memprove.ledger.storage.registry import FILE_NAME, create_store, open_store


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(create_store(tmp_path)).begin()
    log.append([registered(), a_task()])
    log.append([a_run(), run_ended()], blobs=[(BLOB, DATA)])
    log.append([a_task("two")])
    yield log
    log.store.close()


@pytest.fixture
def file(tmp_path: Path, log: Log) -> Path:
    return tmp_path / FILE_NAME


def tamper(file: Path, statement: str, *bindings: object) -> None:
    """Change the file: triggers dropped and put back, checks off."""
    with closing(sqlite3.connect(file)) as connection, connection:
        query = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        triggers = connection.execute(query).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(statement, bindings).rowcount
        for _, sql in triggers:
            connection.execute(sql)


def findings(log: Log) -> str:
    report = log.verify()
    assert not report.ok
    return " ".join(f"{finding.check} {finding.seq} {finding.what}" for finding in report.findings)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE event SET payload = NULL, salt = NULL WHERE seq = 5", "payloads 5"),
        ("UPDATE event SET payload = x'7b7d' WHERE seq = 3", "payloads 3"),
        ("UPDATE event SET salt = zeroblob(16) WHERE seq = 2", "payloads 2"),
        ("UPDATE event SET leaf = x'7b7d' WHERE seq = 4", "tree 4"),
        ("UPDATE event SET kind = 'x' WHERE seq = 6", "leaves 6"),
        ("UPDATE event SET stream = 'task/x', stream_seq = 1 WHERE seq = 5", "leaves 5"),
        ("UPDATE event SET stream_seq = 9 WHERE seq = 5", "leaves 5"),
        ("UPDATE event SET seq = 7 WHERE seq = 5", "leaves 6"),
        ("UPDATE event SET seq = -5 WHERE seq = 5", "leaves 6"),
        ("UPDATE event SET seq = 0 WHERE seq = 6", "head None"),
        ("DELETE FROM event WHERE seq = 1", "leaves 2"),
        ("DELETE FROM event WHERE seq = 6", "head None"),
        ("DELETE FROM event", "head None"),
        ("UPDATE node SET hash = zeroblob(32) WHERE level = 1 AND position = 0", "tree 2"),
        ("UPDATE node SET hash = x'' WHERE level = 0 AND position = 2", "tree 3"),
        ("DELETE FROM node WHERE level = 2", "tree 4"),
        ("INSERT INTO node VALUES (0, 6, zeroblob(32))", "tree None"),
        ("INSERT INTO node VALUES (0, -1, zeroblob(32))", "tree None"),
        ("INSERT INTO node VALUES (9223372036854775807, 0, zeroblob(32))", "tree None"),
        ("UPDATE head SET note = x'' WHERE size = 6", "head 6"),
        ("UPDATE head SET size = 5 WHERE size = 6", "head 5"),
        ("DELETE FROM head", "head None"),
        ("UPDATE head SET keep = 7", "store None"),
        ("INSERT INTO head SELECT 9, note, 1 FROM head", "head 9"),
        ("UPDATE row SET value = x'7b7d' WHERE tbl = 'workspace'", "projections None"),
        ("DELETE FROM row WHERE tbl = 'counter'", "projections None"),
        ("INSERT INTO row VALUES ('token', 'x', x'7b7d')", "projections None"),
        ("DELETE FROM blob", "blobs 5"),
        ("UPDATE blob SET data = x''", "blobs 5"),
    ],
)
def test_a_change_of_the_file_is_found(log: Log, file: Path, statement: str, found: str) -> None:
    tamper(file, statement)
    assert findings(log).startswith(found) or f" {found} " in findings(log)


def overwrite(file: Path, holding: bytes) -> None:
    """Overwrite the page of the database that holds these bytes."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = file.read_bytes()
    start = data.index(holding) // 4096 * 4096
    file.write_bytes(data[:start] + b"\xff" * 4096 + data[start + 4096 :])


def report_of(file: Path, log: Log) -> Report:
    """Verify what is in the file now."""
    with closing(open_store(file.parent)) as store, store.read() as reader:
        return verify(reader, log.pin, project=projections.apply)


def test_an_event_that_cannot_be_read_is_named(log: Log, file: Path) -> None:
    for number in range(20):
        log.append([a_task(f"{number}{'x' * 100}")])
    leaf = next(event.leaf for event in events(log) if event.seq == 15)
    log.store.close()
    overwrite(file, leaf)
    report = report_of(file, log)
    (found,) = report.findings
    assert found.check == "store"
    assert found.seq is not None
    assert 1 < found.seq <= 15
    assert report.checks == (CheckResult(check="store", ok=False),)


def test_a_blob_that_cannot_be_read_is_named_with_its_event_and_the_rest_is_checked(
    log: Log, file: Path
) -> None:
    log.store.close()
    overwrite(file, DATA)
    report = report_of(file, log)
    (found,) = report.findings
    assert (found.check, found.seq) == ("store", 5)
    assert [check.check for check in report.checks if check.ok] == [
        name for name in CHECKS[:-2] if name not in ("store", "blobs")
    ]
    assert report.signed == 6


def test_tables_that_cannot_be_read_leave_the_log_verified(log: Log, file: Path) -> None:
    with log.store.write() as writer:
        writer.put_row("made up", "key", b"unmistakable" * 20)
    log.store.close()
    overwrite(file, b"unmistakable")
    report = report_of(file, log)
    (found,) = report.findings
    assert (found.check, found.seq) == ("store", None)
    assert [check.check for check in report.checks] == list(CHECKS[:-3])
    assert report.signed == 6


def events(log: Log) -> list[StoredEvent]:
    with log.store.read() as reader:
        return list(reader.events())


def planted(log: Log, seq: int) -> tuple[StoredEvent, bytes]:
    """Return an event that goes on from the Task's last one, and its leaf hash."""
    with log.store.read() as reader:
        tail = reader.stream_tail("task/one")
    assert tail is not None
    moved = e.TaskMoved(source=e.TaskState.PENDING, target=e.TaskState.COMPLETED)
    payload, salt = encode(moved), b"s" * 16
    leaf = Leaf(
        v=1,
        seq=seq,
        kind="task.moved",
        kind_v=1,
        at=1,
        actor=Actor(installation="i", token="t", role="owner", face="cli"),
        stream="task/one",
        stream_seq=tail.stream_seq + 1,
        stream_prev=sha256(b"\0" + tail.leaf).hexdigest(),
        payload=commitment(salt, payload),
        workspace="w",
    )
    data = encode(leaf)
    event = StoredEvent(seq, "task/one", leaf.stream_seq, leaf.kind, data, payload, salt)
    return event, sha256(b"\0" + data).digest()


@pytest.mark.parametrize("seq", [0, -5])
def test_an_event_planted_below_the_first_number_is_seen_by_nobody_unnoticed(
    log: Log, file: Path, seq: int
) -> None:
    event, digest = planted(log, seq)
    tamper(
        file,
        "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)",
        event.seq,
        event.stream,
        event.stream_seq,
        event.kind,
        event.leaf,
        event.payload,
        event.salt,
    )
    tamper(file, "INSERT INTO node VALUES (0, ?, ?)", seq - 1, digest)
    assert "task/one goes on outside the numbers of the log" in findings(log)
    with log.store.read() as reader:
        check_head(reader, log.pin)
        with problem("ledger_damaged", str(seq)):
            read_stream(reader, "task/one")


def test_a_log_that_nobody_touched_is_green(log: Log, file: Path) -> None:
    assert log.verify().ok
    tamper(file, "UPDATE row SET value = value")
    assert log.verify().ok
