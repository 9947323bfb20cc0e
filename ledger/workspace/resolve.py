"""The Workspace that a directory belongs to, found by reading the file system alone.

A *Place* is where a Workspace may be: a git work tree, or any folder on the way up from the
working directory. `locate` lists them, the nearest first; `match` picks the one that a ledger has
registered. No process is started (hooks must be fast) and nothing that a folder says about itself
is believed: a linked work tree counts only if its repository points back to it.

The walk crosses file-system boundaries, unlike git's: a volume mounted inside a Workspace is part
of it, and a Place binds only where an owner registered that very folder. It only ever goes up, so
a parent of many repositories, or a home folder, belongs to none of them.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from memprove.ledger import problems

_POINTER_LIMIT = 8192
_CONFIG_LIMIT = 256 * 1024
_CORE_WORKTREE = re.compile(r'^[ \t]*worktree[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$', re.M | re.I)


class Place(msgspec.Struct, frozen=True):
    """Where a Workspace may be. All paths are real paths.

    ``root`` identifies the Workspace: the main work tree of a repository, for its linked work
    trees too; the common directory where there is no main work tree (bare); else the folder.
    ``worktree`` is the root of the work tree that the walk met, ``common`` git's common directory.
    """

    root: Path
    worktree: Path
    common: Path | None
    kind: Literal["git", "folder"]

    def below(self, path: Path) -> str:
        """Return the POSIX path of *path* below the work tree, ``.`` for its root."""
        return Path(os.path.realpath(path)).relative_to(self.worktree).as_posix()


class Registered(msgspec.Struct, frozen=True):
    """A Workspace as the ledger has it: its real path and how to know it again."""

    id: str
    number: int
    name: str
    root: Path
    kind: Literal["git", "folder"]
    device: int
    inode: int
    root_commits: tuple[str, ...]


class Match(msgspec.Struct, frozen=True):
    """The registered Workspace and the Place that it was met at; ``moved``: its path is new."""

    workspace: Registered
    place: Place
    moved: bool


def locate(cwd: Path) -> tuple[Place, ...]:
    """Return the Places from *cwd* upwards, the nearest first.

    Raises Problem ``workspace_gone`` where *cwd* is no directory (any more).
    """
    try:
        here = os.path.realpath(cwd, strict=True)
        os.stat(os.path.join(here, os.curdir))
    except (OSError, ValueError) as error:
        raise problems.WORKSPACE_GONE(cwd) from error
    return tuple(_place(folder) for folder in (Path(here), *Path(here).parents))


def place_at(folder: Path) -> Place:
    """Return the Place that *folder* itself is."""
    return _place(Path(os.path.realpath(folder)))


def is_linked_worktree(folder: Path, common: Path) -> bool:
    """Tell whether *folder* is a linked work tree of the repository with the directory *common*."""
    place = place_at(folder)
    return place.root != place.worktree and place.common == Path(os.path.realpath(common))


def fingerprint(place: Place) -> tuple[int, int]:
    """Return device and inode of the folder that identifies *place*.

    Raises Problem ``workspace_gone`` if it went away meanwhile.
    """
    mark = _mark(place.root)
    if mark is None:
        raise problems.WORKSPACE_GONE(place.root)
    return mark


def match(
    places: Iterable[Place],
    registered: Iterable[Registered],
    *,
    hint: Callable[[Place], str | None],
    root_commits: Callable[[Place], tuple[str, ...]],
) -> Match:
    """Return the nearest of *places* that is a registered Workspace, or that is one that moved.

    *hint* answers the id that a Place's own ``.memprove/workspace`` names, or None; *root_commits*
    answers a repository's root commits, or none. Both answer None or none for what they cannot
    read, and are asked only where the file system leaves it open.

    Raises Problem ``workspace_mismatch`` where something else stands at a registered path,
    ``workspace_unregistered`` where nothing is registered from here upwards.
    """
    known = tuple(registered)
    nearest = ""
    for place in places:
        nearest = nearest or str(place.worktree)
        if found := _registered_here(place, known, root_commits):
            return Match(found, place, moved=False)
        if found := _moved_here(place, known, hint, root_commits):
            return Match(found, place, moved=True)
    raise problems.WORKSPACE_UNREGISTERED(nearest)


def _registered_here(
    place: Place,
    known: tuple[Registered, ...],
    root_commits: Callable[[Place], tuple[str, ...]],
) -> Registered | None:
    mark = _mark(place.root)
    for workspace in known:
        # The second test is for one folder under two names: a bind mount, another letter case.
        if (workspace.device, workspace.inode) == mark and (
            workspace.root == place.root or _mark(workspace.root) == mark
        ):
            return workspace
    here = [workspace for workspace in known if workspace.root == place.root]
    for workspace in here:
        if _same_history(workspace, place, root_commits):
            return workspace
    if here:
        raise problems.WORKSPACE_MISMATCH(place.root)
    return None


def _moved_here(
    place: Place,
    known: tuple[Registered, ...],
    hint: Callable[[Place], str | None],
    root_commits: Callable[[Place], tuple[str, ...]],
) -> Registered | None:
    named = hint(place)
    for workspace in known:
        if workspace.id != named or not _is_gone(workspace.root):
            continue
        same_folder = (workspace.device, workspace.inode) == _mark(place.root)
        without_history = workspace.kind == "folder" or not workspace.root_commits
        if same_folder if without_history else _same_history(workspace, place, root_commits):
            return workspace
    return None


def _same_history(
    workspace: Registered, place: Place, root_commits: Callable[[Place], tuple[str, ...]]
) -> bool:
    # Two repositories without a commit have nothing in common.
    if place.kind != "git" or not workspace.root_commits:
        return False
    return set(workspace.root_commits) == set(root_commits(place))


def _mark(folder: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_gone(path: Path) -> bool:
    """Tell whether *path* is known not to exist; one that cannot be looked at is not gone."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


