"""Copying a database while others write to it, and making one file of it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import apsw

from memprove.ledger.problems import BACKUP_UNWRITABLE, LEDGER_UNWRITABLE, Problem, at_file
from memprove.ledger.storage.sqlite_errors import meaning, translated

_PAGES_AT_ONCE: Final = 256


def copy(
    connection: apsw.Connection,
    path: Path,
    name: str,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Write what *connection* sees to *path* (*name*, as SQLite takes it), for its owner's eyes."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise at_file(error, path, BACKUP_UNWRITABLE) from None
    written = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with written.backup("main", connection, "main") as going:
            while not going.done:
                going.step(_PAGES_AT_ONCE)
                if progress is not None:
                    progress(going.page_count - going.remaining, going.page_count)
    except apsw.Error as error:
        told = meaning(error, writing=True, number=written.system_errno)
        unwritable = isinstance(told, Problem) and told.kind is LEDGER_UNWRITABLE
        raise (BACKUP_UNWRITABLE(f"{path}: {error}") if unwritable else told) from error
    finally:
        written.close(force=True)


def settle(name: str) -> None:
    """Move all of the WAL into the database *name*, so that its one file is all of it.

    The writers' lock is held, or nobody else knows the file. Raises ``ledger_busy`` if somebody
    reads what was there before.
    """
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with translated(connection, writing=True):
            connection.set_busy_timeout(1_000)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the WAL
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close(force=True)
