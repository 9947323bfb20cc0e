"""The small files under ``.memprove/``, read and written without trusting the folder.

A clone, an archive or a checkout can ship anything under that name: links out of the Workspace,
pipes that never end, files of another user. So every component below the work tree is opened
without following a link, and only regular files of ours, up to a cap, are read or replaced. The
rest is Problem ``path_unsafe``, and nothing was touched.

A *name* is a POSIX path below ``.memprove/``: ``config.toml``, ``context/shell.json``.
"""

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from memprove.ledger import problems

FOLDER = ".memprove"
CAP = 64 * 1024
"""The most bytes that a file may have, unless the caller says otherwise."""

_GITIGNORE = b"""\
# Local files of memprove. These may be committed:
*
!/config.toml
!/trust
!/head
!/bundles/
!/bundles/*.bundle
"""
_PRIVATE = ("context", "spool")
_ANCHORED = os.open in os.supports_dir_fd
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_BINARY", 0)
_READ_FILE = _READ | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_READ_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)


def read_local(worktree: Path, name: str, cap: int = CAP) -> bytes | None:
    """Return what the file *name* holds, or None if there is none.

    Raises Problem ``path_unsafe`` for anything but a readable regular file of ours of at most
    *cap* bytes, ``workspace_gone`` if *worktree* is not there.
    """
    *folders, last = _parts(name)
    try:
        with _folder(worktree, folders) as folder:
            descriptor = os.open(folder.at(last), _READ_FILE, dir_fd=folder.descriptor)
            try:
                _check(os.fstat(descriptor), name)
                with open(descriptor, "rb", closefd=False) as file:
                    data = file.read(cap + 1)
            finally:
                os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise problems.PATH_UNSAFE(f"{FOLDER}/{name} ({error.strerror})") from error
    if len(data) > cap:
        raise problems.PATH_UNSAFE(f"{FOLDER}/{name} (over {cap} bytes)")
    return data


def write_local(worktree: Path, name: str, data: bytes) -> None:
    """Put *data* into the file *name*, whole or not at all; make the folders it needs.

    A reader sees the old bytes or the new ones. Files under ``context/`` and ``spool/`` are for
    their owner's eyes (0600). Raises Problem ``path_unsafe`` where something else than a file of
    ours is in the way, ``disk_full``, ``workspace_unwritable``, ``workspace_gone``.
    """
    ensure_folder(worktree)
    _write(worktree, name, data)


def create_local(worktree: Path, name: str, data: bytes) -> bool:
    """Put *data* into the new file *name* as ``write_local`` does; tell whether there was none.

    Of several that try at once one succeeds. Folders are not made: ``path_unsafe`` without them.
    """
    return _write(worktree, name, data, fresh=True)


def list_local(worktree: Path, name: str, most: int) -> list[str]:
    """Return the names in the folder *name*, sorted, at most *most*; none where it is not there."""
    with _told(name):
        try:
            with _folder(worktree, _parts(name)) as folder:
                where = folder.path if folder.descriptor is None else folder.descriptor
                with os.scandir(where) as entries:
                    return sorted(entry.name for entry in itertools.islice(entries, most))
        except FileNotFoundError:
            return []


def set_aside(worktree: Path, name: str) -> str:
    """Rename *name*, whatever it is, to ``<name>.unreadable`` or ``-2``, … and return that name.

    Raises Problem ``path_unsafe`` or ``workspace_unwritable`` if it cannot be moved.
    """
    *folders, last = _parts(name)
    with _told(name), _folder(worktree, folders) as folder:
        suffixes = (f"-{number}" if number > 1 else "" for number in itertools.count(1))
        aside = next(
            f"{last}.unreadable{suffix}"
            for suffix in suffixes
            if folder.status(f"{last}.unreadable{suffix}") is None
        )
        folder.rename(last, aside)
    return "/".join((*folders, aside))


def remove_local(worktree: Path, name: str) -> None:
    """Remove the file *name*, if there is one.

    Raises Problem ``path_unsafe`` or ``workspace_unwritable`` if it cannot be removed.
    """
    *folders, last = _parts(name)
    with _told(name), suppress(FileNotFoundError), _folder(worktree, folders) as folder:
        os.unlink(folder.at(last), dir_fd=folder.descriptor)


