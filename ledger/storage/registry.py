"""Which store keeps a data directory."""

from pathlib import Path

from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.lock import LONGEST_WAIT

FILE_NAME = "ledger.db"


def create_store(data_dir: Path, *, wait: float = LONGEST_WAIT) -> Store:
    """Make a new ledger in *data_dir*, which exists. Raises Problem ``ledger_exists``."""
    from memprove.ledger.storage import sqlite  # late: SQLite is loaded only where it is used

    return sqlite.create(data_dir / FILE_NAME, wait=wait)


def open_store(data_dir: Path, *, wait: float = LONGEST_WAIT) -> Store:
    """Open the ledger in *data_dir*; its writers wait at most *wait* seconds for each other."""
    from memprove.ledger.storage import sqlite  # late: SQLite is loaded only where it is used

    return sqlite.SqliteStore(data_dir / FILE_NAME, wait=wait)


def open_file(path: Path) -> Store:
    """Open the ledger in the file *path*, such as a backup is."""
    from memprove.ledger.storage import sqlite  # late: SQLite is loaded only where it is used

    return sqlite.SqliteStore(path)


def settle(path: Path) -> None:
    """Make the file at *path* all of its ledger: nothing of it is beside it any more."""
    from memprove.ledger.storage import sqlite  # late: SQLite is loaded only where it is used

    sqlite.settle(path)
