"""A store in memory, for tests and for trying things out. Nothing is durable.

A block works on a state of its own: a reader on the one that was current, which never changes
again, a writer on a copy, which becomes current at the commit.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from memprove.ledger.problems import INTERNAL, LEDGER_BUSY
from memprove.ledger.storage.block import Block, check_next, check_text
from memprove.ledger.storage.interface import (
    BATCH,
    EventColumns,
    NodeColumns,
    Reader,
    StoredEvent,
    StoredHead,
    StoredNode,
    Writer,
)
from memprove.ledger.storage.lock import LONGEST_WAIT

B = TypeVar("B", bound=Block)
T = TypeVar("T")


class MemoryDisk:
    """What several memory stores have in common, as several connections have a file."""

    def __init__(self) -> None:
        self.state = _State()
        self.commits = 0
        self.lock = threading.Lock()


class MemoryStore:
    """A ``Store`` on a *disk* of dicts and lists."""

    def __init__(self, disk: MemoryDisk | None = None, *, wait: float = LONGEST_WAIT) -> None:
        self._disk = disk or MemoryDisk()
        self._wait = wait
        self._block: Block | None = None

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a read block on the current state."""
        with self._open(_MemoryReader(self._disk.state)) as reader:
            yield reader

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """Open the write block on a copy of the current state."""
        self._check_free()
        if not self._disk.lock.acquire(timeout=self._wait):
            raise LEDGER_BUSY()
        try:
            state = self._disk.state.copy()
            with self._open(_MemoryWriter(state)) as writer:
                yield writer
            writer.check_whole()
            self._disk.state = state
            self._disk.commits += 1
            writer.committed()
        finally:
            self._disk.lock.release()

    def backup(self, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a copy to *path* as an SQLite file: no other store is of one file."""
        from memprove.ledger.storage import sqlite  # late: only this needs it

        state = self._disk.state
        nodes = [StoredNode(*place, hash) for place, hash in sorted(state.nodes.items())]
        with closing(sqlite.create(path)) as copy, copy.write() as writer:
            for event in state.events:
                writer.append(event, nodes if event.seq == len(state.events) else [])
            for _, head in sorted(state.heads.items()):
                writer.put_head(head)
            for table, rows in state.rows.items():
                for key, value in rows.items():
                    writer.put_row(table, key, value)
            for digest, data in state.blobs.items():
                writer.put_blob(digest, data)
        if progress is not None:
            progress(1, 1)

    def data_version(self) -> int:
        """Return the number of commits."""
        return self._disk.commits

    def interrupt(self) -> None:
        """Make a running read block raise ``Interrupted``."""
        block = self._block
        if block is not None and not isinstance(block, _MemoryWriter):
            block.interrupt()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _check_free(self) -> None:
        if self._block is not None:
            raise INTERNAL("a store has one block at a time")

    @contextmanager
    def _open(self, block: B) -> Iterator[B]:
        self._check_free()
        self._block = block
        try:
            yield block
        finally:
            self._block = None
            block.end()


@dataclass(slots=True)
class _State:
    events: list[StoredEvent] = field(default_factory=list)
    streams: dict[str, list[int]] = field(default_factory=dict)
    nodes: dict[tuple[int, int], bytes] = field(default_factory=dict)
    heads: dict[int, StoredHead] = field(default_factory=dict)
    rows: dict[str, dict[str, bytes]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def copy(self) -> "_State":
        return _State(
            events=self.events.copy(),
            streams={stream: seqs.copy() for stream, seqs in self.streams.items()},
            nodes=self.nodes.copy(),
            heads=self.heads.copy(),
            rows={table: rows.copy() for table, rows in self.rows.items()},
            blobs=self.blobs.copy(),
        )


class _MemoryReader(Block):
    """A ``Reader`` of one state."""

    def __init__(self, state: _State) -> None:
        super().__init__()
        self._state = state

    def size(self) -> int:
        self.check()
        return len(self._state.events)

    def event(self, seq: int) -> StoredEvent | None:
        self.check()
        return self._state.events[seq - 1] if 0 < seq <= self.size() else None

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        yield from self._each(self._state.events[max(after, 0) : upto])

    def columns(self, after: int = 0, upto: int | None = None) -> Iterator[EventColumns]:
        rows = list(map(structs.astuple, self.events(after, upto)))
        for start in range(0, len(rows), BATCH):
            yield EventColumns(*zip(*rows[start : start + BATCH], strict=True))

    def stream(self, stream: str, after: int = 0) -> Iterator[StoredEvent]:
        seqs = self._state.streams.get(stream, [])[max(after, 0) :]
        yield from self._each([self._state.events[seq - 1] for seq in seqs])

    def stream_tail(self, stream: str) -> StoredEvent | None:
        self.check()
        seqs = self._state.streams.get(stream)
        return self._state.events[seqs[-1] - 1] if seqs else None

    def newest(self, kind: str | None = None, limit: int = 1) -> list[StoredEvent]:
        self.check()
        matching = [e for e in reversed(self._state.events) if kind is None or e.kind == kind]
        return matching[: max(limit, 0)]

    def of_kind(self, kind: str, after: int = 0) -> Iterator[StoredEvent]:
        yield from self._each([e for e in self._state.events[max(after, 0) :] if e.kind == kind])

    def node(self, level: int, index: int) -> bytes | None:
        self.check()
        return self._state.nodes.get((level, index))

    def levels(self) -> list[int]:
        self.check()
        return sorted({level for level, _ in self._state.nodes})

    def nodes(self, level: int, first: int | None = None) -> Iterator[NodeColumns]:
        self.check()
        nodes = sorted(
            (index, hash)
            for (at, index), hash in self._state.nodes.items()
            if at == level and (first is None or index >= first)
        )
        if nodes:
            yield NodeColumns(*zip(*nodes, strict=True))

    def head(self, size: int | None = None) -> StoredHead | None:
        self.check()
        heads = self._state.heads
        return heads.get(max(heads, default=0) if size is None else size)

    def heads(self) -> Iterator[StoredHead]:
        yield from self._each([head for _, head in sorted(self._state.heads.items())])

    def row(self, table: str, key: str) -> bytes | None:
        self.check()
        return self._state.rows.get(table, {}).get(key)

    def rows(self, table: str, prefix: str = "", after: str = "") -> Iterator[tuple[str, bytes]]:
        rows = sorted(self._state.rows.get(table, {}).items())
        yield from self._each([row for row in rows if row[0].startswith(prefix) and row[0] > after])

    def tables(self) -> list[str]:
        self.check()
        return sorted(self._state.rows)

    def blob(self, digest: str) -> bytes | None:
        self.check()
        return self._state.blobs.get(digest)

    def faults(self) -> Iterator[str]:
        self.check()
        return iter(())

    def _each(self, values: list[T]) -> Iterator[T]:
        self.check()
        for value in values:
            self.check()
            yield value


class _MemoryWriter(_MemoryReader):
    """A ``Writer`` of one state, which nobody else sees yet."""

    def append(self, event: StoredEvent, nodes: list[StoredNode]) -> None:
        with self.writing():
            seqs = self._state.streams.setdefault(event.stream, [])
            check_next(event, size=self.size(), stream_size=len(seqs))
            check_text(event.stream, event.kind)
            for node in nodes:
                if (node.level, node.index) in self._state.nodes:
                    raise INTERNAL(f"a second node {node.level}/{node.index}")
                self._state.nodes[node.level, node.index] = node.hash
            self._state.events.append(event)
            seqs.append(event.seq)

    def put_head(self, head: StoredHead) -> None:
        with self.writing():
            heads = self._state.heads
            before = heads.get(head.size)
            for size in [size for size, old in heads.items() if size < head.size and not old.keep]:
                del heads[size]
            keep = head.keep or (before is not None and before.keep)
            heads[head.size] = StoredHead(head.size, head.note, keep)

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        with self.writing():
            check_text(table, key)
            rows = self._state.rows.setdefault(table, {})
            if value is None:
                rows.pop(key, None)
            else:
                rows[key] = value
            if not rows:
                del self._state.rows[table]

    def clear_rows(self) -> None:
        with self.writing():
            self._state.rows.clear()

    def put_blob(self, digest: str, data: bytes) -> None:
        with self.writing():
            check_text(digest)
            self._state.blobs.setdefault(digest, data)

    def erase(self, seq: int) -> None:
        with self.writing():
            event = self._state.events[seq - 1]
            self._state.events[seq - 1] = structs.replace(event, payload=None, salt=None)

    def drop_blob(self, digest: str) -> None:
        with self.writing():
            self._state.blobs.pop(digest, None)
