"""The store in one SQLite file, for all processes of one machine.

Durability: WAL with ``synchronous=FULL``, so each commit ends in an fsync. Order: the lock on the
data directory, then ``BEGIN IMMEDIATE``; the lock makes the queue, SQLite the safety. The lock's
holder also moves the WAL into the file, so that no commit and no checkpoint ever meet.
"""

import array
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from memprove.ledger import durable
from memprove.ledger.problems import (
    DATA_DIR_UNREADABLE,
    ERASURE_UNFINISHED,
    INTERNAL,
    LEDGER_DAMAGED,
    LEDGER_EXISTS,
    LEDGER_UNWRITABLE,
)
from memprove.ledger.storage import sqlite_backup, sqlite_scrub
from memprove.ledger.storage.filesystem import refuse_network
from memprove.ledger.storage.interface import Reader, Writer
from memprove.ledger.storage.lock import LONGEST_WAIT, writers_lock
from memprove.ledger.storage.sqlite_blocks import SqliteReader, SqliteWriter
from memprove.ledger.storage.sqlite_errors import translated
from memprove.ledger.storage.sqlite_schema import check_schema, check_writable_format, lay_schema

WAL_LIMIT = 1024
"""Pages of WAL (4 MiB) from which a writer moves it into the file."""

B = TypeVar("B", bound=SqliteReader)


def create(path: Path, *, wait: float = LONGEST_WAIT) -> "SqliteStore":
    """Make a new ledger at *path*, whose folder exists, and open it.

    It appears complete or not at all. Raises Problem ``ledger_exists``, ``network_filesystem``, or
    one of those of ``write()``.
    """
    with writers_lock(path.parent, wait), translated(writing=True):
        refuse_network(path.parent)
        if os.path.lexists(path):
            raise LEDGER_EXISTS(path)
        unfinished = path.with_name(f"{path.name}.new")
        _remove(unfinished)
        try:
            _lay(unfinished)
            os.rename(unfinished, path)
        except BaseException:
            _remove(unfinished)
            raise
        durable.sync_folder(path.parent)
    return SqliteStore(path, wait=wait)


def settle(path: Path) -> None:
    """Make the file at *path* all of its database."""
    with translated():
        sqlite_backup.settle(_name(path))


