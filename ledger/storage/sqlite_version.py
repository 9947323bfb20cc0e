"""Which SQLite this is, and whether it may be trusted with a write-ahead log."""

from typing import Final

import apsw

SAFE: Final = "3.51.3"
"""From here on a reset of the WAL loses no commit (sqlite.org/wal.html, "the WAL-reset bug")."""


def sqlite_version() -> str:
    """Return the version of the SQLite that keeps the ledger."""
    return apsw.sqlite_lib_version()


def is_safe(version: str) -> bool:
    """Tell whether *version* is without the WAL-reset bug."""
    return _numbers(version) >= _numbers(SAFE)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
