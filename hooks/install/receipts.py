"""What was done to which file, kept in the configuration directory, so that it can be undone.

One receipt a file. It names the bytes from before our first change, by their hash and in a backup,
and those that we left: while the file is still what we left, undoing puts the very bytes back.
Backups can hold what is secret in somebody's configuration, so they are 0600, and not beside it.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from memprove.hooks.install import files
from memprove.ledger.problems import CONFIG_UNREADABLE, at_file

BACKUPS = "backups"
RECEIPTS = "receipts"


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one file."""

    path: str
    created: bool
    """There was no file before."""
    before: str | None
    """The hash of the bytes to put back; None: none are, only our own members are taken out."""
    after: tuple[str, ...]
    """The hashes of what we left, each time."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the outer first."""
    made: tuple[str, ...] = ()
    """Objects in it that were made for our entry."""


def digest(data: bytes) -> str:
    """Return the name of *data* among the backups."""
    return sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Receipts:
    """The receipts and backups of one configuration directory."""

    config_dir: Path

    def of(self, path: Path) -> Receipt | None:
        """Return the receipt of the file *path*; None also where it cannot be read."""
        try:
            return msgspec.json.decode(self._file(path).read_bytes(), type=Receipt)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, path: Path, receipt: Receipt) -> None:
        """Write *receipt*, durably, before the file is."""
        self._put(self._file(path), msgspec.json.encode(receipt))

    def drop(self, path: Path) -> None:
        """Forget the receipt of *path*; its backups stay."""
        with suppress(OSError):
            self._file(path).unlink()

    def back_up(self, data: bytes) -> None:
        """Keep a copy of *data*."""
        file = self.config_dir / BACKUPS / digest(data)
        if not file.exists():
            self._put(file, data)

    def backup(self, name: str) -> bytes | None:
        """Return the bytes with the hash *name*, if they were kept and are still those."""
        try:
            data = (self.config_dir / BACKUPS / name).read_bytes()
        except OSError:
            return None
        return data if digest(data) == name else None

    def _file(self, path: Path) -> Path:
        return self.config_dir / RECEIPTS / f"{digest(os.fsencode(path))[:32]}.json"

    def _put(self, file: Path, data: bytes) -> None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.put(file, data, 0o600)
        except OSError as error:
            raise at_file(error, file, CONFIG_UNREADABLE) from None
