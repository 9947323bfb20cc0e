"""A backup is a store of one file, whichever store it was made of."""

import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from support.expected import problem
from support.stores import add_event, check_whole

from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.memory import MemoryStore
from memprove.ledger.storage.registry import FILE_NAME
from memprove.ledger.storage.registry import open_store as open_file

Open = Callable[[], Store]


def test_a_backup_is_the_store_as_it_was_while_others_write(
    open_store: Open, tmp_path: Path
) -> None:
    ours, others = open_store(), open_store()
    with ours.write() as writer:
        for _ in range(300):
            add_event(writer, "task/1")
        writer.put_row("tasks", "1", b"open")
        writer.put_blob("00", b"data" * 500_000)
        writer.erase(7)
    told: list[tuple[int, int]] = []

    def write_meanwhile(done: int, of: int) -> None:
        told.append((done, of))
        if len(told) < 4:
            with others.write() as writer:
                add_event(writer)

    copy = tmp_path / "copy" / FILE_NAME
    copy.parent.mkdir()
    ours.backup(copy, write_meanwhile)
    assert told[-1][0] == told[-1][1] > 0
    with ours.read() as reader:
        before = list(reader.events(0, 300))
    with closing(open_file(copy.parent)) as store:
        assert check_whole(store) == 300
        with store.read() as reader:
            assert list(reader.events()) == before
            assert (reader.row("tasks", "1"), reader.tables()) == (b"open", ["tasks"])
            assert reader.blob("00") == b"data" * 500_000
    assert check_whole(ours) == 300 + min(len(told), 3)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_backup_replaces_no_file(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    with problem("backup_unwritable" if not isinstance(store, MemoryStore) else "ledger_exists"):
        store.backup(file)
    assert file.read_bytes() == b"mine"
