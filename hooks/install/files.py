"""Files of somebody else, read and replaced with care.

A clone can ship anything under a name that clients read: a link out of the Workspace, a pipe that
never ends, a file of another user. What is read is a regular file of ours, up to ``LARGEST``; a
link is followed to where it leads inside its base, and is still a link afterwards.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memprove.ledger import durable
from memprove.ledger.problems import (
    CLIENT_FILE_INVALID,
    CLIENT_FILE_UNWRITABLE,
    PATH_UNSAFE,
    ProblemKind,
    at_file,
)

LARGEST: Final = 1024 * 1024
_FORBIDDEN: Final = frozenset({".git", ".memprove"})
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was read: *data* None: there is none. *shown* is its name in messages."""

    path: Path
    shown: str
    data: bytes | None
    mode: int | None = None


def look(base: Path, name: str) -> Seen:
    """Return the file *name* below the folder *base*, through links that stay inside.

    Raises Problem ``path_unsafe`` for anything else, ``client_file_invalid`` where it is too large.
    """
    real_base = Path(os.path.realpath(base))
    path = Path(os.path.realpath(real_base / name))
    if not path.is_relative_to(real_base):
        raise PATH_UNSAFE(f"{name} is a link that leads out")
    parts = path.relative_to(real_base).parts
    if not _FORBIDDEN.isdisjoint(parts[:-1]):
        raise PATH_UNSAFE(f"{name} is a link to {'/'.join(parts)}")
    return read(path, name)


def read(path: Path, shown: str) -> Seen:
    """Return the regular file at *path*, whose folders hold no link; raises as `look` does."""
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return Seen(path, shown, None)
    except OSError as error:
        raise PATH_UNSAFE(f"{shown}: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PATH_UNSAFE(f"{shown} is no regular file")
        if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
            raise PATH_UNSAFE(f"{shown} belongs to another user")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise PATH_UNSAFE(f"{shown}: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if len(data) > LARGEST:
        raise CLIENT_FILE_INVALID(f"{shown} has more than {LARGEST} bytes")
    return Seen(path, shown, data, stat.S_IMODE(status.st_mode))


@dataclass(frozen=True, slots=True)
class Staged:
    """New bytes of a file, on disk beside it under a name of their own."""

    temporary: Path
    path: Path

    def take_place(self) -> None:
        """Become the file; a reader sees the old bytes or the new ones."""
        os.replace(self.temporary, self.path)
        durable.sync_folder(self.path.parent)

    def discard(self) -> None:
        """Go away."""
        with suppress(OSError):
            self.temporary.unlink()


def stage(path: Path, data: bytes, mode: int | None) -> Staged:
    """Write *data* beside *path*, durably; *mode* None: that of a new file."""
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, _CREATE, 0o666 if mode is None else 0o600)
    try:
        with open(descriptor, "wb", closefd=False) as opened:
            opened.write(data)
        if mode is not None and hasattr(os, "fchmod"):
            _keep_group(descriptor, path)
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        os.close(descriptor)
    return Staged(temporary, path)


def put(path: Path, data: bytes, mode: int | None) -> None:
    """Replace *path* by *data*, whole or not at all."""
    staged = stage(path, data, mode)
    try:
        staged.take_place()
    except BaseException:
        staged.discard()
        raise


def make_folders(folder: Path) -> tuple[Path, ...]:
    """Make *folder* and what is missing above it; return those that were made, the outer first."""
    missing = [folder]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    made = []
    for one in reversed(missing):
        with suppress(FileExistsError):
            one.mkdir()
            made.append(one)
    return tuple(made)


def told(error: OSError, shown: str, kind: ProblemKind = CLIENT_FILE_UNWRITABLE) -> Exception:
    """Return the Problem that *error* at the file *shown* is."""
    return at_file(error, shown, kind)


def _keep_group(descriptor: int, path: Path) -> None:
    with suppress(OSError):  # not ours to give: then the new file has our own group
        group = os.stat(path).st_gid
        if group != os.fstat(descriptor).st_gid:
            os.fchown(descriptor, -1, group)
