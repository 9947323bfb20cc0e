"""What an error of SQLite means to the user: the one place that knows."""

from types import TracebackType

import apsw

from memprove.ledger.problems import (
    DATA_DIR_UNREADABLE,
    DISK_FULL,
    INTERNAL,
    LEDGER_BUSY,
    LEDGER_DAMAGED,
    LEDGER_UNWRITABLE,
    NO_SPACE,
    Problem,
)
from memprove.ledger.storage.interface import Interrupted

_WRITES = (
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_FSYNC,
    apsw.SQLITE_IOERR_DIR_FSYNC,
    apsw.SQLITE_IOERR_TRUNCATE,
    apsw.SQLITE_IOERR_SHMSIZE,  # to read, too, SQLite makes its index of the WAL
)
_READ_ONLY = (
    "it is read-only and lacks SQLite's -wal and -shm files, without which nothing can be read;"
    " run a command once where it can be written"
)


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
                if error.errno in NO_SPACE:
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
        case apsw.IOError() | apsw.CantOpenError() if number in NO_SPACE:
            return DISK_FULL()
        case apsw.IOError() if getattr(error, "extendedresult", 0) in _WRITES:
            return LEDGER_UNWRITABLE(error)
        case apsw.ReadOnlyError() if not writing:
            return DATA_DIR_UNREADABLE(_READ_ONLY)
        case apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError():
            return LEDGER_UNWRITABLE(error) if writing else DATA_DIR_UNREADABLE(error)
        case _:
            return INTERNAL(f"{type(error).__name__}: {error}")