# What git's own files say


def _place(folder: Path) -> Place:
    git_dir = _git_dir(folder)
    if git_dir is not None and os.path.lexists(git_dir / "commondir"):
        common = _confirmed_common(folder, git_dir)
        if common is not None:
            return Place(_main_root(common), folder, common, "git")
    elif git_dir is not None and _is_repository(git_dir):
        return Place(folder, folder, git_dir, "git")
    return Place(folder, folder, None, "folder")


def _git_dir(folder: Path) -> Path | None:
    """Return the real git directory of a work tree at *folder* (gitrepository-layout(5))."""
    entry = folder / ".git"
    if os.path.isdir(entry):
        return Path(os.path.realpath(entry))
    text = _read_pointer(entry)
    if text is None or not text.startswith("gitdir: "):
        return None
    target = Path(os.path.realpath(folder / text.removeprefix("gitdir: ")))
    return target if os.path.isdir(target) else None


def _confirmed_common(folder: Path, git_dir: Path) -> Path | None:
    """Return the common directory of a linked work tree, if it knows *folder* as its own.

    Anyone can write a ``.git`` file that names a repository of yours; only that repository can
    have an entry under ``worktrees/`` that names the folder.
    """
    upward, back = _read_pointer(git_dir / "commondir"), _read_pointer(git_dir / "gitdir")
    if not upward or not back:
        return None
    common = Path(os.path.realpath(git_dir / upward))
    known = git_dir.parent == common / "worktrees" and _is_repository(common)
    points_back = os.path.realpath(git_dir / back) == os.path.realpath(folder / ".git")
    return common if known and points_back else None


def _main_root(common: Path) -> Path:
    """Return the main work tree of the repository at *common*, or *common* itself if bare.

    ``core.worktree`` (submodules, separate git directories) counts if the folder points back.
    """
    for named in _core_worktrees(common):
        folder = Path(os.path.realpath(common / named))
        if _git_dir(folder) == common:
            return folder
    return common.parent if common.name == ".git" else common


def _core_worktrees(common: Path) -> Iterator[str]:
    # With extensions.worktreeConfig, core.worktree lives in the second file.
    for name in ("config", "config.worktree"):
        text = _read_text(common / name, _CONFIG_LIMIT) or ""
        yield from _CORE_WORKTREE.findall(text)


def _is_repository(git_dir: Path) -> bool:
    return os.path.lexists(git_dir / "HEAD") and os.path.isdir(git_dir / "objects")


def _read_pointer(path: Path) -> str | None:
    """Return the one line of a small file that names a path."""
    text = _read_text(path, _POINTER_LIMIT)
    return None if text is None else text.rstrip("\r\n")


def _read_text(path: Path, limit: int) -> str | None:
    """Return what a regular file of at most *limit* bytes holds; never wait for a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if len(data) > limit or b"\0" in data:
        return None
    return os.fsdecode(data)
