"""A scratch copy of a worktree's index, with a scratch object folder: nothing else is written to.

The copy keeps the time of the original, by which git knows which entries are *racily clean*: files
written in the same second as the index, whose stat data prove nothing. Git compares seconds and
looks at the mtime alone, so a file that had an old mtime when it was added, and has the same one
after a change within that second, looks clean. Such entries have the ctime of the index and another
mtime; in the copy they lose their ctime, and git compares their contents.
"""

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from memprove.ledger.workspace.git import Unknown, kill_all
from memprove.ledger.workspace.repository import Repository

MEMORY = "/dev/shm"
"""Linux keeps this folder in memory. On a disk, making a small file for each changed folder of the
tree may take ten times as long as all the rest."""
MOST_INDEX = 1024**3
"""How many bytes an index has at most: some ten million files."""
_FORGOTTEN_S = 3600.0
"""After so long nobody works in a folder any more: no git has so much time."""
_NAME = re.compile(r"memprove-[0-9a-f]{16}")
_ROOM = 50
"""How many bytes of scratch files a byte of the index stands for, at most: a page of memory for a
tree object where each file has a folder to itself."""


_made: set[str] = set()


@contextmanager
def scratch_index(repository: Repository, worktree: Path) -> Iterator[dict[str, str]]:
    """Make the copy; yield the variables that make git use it, and remove it at the end.

    Raises Unknown: ``index_unreadable``, ``no_scratch``.
    """
    content, time_ns = _read_index(repository.index)
    with ExitStack() as made:
        try:
            place = _memory(worktree, len(content or b"")) or _disk(worktree)
            folder = made.enter_context(_folder(place))
            variables = _fill(folder, content, time_ns, repository.objects)
            if repository.config.large_files:
                variables |= _large_files_in(made.enter_context(_folder(_disk(worktree))))
        except OSError as error:
            raise Unknown("no_scratch", error.strerror or "") from error
        yield variables


@contextmanager
def _folder(place: str) -> Iterator[Path]:
    """Make a folder in *place* that nobody else can enter; at the end it goes, as far as it can.

    To import tempfile takes as long as half of the git processes that work in here.
    """
    folder = os.path.join(place, f"memprove-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    _made.add(folder)
    try:
        yield Path(folder)
    finally:
        _remove(folder)


def _remove(folder: str) -> None:
    for inside, folders, names in os.walk(folder, topdown=False):
        for remove, all_of_them in ((os.unlink, names), (os.rmdir, folders)):
            for name in all_of_them:
                with suppress(OSError):
                    remove(os.path.join(inside, name))
    with suppress(OSError):
        os.rmdir(folder)
    _made.discard(folder)


def abandon() -> None:
    """Kill the gits that threads wait for, and remove what they work in: the process ends now."""
    kill_all()
    for folder in tuple(_made):
        _remove(folder)


def _remove_forgotten(place: str) -> None:
    """Remove our folders in *place* whose process was killed: memory would fill up with them."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                is_ours = status.st_uid == os.geteuid()
                if is_ours and time.time() - status.st_mtime > _FORGOTTEN_S:
                    _remove(entry.path)


def _fill(folder: Path, content: bytes | None, time_ns: int, objects: Path) -> dict[str, str]:
    copy = folder / "index"
    if content is not None:
        copy.write_bytes(content)
        os.utime(copy, ns=(time_ns, time_ns))
    (folder / "objects").mkdir()
    return {
        "GIT_INDEX_FILE": str(copy),
        "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(objects)),
    }


def _read_index(path: Path) -> tuple[bytes | None, int]:
    """Return the index (None: there is none yet) and the time the copy must have."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_INDEX:
                raise Unknown("index_unreadable")
            content = file.read()
    except FileNotFoundError:
        return None, 0
    except OSError as error:
        raise Unknown("index_unreadable") from error
    return _without_doubtful_times(content, status.st_mtime_ns // 10**9), status.st_mtime_ns


def _without_doubtful_times(content: bytes, written: int) -> bytes:
    second = (written & 0xFFFFFFFF).to_bytes(4, "big")
    if second not in content:
        return content
    # An entry begins with 32-bit words: ctime (seconds, nanoseconds), mtime (seconds, nanoseconds),
    # device, inode, mode (gitformat-index). Git checks the checksum at the end in fsck only.
    same = re.escape(second)
    entry = rb"%s(.{4}(?!%s).{16}\0\0(?:\x81\xa4|\x81\xed|\xa0\0))" % (same, same)
    return re.sub(entry, rb"\0\0\0\0\1", content, flags=re.DOTALL)


def _large_files_in(folder: Path) -> dict[str, str]:
    """Return what makes git-lfs copy the files it is asked about to *folder*, not into ``.git``."""
    names = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0")
    return dict(zip(names, ("1", "lfs.storage", str(folder)), strict=True))


def _disk(worktree: Path) -> str:
    """Return the folder for temporary files, but never one in *worktree*: git would list them."""
    from tempfile import gettempdir  # late: mostly there is room in memory

    try:
        usual, root = os.path.realpath(gettempdir()), os.path.realpath(worktree)
    except FileNotFoundError:  # its text names every folder that was tried
        raise Unknown("no_scratch") from None
    return "/tmp" if os.path.commonpath([usual, root]) == root else usual


def _memory(worktree: Path, index_size: int) -> str | None:
    """Return a folder in memory where only we can touch our files and what is needed has room."""
    if os.path.realpath(worktree).startswith(MEMORY):
        return None
    try:
        open_to_all = os.stat(MEMORY).st_mode & 0o1777 == 0o1777
        space = os.statvfs(MEMORY)
    except (OSError, AttributeError):  # not on this platform
        return None
    room = space.f_bavail * space.f_frsize
    if not open_to_all or room < _ROOM * index_size:
        return None
    _remove_forgotten(MEMORY)
    return MEMORY


def _quoted(path: str) -> str:
    """Return *path* in the quotes that let it hold a colon (git's ``unquote_c_style``)."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
