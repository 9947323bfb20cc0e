"""What was done to which file, kept in the configuration directory, so that it can be undone.

One receipt a file. It names the bytes from before our first change, by their hash and in a backup,
and those that we left: while the file is still what we left, undoing puts the very bytes back.
Backups can hold what is secret in somebody's configuration, so they are 0600, and not beside it.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
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
    """The hash of the bytes to put back."""
    after: tuple[str, ...]
    """The hashes of what we left, each time. None is kept where somebody else wrote in between:
    then nothing leads back, and only our own members are taken out."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the outer first."""
    made: tuple[str, ...] = ()
    """Objects in it that were made for our entry."""


def digest(data: bytes) -> str:
    """Return the name of *data* among the backups."""
    return sha256(data).hexdigest()


def joined(newer: Receipt, older: Receipt) -> Receipt:
    """Return the receipt that leads back over *newer* and then *older*, of two configurations."""
    goes_on = newer.before in older.after
    stale = newer.created  # there was no file any more: what the older one says is of another
    return Receipt(
        path=newer.path,
        created=stale or older.created,
        before=older.before if goes_on else None,
        after=newer.after if goes_on or stale else (),
        folders=tuple(dict.fromkeys((*older.folders, *newer.folders))),
        made=tuple(dict.fromkeys((*older.made, *newer.made))),
    )


@dataclass(frozen=True, slots=True)
class Receipts:
    """The receipts and backups of one configuration directory.

    *others* are those of other ledgers that may have written to the same files: `init --here` and
    `init` are two.
    """

    config_dir: Path
    others: tuple[Path, ...] = ()

    def of(self, path: Path) -> Receipt | None:
        """Return our own receipt of the file *path*; None also where it cannot be read."""
        return _read(_file(self.config_dir, path))

    def back(self, path: Path, data: bytes | None) -> Receipt | None:
        """Return the receipt that leads *path*, which holds *data*, back to before all of them."""
        found = [_read(_file(folder, path)) for folder in (self.config_dir, *self.others)]
        known = [receipt for receipt in found if receipt is not None]
        name = None if data is None else digest(data)
        known.sort(key=lambda receipt: name not in receipt.after)  # who wrote last comes first
        return reduce(joined, known) if known else None

    def keep(self, path: Path, receipt: Receipt) -> None:
        """Write *receipt*, durably, before the file is."""
        self._put(_file(self.config_dir, path), msgspec.json.encode(receipt))

    def drop(self, path: Path) -> None:
        """Forget our receipt of *path*; its backups stay."""
        with suppress(OSError):
            _file(self.config_dir, path).unlink()

    def drop_all(self, path: Path) -> None:
        """Forget every receipt of *path*."""
        for folder in (self.config_dir, *self.others):
            Receipts(folder).drop(path)

    def back_up(self, data: bytes) -> None:
        """Keep a copy of *data*."""
        file = self.config_dir / BACKUPS / digest(data)
        if not file.exists():
            self._put(file, data)

    def backup(self, name: str) -> bytes | None:
        """Return the bytes with the hash *name*, if they were kept and are still those."""
        for folder in (self.config_dir, *self.others):
            with suppress(OSError):
                data = (folder / BACKUPS / name).read_bytes()
                if digest(data) == name:
                    return data
        return None

    def _put(self, file: Path, data: bytes) -> None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.put(file, data, 0o600)
        except OSError as error:
            raise at_file(error, file, CONFIG_UNREADABLE) from None


def _file(config_dir: Path, path: Path) -> Path:
    return config_dir / RECEIPTS / f"{digest(os.fsencode(path))[:32]}.json"


def _read(file: Path) -> Receipt | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Receipt)
    except (OSError, msgspec.MsgspecError):
        return None