def ensure_folder(worktree: Path) -> None:
    """Make ``.memprove/`` and its ``.gitignore`` where they are missing.

    The ``.gitignore`` hides itself and everything beside it but config.toml, trust, head and
    bundles. One that is there stays as it is. Raises as `write_local` does.
    """
    with _told(""), _folder(worktree, [], create=True) as folder:
        present = folder.status(".gitignore") is not None
    if not present:
        _write(worktree, ".gitignore", _GITIGNORE)


class _Folder(msgspec.Struct, frozen=True):
    """An open folder. Names are looked up from its descriptor, or by path where that cannot be."""

    path: Path
    descriptor: int | None

    def at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self.at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def rename(self, old: str, new: str) -> None:
        os.replace(
            self.at(old), self.at(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor
        )

    def link(self, old: str, new: str) -> bool:
        """Give the file *old* the name *new* in place of its own, unless that is taken."""
        try:
            os.link(
                self.at(old), self.at(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor
            )
        except FileExistsError:
            return False
        finally:
            os.unlink(self.at(old), dir_fd=self.descriptor)
        return True

    def open_below(self, name: str, create: bool) -> "_Folder":
        if create:
            with suppress(FileExistsError):
                os.mkdir(
                    self.at(name), 0o700 if name in _PRIVATE else 0o755, dir_fd=self.descriptor
                )
        path = self.path / name
        if self.descriptor is not None:
            return _Folder(path, os.open(name, _READ_FOLDER, dir_fd=self.descriptor))
        found = os.lstat(path)
        # Junctions are no symbolic links, but lead elsewhere all the same.
        if not stat.S_ISDIR(found.st_mode) or os.path.realpath(path) != str(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        return _Folder(path, None)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


@contextmanager
def _folder(worktree: Path, parts: list[str], create: bool = False) -> Iterator[_Folder]:
    """Open ``.memprove/`` and the folders *parts* below it, following no link."""
    here = _open_worktree(worktree)
    try:
        for part in (FOLDER, *parts):
            outer, here = here, here.open_below(part, create)
            outer.close()
        yield here
    finally:
        here.close()


def _open_worktree(worktree: Path) -> _Folder:
    real = Path(os.path.realpath(worktree))
    try:
        if not _ANCHORED:
            os.stat(real)
            return _Folder(real, None)
        return _Folder(real, os.open(real, _READ_FOLDER))
    except OSError as error:
        raise problems.WORKSPACE_GONE(worktree) from error


def _write(worktree: Path, name: str, data: bytes, *, fresh: bool = False) -> bool:
    """Write it whole, by a temporary file; with *fresh* only if there is none of that name."""
    *folders, last = _parts(name)
    with _told(name), _folder(worktree, folders, create=not fresh) as folder:
        present = folder.status(last)
        if present is not None:
            _check(present, name)
            if fresh:
                return False
        temporary = f".{os.urandom(8).hex()}.tmp"
        mode = 0o600 if folders and folders[0] in _PRIVATE else 0o644
        descriptor = os.open(folder.at(temporary), _CREATE, mode, dir_fd=folder.descriptor)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            if fresh:
                return folder.link(temporary, last)
            folder.rename(temporary, last)
        except BaseException:
            with suppress(OSError):
                os.unlink(folder.at(temporary), dir_fd=folder.descriptor)
            raise
    return True


def _check(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise problems.PATH_UNSAFE(f"{FOLDER}/{name} (no regular file)")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise problems.PATH_UNSAFE(f"{FOLDER}/{name} (of another user)")


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn what the system refuses into the Problem that says so."""
    try:
        yield
    except OSError as error:
        detail = f"{FOLDER}/{name} ({error.strerror})"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise problems.DISK_FULL(detail) from error
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EMLINK):
            raise problems.PATH_UNSAFE(detail) from error
        raise problems.WORKSPACE_UNWRITABLE(detail) from error


def _parts(name: str) -> list[str]:
    """Return the components of *name*, each a plain file name."""
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts):
        raise problems.PATH_UNSAFE(f"{FOLDER}/{name!r}")
    return parts
