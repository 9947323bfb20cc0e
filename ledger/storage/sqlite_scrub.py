"""Bringing erased bytes out of SQLite's files.

``secure_delete`` overwrites what is deleted where it lies. Two things it does not reach: copies of
a row that stayed in the gap of a page when rows moved to another one, and earlier versions of pages
in the WAL. So the whole file is written anew (VACUUM), all of the WAL is moved into it, and the WAL
is cut to nothing.

A file beside the database says that this is to be done. It is durable before the erasure is, so a
writer that dies in between leaves it to the next one.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from memprove.ledger import durable
from memprove.ledger.problems import DATA_DIR_UNREADABLE, NO_SPACE, at_file

_ENDING: Final = "-erasing"
_BOTH, _WAL_ONLY = b"file\n", b"wal\n"


def plan(path: Path) -> None:
    """Say that the files of the database at *path* are to be scrubbed; durable on return."""
    try:
        _write(path, _BOTH)
    except OSError as error:
        raise at_file(error, _mark(path), DATA_DIR_UNREADABLE) from None


def is_due(path: Path) -> bool:
    """Tell whether something that was erased may still be in the files."""
    return os.path.lexists(_mark(path))


def scrub(connection: apsw.Connection, path: Path, seconds: float) -> None:
    """Scrub the files, waiting at most *seconds* for readers; the writers' lock is held."""
    connection.set_busy_timeout(int(seconds * 1000))
    if _mark(path).read_bytes() != _WAL_ONLY:
        connection.execute("VACUUM")
        _write(path, _WAL_ONLY)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    with suppress(FileNotFoundError):
        _mark(path).unlink()


def why(error: Exception) -> str:
    """Return in a few words what was in the way."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return "another process still reads what was there before"
    if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in NO_SPACE:
        return "the disk is full"
    return type(error).__name__


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}{_ENDING}")


def _write(path: Path, what: bytes) -> None:
    descriptor = os.open(_mark(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, what)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    durable.sync_folder(path.parent)
