"""What an error of SQLite means to the user: the one place that knows."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from memprove.ledger.problems import (
    DATA_DIR_UNREADABLE,
    DISK_FULL,
    INTERNAL,
    LEDGER_BUSY,
    LEDGER_DAMAGED,
    LEDGER_UNWRITABLE,
    Problem,
)
from memprove.ledger.storage.interface import Interrupted

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def translated(
    connection: apsw.Connection | None = None, *, writing: bool = False
) -> Iterator[None]:
    """Raise errors of SQLite and of the file system inside as Problems, or as ``Interrupted``."""
    try:
        yield
    except apsw.Error as error:
        number = 0 if connection is None else connection.system_errno
        raise meaning(error, writing=writing, number=number) from error
    except UnicodeDecodeError as error:
        raise LEDGER_DAMAGED("a text that is not UTF-8") from error
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise DISK_FULL() from error
        kind = LEDGER_UNWRITABLE if writing else DATA_DIR_UNREADABLE
        raise kind(error) from error


def meaning(error: apsw.Error, *, writing: bool, number: int = 0) -> Problem | Interrupted:
    """Return what *error* means, with *number* the operating system's error behind it."""
    match error:
        case apsw.InterruptError():
            return Interrupted()
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return LEDGER_BUSY(error)
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError() | apsw.SQLError():
            return LEDGER_DAMAGED(error)
        case apsw.FullError():
            return DISK_FULL()
        case apsw.IOError() | apsw.CantOpenError() if number in _NO_SPACE:
            return DISK_FULL()
        case apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError():
            return LEDGER_UNWRITABLE(error) if writing else DATA_DIR_UNREADABLE(error)
        case _:
            return INTERNAL(f"{type(error).__name__}: {error}")
