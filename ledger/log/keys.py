"""Private keys: one small file per epoch under ``<config dir>/keys/<ledger>/``, never by the log.

A file holds one line, ``memprove-ed25519 <epoch> <base64 of the 32-byte seed>`` (RFC 8032). It is
used only if it is a regular file of ours that nobody else can read. No process keeps a key between
commits.

One key is live: that of the epoch which the ledger says is going on. The file of the next one is
written before the event that names it; while nothing names it, it is overwritten. The files of
earlier ones are erased by whoever writes next.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from memprove.ledger import durable
from memprove.ledger.problems import (
    CONFIG_UNREADABLE,
    KEY_MISSING,
    KEY_UNSAFE,
    LEDGER_EXISTS,
    at_file,
)
from memprove.ledger.tlog.note import Signer, decode_base64, encode_base64

FIRST_EPOCH: Final = 1
_WORD: Final = "memprove-ed25519"
_MOST: Final = 256


class Keys:
    """The private keys of one ledger."""

    def __init__(self, config_dir: Path, ledger: str) -> None:
        self._folder = config_dir / "keys" / ledger

    def create(self, epoch: int, seed: bytes) -> None:
        """Keep *seed* as the key of *epoch*, on disk when this returns."""
        file = self._file(epoch)
        try:
            self._write(file, f"{_WORD} {epoch} {encode_base64(seed)}\n".encode())
        except OSError as error:
            raise at_file(error, error.filename or file, CONFIG_UNREADABLE) from None

    def put_next(self, epoch: int, seed: bytes) -> None:
        """Do the same for an *epoch* that nothing names yet: what a crash left of it gives way."""
        file = self._file(epoch)
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise at_file(error, file, CONFIG_UNREADABLE) from None
        self.create(epoch, seed)

    def highest(self) -> int:
        """Return the number of the last epoch of which a key is here; 0: of none."""
        try:
            return max(map(_epoch_of, self._folder.iterdir()), default=0)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise at_file(error, self._folder, CONFIG_UNREADABLE) from None

    def erase_below(self, epoch: int) -> None:
        """Erase the keys of the epochs before *epoch*, as far as a file can be erased."""
        try:
            old = [file for file in self._folder.iterdir() if 0 < _epoch_of(file) < epoch]
            for file in old:
                _erase(file)
            if old:
                durable.sync_folder(self._folder)
        except OSError as error:
            raise at_file(error, error.filename or self._folder, CONFIG_UNREADABLE) from None

    def _write(self, file: Path, line: bytes) -> None:
        for folder in (self._folder.parent, self._folder):  # parents made along get other modes
            folder.mkdir(mode=0o700, exist_ok=True)
            durable.sync_folder(folder.parent)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise LEDGER_EXISTS(file) from None
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(line)
            opened.flush()
            os.fsync(descriptor)
        durable.sync_folder(self._folder)

    def signer(self, epoch: int, origin: str) -> Signer:
        """Return the signer of *epoch*; raises ``key_missing`` or ``key_unsafe``."""
        file = self._file(epoch)
        words = _read_private(file).split()
        seed = decode_base64(words[2]) if len(words) == 3 else None
        if seed is None or len(seed) != 32 or words[:2] != [_WORD, str(epoch)]:
            raise KEY_UNSAFE(f"{file} holds no key of epoch {epoch}")
        return Signer(origin, seed)

    def _file(self, epoch: int) -> Path:
        return self._folder / f"{epoch}.key"


def _epoch_of(file: Path) -> int:
    """Return the number of the epoch whose key *file* is by its name, 0 for another file."""
    number, dot, rest = file.name.partition(".")
    is_key = (dot + rest) == ".key" and number.isascii() and number.isdigit()
    return int(number) if is_key and len(number) < 19 else 0


def _erase(file: Path) -> None:
    """Overwrite *file* in place, then remove it; a copy that the disk kept is out of reach."""
    flags = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with suppress(OSError):  # no file of ours any more: what is removed is its name
        descriptor = os.open(file, flags)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.write(descriptor, bytes(os.fstat(descriptor).st_size))
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    file.unlink(missing_ok=True)


def _read_private(file: Path) -> str:
    try:
        descriptor = os.open(
            file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except FileNotFoundError:
        raise KEY_MISSING(file) from None
    except OSError as error:
        raise KEY_UNSAFE(f"{file}: {error.strerror}") from None
    try:
        _check_private(file, os.fstat(descriptor))
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(_MOST).decode("ascii", "replace")
    finally:
        os.close(descriptor)


def _check_private(file: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KEY_UNSAFE(f"{file} is no regular file")
    if os.name == "nt":
        return  # access lists, not modes
    if status.st_uid != os.geteuid():
        raise KEY_UNSAFE(f"{file} belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise KEY_UNSAFE(f"{file} can be read by others")
