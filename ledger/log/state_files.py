"""Small files of the state directory: whole, or as good as none.

The first line is a title and the SHA-256 of all that follows.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_MOST: Final = 16 * 1024


def opener(path: str, flags: int) -> int:
    """Open a file for ``open`` without waiting: where a pipe was put there, nothing is in it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read(file: Path, title: str) -> bytes:
    """Return what follows the first line. Raises OSError, or ValueError if it was damaged."""
    descriptor = opener(str(file), os.O_RDONLY)
    try:
        data = os.read(descriptor, _MOST)
    finally:
        os.close(descriptor)
    first, _, rest = data.partition(b"\n")
    if first != _first(title, rest):
        raise ValueError(title)
    return rest


def keep(file: Path, title: str, rest: bytes, *, beside: str = ".new") -> None:
    """Let *file* hold *rest*, by way of a file *beside* it.

    That it cannot be written is no failure.
    """
    data = _first(title, rest) + b"\n" + rest
    unfinished = file.with_name(file.name + beside)
    with suppress(OSError):
        try:
            _write_private(unfinished, data)
        except FileNotFoundError:
            make_private(file.parent)
            _write_private(unfinished, data)
        os.replace(unfinished, file)


def make_private(folder: Path) -> None:
    """Make *folder*, and the state directory above it: parents made along get other modes."""
    for one in (folder.parent, folder):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)


def _first(title: str, rest: bytes) -> bytes:
    return f"{title} {sha256(rest).hexdigest()}".encode()


def _write_private(file: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(file, flags, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
