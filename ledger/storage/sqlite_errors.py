"""What an error of SQLite means to the user: the one place that knows."""

import errno
from types import TracebackType

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


class translated:
    """Raise errors of SQLite and of the file system inside as Problems, or as ``Interrupted``.

    A class, because every query goes through it: a generator would take as long as a small query.
    """

    __slots__ = ("_connection", "_writing")

    def __init__(self, connection: apsw.Connection | None = None, *, writing: bool = False) -> None:
        self._connection = connection
        self._writing = writing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        match error:
            case None:
                return
            case apsw.Error():
                number = 0 if self._connection is None else self._connection.system_errno
                raise meaning(error, writing=self._writing, number=number) from error
            case UnicodeDecodeError():
                raise LEDGER_DAMAGED("a text that is not UTF-8") from error
            case OSError():
                if error.errno in _NO_SPACE:
                    raise DISK_FULL() from error
                told = LEDGER_UNWRITABLE if self._writing else DATA_DIR_UNREADABLE
                raise told(error) from error


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
