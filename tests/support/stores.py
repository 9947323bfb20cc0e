"""Places where a store can be made, opened again and opened twice, one for each kind of store."""

from pathlib import Path
from typing import Protocol

from memprove.ledger.storage.interface import Store, StoredEvent, StoredHead, StoredNode, Writer
from memprove.ledger.storage.memory import MemoryDisk, MemoryStore
from memprove.ledger.storage.registry import FILE_NAME, create_store, open_store

SHORT_WAIT = 0.05
"""Seconds after which a writer in a test gives up."""


class Place(Protocol):
    """Where one log is kept."""

    def open(self) -> Store:
        """Open the store of this place once more."""
        ...


class MemoryPlace:
    """A disk in memory."""

    def __init__(self, data_dir: Path) -> None:
        self._disk = MemoryDisk()

    def open(self) -> Store:
        return MemoryStore(self._disk, wait=SHORT_WAIT)


class SqlitePlace:
    """A folder with a SQLite file."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def open(self) -> Store:
        make = open_store if (self._data_dir / FILE_NAME).exists() else create_store
        return make(self._data_dir, wait=SHORT_WAIT)


def event(
    seq: int, stream: str = "ledger", stream_seq: int | None = None, kind: str = "noted"
) -> StoredEvent:
    """Return an event whose bytes tell its number."""
    leaf = f"leaf {seq}".encode()
    return StoredEvent(seq, stream, stream_seq or seq, kind, leaf, b"payload %d" % seq, b"s" * 16)


def add_event(writer: Writer, stream: str = "ledger", kind: str = "noted") -> StoredEvent:
    """Append the next event of *stream*, with its node of level 0 and its head."""
    seq = writer.size() + 1
    tail = writer.stream_tail(stream)
    added = event(seq, stream, tail.stream_seq + 1 if tail else 1, kind)
    writer.append(added, [StoredNode(0, seq - 1, b"%032d" % seq)])
    writer.put_head(StoredHead(seq, b"head %d" % seq, keep=False))
    return added


def check_whole(store: Store) -> int:
    """Check that no event, node or head is missing or left over, and return the size."""
    with store.read() as reader:
        size = reader.size()
        assert [e.seq for e in reader.events()] == list(range(1, size + 1))
        indices = [n for nodes in reader.nodes(0) for n in nodes.indices]
        assert (indices, reader.levels()) == (list(range(size)), [0] * bool(size))
        head = reader.head()
        assert (head.size if head else 0) == size
    return size