class SqliteStore:
    """A ``Store`` in the SQLite file at *path*, which exists.

    Raises Problem ``data_dir_unreadable`` if there is no such file, ``ledger_damaged`` if it is not
    a ledger's. A file system without write permission is enough for reading, if SQLite's ``-wal``
    and ``-shm`` are there.
    """

    def __init__(self, path: Path, *, wait: float = LONGEST_WAIT) -> None:
        self._path = path
        self._wait = wait
        self._block: SqliteReader | None = None
        self._wal_pages = 0
        self._local = False
        with translated():
            self._file = _identity(path)
        with translated():
            self._connection = apsw.Connection(_name(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with translated(self._connection):
                # First: even to open may wait, while somebody recovers what a killed writer left.
                self._connection.set_busy_timeout(int(wait * 1000))
                _configure(self._connection)
                self._connection.set_wal_hook(self._note_wal)
                check_schema(self._connection)
        except BaseException:
            self._connection.close(force=True)
            raise

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a read block: a deferred transaction, whose first query fixes the snapshot."""
        self._check_free()
        with self._open(SqliteReader(self._connection)) as reader:
            with translated(self._connection):
                self._connection.execute("BEGIN")
            reader.size()
            yield reader

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """Open the write block: lock, ``BEGIN IMMEDIATE``, and ``COMMIT`` at its end."""
        self._check_free()
        end = time.monotonic() + self._wait
        with writers_lock(self._path.parent, self._wait):
            self._check_place()
            with self._open(SqliteWriter(self._connection)) as writer:
                self._begin(end - time.monotonic())
                yield writer
                writer.end()
                writer.check_whole()
                if writer.erases:
                    sqlite_scrub.plan(self._path)
                with translated(self._connection, writing=True):
                    self._connection.execute("COMMIT")
            self._checkpoint()
            writer.committed()
            self._scrub(writer)

    def backup(self, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a copy to *path* by SQLite's backup API.

        It runs inside a read transaction: a commit of another writer would else begin it anew.
        """
        with self.read():
            sqlite_backup.copy(self._connection, path, _name(path), progress)
        durable.sync_folder(path.parent)

    def data_version(self) -> int:
        """Return SQLite's ``data_version``."""
        with translated(self._connection):
            return int(self._connection.pragma("data_version"))

    def interrupt(self) -> None:
        """Make a running read block raise ``Interrupted``."""
        block = self._block
        if block is not None and not isinstance(block, SqliteWriter):
            block.interrupt()

    def close(self) -> None:
        """Close the file. Nothing is moved out of the WAL."""
        self._connection.close(force=True)

    def _check_free(self) -> None:
        if self._block is not None:
            raise INTERNAL("a store has one block at a time")

    @contextmanager
    def _open(self, block: B) -> Iterator[B]:
        """Keep *block* as the one that is open, and leave no transaction behind."""
        self._block = block
        try:
            yield block
        finally:
            self._block = None
            block.end()
            if self._connection.in_transaction:
                with suppress(apsw.Error):  # SQLite rolls back by itself what it cannot
                    self._connection.execute("ROLLBACK")

    def _begin(self, seconds: float) -> None:
        with translated(self._connection, writing=True):
            self._connection.set_busy_timeout(max(int(seconds * 1000), 0))
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            finally:
                self._connection.set_busy_timeout(int(self._wait * 1000))
            check_writable_format(self._connection)

    def _check_place(self) -> None:
        """Raise unless writing here is writing to the ledger that others see."""
        if not self._local:
            refuse_network(self._path.parent)
            self._local = True
        with translated(writing=True):
            if _identity(self._path) != self._file:
                raise LEDGER_UNWRITABLE(f"{self._path} was replaced while it was open")

    def _note_wal(self, connection: apsw.Connection, database: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        if self._wal_pages > WAL_LIMIT:
            # What was committed is safe in the WAL: if this fails, the next writer tries again.
            with suppress(apsw.Error):
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _scrub(self, writer: SqliteWriter) -> None:
        """Bring what was erased out of the files, also what an earlier writer had to leave."""
        if not sqlite_scrub.is_due(self._path):
            return
        try:
            sqlite_scrub.scrub(self._connection, self._path, min(self._wait, 1.0))
        except (apsw.Error, OSError) as error:
            if writer.erases:
                raise ERASURE_UNFINISHED(sqlite_scrub.why(error)) from error
        finally:
            self._connection.set_busy_timeout(int(self._wait * 1000))


def _configure(connection: apsw.Connection) -> None:
    """Set what does not stay in the file."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    persist = array.array("i", [1])
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, persist.buffer_info()[0])
    for setting in (
        "synchronous = FULL",
        "fullfsync = ON",  # macOS only: fsync there does not reach the disk
        "checkpoint_fullfsync = ON",
        "mmap_size = 0",
        "cell_size_check = ON",
        "secure_delete = ON",
        "wal_autocheckpoint = 0",
    ):
        connection.execute(f"PRAGMA {setting}")


def _name(path: Path) -> str:
    """Return *path* as SQLite takes it, in UTF-8 whatever the locale is."""
    try:
        return os.fsencode(path).decode()
    except UnicodeDecodeError:
        raise DATA_DIR_UNREADABLE(f"{path} is not UTF-8") from None


def _identity(path: Path) -> tuple[int, int]:
    """Return which file *path* is."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise LEDGER_DAMAGED(f"{path} is not a file")
    return status.st_dev, status.st_ino


def _lay(path: Path) -> None:
    """Make an empty ledger at *path*, all of it in the one file."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = apsw.Connection(_name(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with translated(connection, writing=True):
            connection.execute("PRAGMA synchronous = FULL")
            lay_schema(connection)
            connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close(force=True)


def _remove(path: Path) -> None:
    """Remove a database that was never finished."""
    for ending in ("", "-journal", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
