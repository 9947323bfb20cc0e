"""What a store does. The log above it decides what the bytes mean.

A store keeps five things: events (append only, numbered from 1 without a gap, and so within their
stream), tree nodes, signed heads, rows (named tables of small values under text keys: the
projections) and blobs by digest. Whatever is written inside one ``write()`` block becomes durable
together or not at all.

A store has one block open at a time. A block is used until its end, and one in which a write
failed is not committed even if the exception was caught: all that is Problem ``internal``.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """One event as stored: opaque bytes, and the columns by which it is found."""

    seq: int
    stream: str
    stream_seq: int
    kind: str
    leaf: bytes
    payload: bytes | None
    salt: bytes | None


class EventColumns(NamedTuple):
    """Several events, one after the other, column by column: for who reads a million of them."""

    seqs: tuple[int, ...]
    streams: tuple[str, ...]
    stream_seqs: tuple[int, ...]
    kinds: tuple[str, ...]
    leaves: tuple[bytes, ...]
    payloads: tuple[bytes | None, ...]
    salts: tuple[bytes | None, ...]


class NodeColumns(NamedTuple):
    """Several nodes of one level, in order, column by column."""

    indices: tuple[int, ...]
    hashes: tuple[bytes, ...]


BATCH: Final = 256
"""Rows that are read by column at once: so few that they stay in the processor's cache."""


class StoredNode(msgspec.Struct, frozen=True):
    """One node of the Merkle tree."""

    level: int
    index: int
    hash: bytes


class StoredHead(msgspec.Struct, frozen=True):
    """One signed head. Heads with ``keep`` stay, the others give way to the next commit's."""

    size: int
    note: bytes
    keep: bool


class Interrupted(Exception):
    """A read was stopped by ``interrupt()``."""


class Reader(Protocol):
    """A consistent view of the store, as of the moment its block began.

    Iterators end with their block. One may write while iterating; whether the iteration then meets
    what was written is left open.
    """

    def size(self) -> int:
        """Return how many events there are, which is also the newest one's number."""
        ...

    def event(self, seq: int) -> StoredEvent | None:
        """Return event number *seq*."""
        ...

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        """Yield the events with *after* < seq ≤ *upto* in order, without holding them all."""
        ...

    def columns(self, after: int = 0, upto: int | None = None) -> Iterator[EventColumns]:
        """Yield what ``events`` yields, many at once.

        Where the store cannot read on, all before is yielded first.
        """
        ...

    def stream(self, stream: str, after: int = 0) -> Iterator[StoredEvent]:
        """Yield the events of *stream* with *after* < stream_seq, in order."""
        ...

    def stream_tail(self, stream: str) -> StoredEvent | None:
        """Return the newest event of *stream*."""
        ...

    def newest(self, kind: str | None = None, limit: int = 1) -> list[StoredEvent]:
        """Return the newest events (of *kind*, or of all), the newest first."""
        ...

    def of_kind(self, kind: str, after: int = 0) -> Iterator[StoredEvent]:
        """Yield the events of *kind* with *after* < seq, in order."""
        ...

    def node(self, level: int, index: int) -> bytes | None:
        """Return the hash of a complete subtree."""
        ...

    def levels(self) -> list[int]:
        """Return the levels that hold a node, the lowest first."""
        ...

    def nodes(self, level: int, first: int | None = None) -> Iterator[NodeColumns]:
        """Yield the nodes of *level* by index, those with index ≥ *first*, many at once."""
        ...

    def head(self, size: int | None = None) -> StoredHead | None:
        """Return the newest head, or the one of exactly *size* events if it was kept."""
        ...

    def heads(self) -> Iterator[StoredHead]:
        """Yield every head that is kept, by size."""
        ...

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key* in *table*."""
        ...

    def rows(self, table: str, prefix: str = "", after: str = "") -> Iterator[tuple[str, bytes]]:
        """Yield the (key, value) pairs whose key begins with *prefix* and is > *after*, by key."""
        ...

    def tables(self) -> list[str]:
        """Return the names of the tables that hold a row."""
        ...

    def blob(self, digest: str) -> bytes | None:
        """Return the blob whose SHA-256 is *digest* (hex)."""
        ...

    def faults(self) -> Iterator[str]:
        """Yield the first things that are wrong with how the store keeps all this."""
        ...


class Writer(Reader, Protocol):
    """The one write transaction. It reads what it wrote."""

    def append(self, event: StoredEvent, nodes: list[StoredNode]) -> None:
        """Add *event*, the next of the log and of its stream, and the tree nodes it completes."""
        ...

    def put_head(self, head: StoredHead) -> None:
        """Add *head* and drop the earlier ones that need not be kept.

        A head of the same size gives way to it; if that one is to be kept, so is the new one.
        """
        ...

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        """Set the value under *key* (not empty) in *table*; None takes it out."""
        ...

    def clear_rows(self) -> None:
        """Drop every row of every table."""
        ...

    def put_blob(self, digest: str, data: bytes) -> None:
        """Keep *data* under its SHA-256; again is no change."""
        ...

    def erase(self, seq: int) -> None:
        """Take payload and salt out of event *seq* for good; again is no change.

        Once the block is kept, nothing of them is in the store's files any more: ``Store.write``.
        """
        ...

    def drop_blob(self, digest: str) -> None:
        """Take the blob out for good, as ``erase`` does; again is no change."""
        ...

    def after_commit(self, action: Callable[[], None]) -> None:
        """Call *action* once the block is durable and while other writers still wait.

        An exception from *action* passes through, but the block stays kept.
        """
        ...


class Store(Protocol):
    """A place where one log is kept. Safe for one thread at a time."""

    def read(self) -> AbstractContextManager[Reader]:
        """Open a read block. It waits for no writer and sees none that commits later."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """Open the one write block; commit at its end, roll back on any exception.

        Writers of all processes queue for it. Raises Problem ``ledger_busy`` after 5 s of waiting,
        ``ledger_newer`` if only a newer program may write, ``disk_full`` or ``ledger_unwritable``
        if the disk refuses. After a return without an exception everything is on disk. After an
        exception nothing is kept, but for two: one from ``after_commit``, and one from a commit
        that was interrupted or whose last sync failed. Who must know reads the size.

        After a block that erased, the erased bytes are gone from the store's files too. Where that
        cannot be done at once, because somebody still reads the state before it or the disk is
        full, Problem ``erasure_unfinished`` is raised. The block is kept, and each next block
        tries to finish it.
        """
        ...

    def backup(self, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a store of one file to *path*, which must not exist, as a read block now sees it.

        Writers go on meanwhile. It is on disk on return; after an exception an unfinished file may
        be there. *progress* is told how many of how many parts are written.
        """
        ...

    def data_version(self) -> int:
        """Return a number that changes when another connection has committed (outside blocks)."""
        ...

    def interrupt(self) -> None:
        """Make a running read block raise ``Interrupted``; called from another thread."""
        ...

    def close(self) -> None:
        """Release files and locks."""
        ...
