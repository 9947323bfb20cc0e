"""Files that are there whole or not at all, and are on disk when a function returns."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def put(file: Path, data: bytes, mode: int = 0o600) -> None:
    """Let *file* hold *data*, made with *mode* less the umask. Raises OSError, nothing changed."""
    beside = file.with_name(f".{file.name}.{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(beside, _NEW, mode)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(descriptor)
        os.replace(beside, file)
        sync_folder(file.absolute().parent)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Make new names in *folder* durable. Windows knows no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
