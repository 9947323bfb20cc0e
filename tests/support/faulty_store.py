"""A store that fails on demand: each write once lost, and once kept although it reported failure.

    store = FaultyStore(real)
    store.fail(Step.COMMIT, kept=True)
    with pytest.raises(Problem), store.write() as writer: ...   # durable, but nobody was told

A step that is not the commit fails before (lost) or after (kept) it took effect inside its block;
the exception then rolls the block back. A fault is used up by the one failure.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from memprove.ledger.problems import LEDGER_UNWRITABLE
from memprove.ledger.storage.interface import (
    EventColumns,
    NodeColumns,
    Reader,
    Store,
    StoredEvent,
    StoredHead,
    StoredNode,
    Writer,
)


class Step(StrEnum):
    """A thing that can go wrong in a write block."""

    APPEND = "append"
    PUT_HEAD = "put_head"
    PUT_ROW = "put_row"
    CLEAR_ROWS = "clear_rows"
    PUT_BLOB = "put_blob"
    ERASE = "erase"
    DROP_BLOB = "drop_blob"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class Fault:
    """The failure of one step, lost or kept, after *passed* of its kind went well."""

    step: Step
    kept: bool
    passed: int = 0


FAULTS = [Fault(step, kept) for step in Step for kept in (False, True)]
"""Every step, lost and kept: for parametrized tests."""


class FaultyStore:
    """A ``Store`` around *real* that fails where it is told to, with *error*."""

    def __init__(self, real: Store, error: Exception | None = None) -> None:
        self._real = real
        self._error = error or LEDGER_UNWRITABLE("injected")
        self._fault: Fault | None = None

    def fail(self, step: Step, *, kept: bool, passed: int = 0) -> None:
        """Fail at the next *step* once, after *passed* of them went well."""
        self._fault = Fault(step, kept, passed)

    def read(self) -> AbstractContextManager[Reader]:
        return self._real.read()

    @contextmanager
    def write(self) -> Iterator[Writer]:
        with self._real.write() as writer:
            fault: list[Fault] = []
            writer.after_commit(lambda: self._raise_if(bool(fault)))
            yield _FaultyWriter(writer, self)
            due = self.due(Step.COMMIT)
            if due is not None and due.kept:
                fault.append(due)
            self._raise_if(due is not None and not due.kept)

    def backup(self, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
        self._real.backup(path, progress)

    def data_version(self) -> int:
        return self._real.data_version()

    def interrupt(self) -> None:
        self._real.interrupt()

    def close(self) -> None:
        self._real.close()

    def step(self, step: Step, work: Callable[[], None]) -> None:
        """Do *work*, or fail before or after it."""
        due = self.due(step)
        self._raise_if(due is not None and not due.kept)
        work()
        self._raise_if(due is not None)

    def due(self, step: Step) -> Fault | None:
        """Return the fault if it is this *step*'s turn to fail, and use it up."""
        fault = self._fault
        if fault is None or fault.step is not step:
            return None
        if fault.passed:
            self._fault = Fault(step, fault.kept, fault.passed - 1)
            return None
        self._fault = None
        return fault

    def _raise_if(self, failed: bool) -> None:
        if failed:
            raise self._error


class _FaultyWriter:
    """A ``Writer`` around *real* that asks *store* before each write."""

    def __init__(self, real: Writer, store: FaultyStore) -> None:
        self._real = real
        self._store = store

    def size(self) -> int:
        return self._real.size()

    def event(self, seq: int) -> StoredEvent | None:
        return self._real.event(seq)

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        return self._real.events(after, upto)

    def columns(self, after: int = 0, upto: int | None = None) -> Iterator[EventColumns]:
        return self._real.columns(after, upto)

    def stream(self, stream: str, after: int = 0) -> Iterator[StoredEvent]:
        return self._real.stream(stream, after)

    def stream_tail(self, stream: str) -> StoredEvent | None:
        return self._real.stream_tail(stream)

    def newest(self, kind: str | None = None, limit: int = 1) -> list[StoredEvent]:
        return self._real.newest(kind, limit)

    def of_kind(self, kind: str, after: int = 0) -> Iterator[StoredEvent]:
        return self._real.of_kind(kind, after)

    def node(self, level: int, index: int) -> bytes | None:
        return self._real.node(level, index)

    def levels(self) -> list[int]:
        return self._real.levels()

    def nodes(self, level: int, first: int | None = None) -> Iterator[NodeColumns]:
        return self._real.nodes(level, first)

    def head(self, size: int | None = None) -> StoredHead | None:
        return self._real.head(size)

    def heads(self) -> Iterator[StoredHead]:
        return self._real.heads()

    def row(self, table: str, key: str) -> bytes | None:
        return self._real.row(table, key)

    def rows(self, table: str, prefix: str = "", after: str = "") -> Iterator[tuple[str, bytes]]:
        return self._real.rows(table, prefix, after)

    def tables(self) -> list[str]:
        return self._real.tables()

    def blob(self, digest: str) -> bytes | None:
        return self._real.blob(digest)

    def faults(self) -> Iterator[str]:
        return self._real.faults()

    def append(self, event: StoredEvent, nodes: list[StoredNode]) -> None:
        self._store.step(Step.APPEND, lambda: self._real.append(event, nodes))

    def put_head(self, head: StoredHead) -> None:
        self._store.step(Step.PUT_HEAD, lambda: self._real.put_head(head))

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        self._store.step(Step.PUT_ROW, lambda: self._real.put_row(table, key, value))

    def clear_rows(self) -> None:
        self._store.step(Step.CLEAR_ROWS, lambda: self._real.clear_rows())

    def put_blob(self, digest: str, data: bytes) -> None:
        self._store.step(Step.PUT_BLOB, lambda: self._real.put_blob(digest, data))

    def erase(self, seq: int) -> None:
        self._store.step(Step.ERASE, lambda: self._real.erase(seq))

    def drop_blob(self, digest: str) -> None:
        self._store.step(Step.DROP_BLOB, lambda: self._real.drop_blob(digest))

    def after_commit(self, action: Callable[[], None]) -> None:
        self._real.after_commit(action)
