"""The read and the write block of the SQLite store: each method is one query."""
# ruff: noqa: D102 (the methods are documented in the interface)

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import apsw

from memprove.ledger.problems import INTERNAL, LEDGER_DAMAGED, Problem
from memprove.ledger.storage.block import Block, check_next, check_text
from memprove.ledger.storage.interface import (
    BATCH,
    EventColumns,
    NodeColumns,
    StoredEvent,
    StoredHead,
    StoredNode,
)
from memprove.ledger.storage.sqlite_errors import translated
from memprove.ledger.storage.sqlite_schema import SCHEMA_ROWS, laid_schema

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Value, ...]

_EVENT = "SELECT seq, stream, stream_seq, kind, leaf, payload, salt FROM event"
_EVENTS = f"{_EVENT} WHERE seq > ? AND seq <= ? ORDER BY seq"
_EVENT_TYPES: Final[tuple[set[Any], ...]] = (
    *({int}, {str}, {int}, {str}, {bytes}),
    *({bytes, type(None)}, {bytes, type(None)}),
)
_MOST_FAULTS: Final = 3


class SqliteReader(Block):
    """A ``Reader`` inside the transaction that *connection* has open."""

    writing_errors = False
    """Whether a failure of the disk is one of writing."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__()
        self._connection = connection
        self._cursors: set[apsw.Cursor] = set()

    def interrupt(self) -> None:
        """Stop the running query too."""
        super().interrupt()
        with suppress(apsw.ConnectionClosedError):
            self._connection.interrupt()

    def end(self) -> None:
        """End the open iterators too: a pending query would hold its snapshot."""
        super().end()
        for cursor in list(self._cursors):
            cursor.close(force=True)

    def size(self) -> int:
        return _int(self._value("SELECT coalesce(max(seq), 0) FROM event"))

    def event(self, seq: int) -> StoredEvent | None:
        return self._event(f"{_EVENT} WHERE seq = ?", seq)

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        last = upto if upto is not None else self.size()
        return map(_event, self._rows(_EVENTS, after, last))

    def columns(self, after: int = 0, upto: int | None = None) -> Iterator[EventColumns]:
        last = upto if upto is not None else self.size()
        for rows in self._batches(_EVENTS, after, last):
            yield from _columns(rows)

    def stream(self, stream: str, after: int = 0) -> Iterator[StoredEvent]:
        query = f"{_EVENT} WHERE stream = ? AND stream_seq > ? ORDER BY stream_seq"
        return map(_event, self._rows(query, stream, after))

    def stream_tail(self, stream: str) -> StoredEvent | None:
        return self._event(f"{_EVENT} WHERE stream = ? ORDER BY stream_seq DESC LIMIT 1", stream)

    def newest(self, kind: str | None = None, limit: int = 1) -> list[StoredEvent]:
        if kind is None:
            rows = self._rows(f"{_EVENT} ORDER BY seq DESC LIMIT ?", max(limit, 0))
        else:
            query = f"{_EVENT} WHERE kind = ? ORDER BY seq DESC LIMIT ?"
            rows = self._rows(query, kind, max(limit, 0))
        return [_event(row) for row in rows]

    def of_kind(self, kind: str, after: int = 0) -> Iterator[StoredEvent]:
        query = f"{_EVENT} WHERE kind = ? AND seq > ? ORDER BY seq"
        return map(_event, self._rows(query, kind, after))

    def node(self, level: int, index: int) -> bytes | None:
        query = "SELECT hash FROM node WHERE level = ? AND position = ?"
        return _bytes_or_none(self._value(query, level, index))

    def levels(self) -> list[int]:
        levels: list[int] = []
        query = "SELECT level FROM node WHERE level >= ? ORDER BY level LIMIT 1"
        after: Value = -(2**63)
        while (after := self._value(query, after)) is not None:
            levels.append(_int(after))
            query = "SELECT level FROM node WHERE level > ? ORDER BY level LIMIT 1"
        return levels

    def nodes(self, level: int, first: int | None = None) -> Iterator[NodeColumns]:
        query = "SELECT position, hash FROM node WHERE level = ? AND position >= ?"
        start = -(2**63) if first is None else first
        return map(_node_columns, self._batches(f"{query} ORDER BY position", level, start))

    def head(self, size: int | None = None) -> StoredHead | None:
        query = "SELECT size, note, keep FROM head ORDER BY size DESC LIMIT 1"
        bindings: tuple[int, ...] = ()
        if size is not None:
            query, bindings = "SELECT size, note, keep FROM head WHERE size = ?", (size,)
        return next((_head(row) for row in self._rows(query, *bindings)), None)

    def heads(self) -> Iterator[StoredHead]:
        return map(_head, self._rows("SELECT size, note, keep FROM head ORDER BY size"))

    def row(self, table: str, key: str) -> bytes | None:
        query = "SELECT value FROM row WHERE tbl = ? AND key = ?"
        return _bytes_or_none(self._value(query, table, key))

    def rows(self, table: str, prefix: str = "", after: str = "") -> Iterator[tuple[str, bytes]]:
        # Keys come in code point order: from the first that can match to the first that does not.
        compare, start = (">", after) if after >= prefix else (">=", prefix)
        query = f"SELECT key, value FROM row WHERE tbl = ? AND key {compare} ? ORDER BY key"
        for key, value in self._rows(query, table, start):
            name = _str(key)
            if not name.startswith(prefix):
                return
            yield name, _bytes(value)

    def tables(self) -> list[str]:
        return [_str(name) for (name,) in self._rows("SELECT DISTINCT tbl FROM row ORDER BY tbl")]

    def blob(self, digest: str) -> bytes | None:
        return _bytes_or_none(self._value("SELECT data FROM blob WHERE digest = ?", digest))

    def faults(self) -> Iterator[str]:
        # An index that does not fit its table, rows out of order: some queries would miss them.
        for (said,) in self._rows(f"PRAGMA integrity_check({_MOST_FAULTS})"):
            if said != "ok":
                yield " ".join(_str(said).split())
        if not laid_schema() <= set(self._rows(SCHEMA_ROWS)):
            yield "the tables are not described as a ledger's"

    def _event(self, query: str, *bindings: Value) -> StoredEvent | None:
        return next((_event(row) for row in self._rows(query, *bindings)), None)

    def _value(self, query: str, *bindings: Value) -> Value:
        """Return the one value that *query* gives, if any; its cursor is at its end then."""
        self.check()
        with translated(self._connection, writing=self.writing_errors):
            value: Value = self._connection.execute(query, bindings).get
        return value

    def _rows(self, query: str, *bindings: Value) -> Iterator[Row]:
        self.check()
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        try:
            with translated(self._connection, writing=self.writing_errors):
                yield from cursor.execute(query, bindings)
        finally:
            self._cursors.discard(cursor)
            cursor.close(force=True)

    def _batches(self, query: str, *bindings: Value) -> Iterator[list[Row]]:
        """Yield the rows, many at once; those before a row that cannot be read as well."""
        self.check()
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        try:
            with translated(self._connection, writing=self.writing_errors):
                cursor.execute(query, bindings)
                yield from _taken(cursor)
        finally:
            self._cursors.discard(cursor)
            cursor.close(force=True)


class SqliteWriter(SqliteReader):
    """A ``Writer`` inside the transaction that *connection* has open."""

    writing_errors = True
    erases = False
    """Whether something was erased, whose bytes are to leave the files."""

    def append(self, event: StoredEvent, nodes: list[StoredNode]) -> None:
        query = "SELECT coalesce(max(stream_seq), 0) FROM event WHERE stream = ?"
        with self.writing():
            check_text(event.stream, event.kind)
            stream_size = _int(self._value(query, event.stream))
            check_next(event, size=self.size(), stream_size=stream_size)
            self._change(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)",
                event.seq,
                event.stream,
                event.stream_seq,
                event.kind,
                event.leaf,
                event.payload,
                event.salt,
            )
            for node in nodes:
                query = "INSERT INTO node VALUES (?, ?, ?)"
                self._change(query, node.level, node.index, node.hash)

    def put_head(self, head: StoredHead) -> None:
        with self.writing():
            self._change("DELETE FROM head WHERE size < ? AND keep = 0", head.size)
            query = (
                "INSERT INTO head VALUES (?, ?, ?) ON CONFLICT(size)"
                " DO UPDATE SET note = excluded.note, keep = max(keep, excluded.keep)"
            )
            self._change(query, head.size, head.note, int(head.keep))

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        with self.writing():
            check_text(table, key)
            if value is None:
                self._change("DELETE FROM row WHERE tbl = ? AND key = ?", table, key)
            else:
                query = "INSERT INTO row VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = ?"
                self._change(query, table, key, value, value)

    def clear_rows(self) -> None:
        with self.writing():
            self._change("DELETE FROM row")

    def put_blob(self, digest: str, data: bytes) -> None:
        with self.writing():
            check_text(digest)
            self._change("INSERT INTO blob VALUES (?, ?) ON CONFLICT DO NOTHING", digest, data)

    def erase(self, seq: int) -> None:
        with self.writing():
            self.erases = True
            self._change("UPDATE event SET payload = NULL, salt = NULL WHERE seq = ?", seq)

    def drop_blob(self, digest: str) -> None:
        with self.writing():
            self.erases = True
            self._change("DELETE FROM blob WHERE digest = ?", digest)

    def _change(self, statement: str, *bindings: Value) -> None:
        # A full disk makes SQLite roll back by itself; what followed would be committed by itself.
        if not self._connection.in_transaction:
            raise INTERNAL("the transaction is over")
        with translated(self._connection, writing=True):
            self._connection.execute(statement, bindings)


# SQLite's STRICT tables hold only what they declare, unless the file was changed from outside.


def _event(row: Row) -> StoredEvent:
    """Return *row* as an event. One expression, because verifying reads a million of them."""
    seq, stream, stream_seq, kind, leaf, payload, salt = row
    if (
        isinstance(seq, int)
        and isinstance(stream, str)
        and isinstance(stream_seq, int)
        and isinstance(kind, str)
        and isinstance(leaf, bytes)
        and (payload is None or isinstance(payload, bytes))
        and (salt is None or isinstance(salt, bytes))
    ):
        return StoredEvent(seq, stream, stream_seq, kind, leaf, payload, salt)
    raise LEDGER_DAMAGED(f"event {seq!r} is not of bytes and texts")


def _taken(cursor: apsw.Cursor) -> Iterator[list[Row]]:
    damage: Exception | None = None
    while damage is None:
        batch: list[Row] = []
        try:
            batch.extend(islice(cursor, BATCH))
        except (apsw.Error, UnicodeDecodeError) as error:
            damage = error
        if batch:
            yield batch
        elif damage is None:
            return
    raise damage


def _columns(rows: list[Row]) -> Iterator[EventColumns]:
    """Yield *rows* by column, if they hold what they should, else as far as they do."""
    columns = tuple(zip(*rows, strict=True))
    types = (set(map(type, column)) for column in columns)
    if all(found <= right for found, right in zip(types, _EVENT_TYPES, strict=True)):
        yield EventColumns(*cast("EventColumns", columns))
        return
    good: list[StoredEvent] = []
    try:
        good.extend(map(_event, rows))
    except Problem:
        if good:
            yield from _columns(rows[: len(good)])
        raise


def _node_columns(rows: list[Row]) -> NodeColumns:
    indices, hashes = zip(*rows, strict=True)
    if set(map(type, indices)) == {int} and set(map(type, hashes)) == {bytes}:
        return NodeColumns(indices, hashes)
    raise LEDGER_DAMAGED("a node is not of numbers and bytes")


def _head(row: Row) -> StoredHead:
    size, note, keep = row
    if keep not in (0, 1):
        raise LEDGER_DAMAGED(f"the head at {size!r} is neither kept nor not")
    return StoredHead(_int(size), _bytes(note), keep == 1)


def _int(value: Value) -> int:
    if not isinstance(value, int):
        raise LEDGER_DAMAGED("a number is missing from the database")
    return value


def _str(value: Value) -> str:
    if not isinstance(value, str):
        raise LEDGER_DAMAGED("a text is missing from the database")
    return value


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise LEDGER_DAMAGED("bytes are missing from the database")
    return value


def _bytes_or_none(value: Value) -> bytes | None:
    return None if value is None else _bytes(value)
