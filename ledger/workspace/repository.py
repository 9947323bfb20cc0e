"""Where the repository of a worktree is, and what of its configuration matters to us."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from memprove.ledger.workspace.git import Git, Unknown, failure
from memprove.ledger.workspace.listing import path_text

EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The id of the tree without an entry, by object format; git knows it without having it."""

_PLACES = (
    "--path-format=absolute",
    "--show-toplevel",
    "--git-common-dir",
    *("--git-path", "index"),
    *("--git-path", "objects"),
    "--show-object-format",
    "--is-shallow-repository",
)
_REVISIONS = ("HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD")
_CONFIG = r"^(filter\.|core\.excludesfile$)"
_OWNERS_SCOPES = (b"system", b"global")


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of one worktree, as it stands."""

    common: Path
    """What its work trees share: ``.git`` of the main one."""
    index: Path
    objects: Path
    object_format: str
    shallow: bool
    base: str | None
    """The commit of HEAD; None before the first."""
    base_tree: str
    branch: str | None
    """Without ``refs/heads/``; None: HEAD is detached."""
    local_filters: frozenset[str]
    """Filter drivers that the repository's own configuration touches."""
    large_files: bool
    """Whether a filter driver ``lfs`` is defined, by anyone."""
    hides: bool
    """Whether ``info/exclude`` or ``core.excludesFile`` may hide something."""


def locate(git: Git) -> Repository:
    """Return the repository whose worktree has its root in the folder of *git*.

    Raises Unknown: ``no_repository``, ``not_owned``, ``worktree_elsewhere`` (core.worktree names
    another folder), ``git_failed``, ``timeout``.
    """
    if not os.path.lexists(git.folder / ".git"):  # a repository further up is not this worktree's
        raise Unknown("no_repository")
    with (
        git.start("rev-parse", *_PLACES, *_REVISIONS) as places,
        git.start("config", "-z", "--show-scope", "--get-regexp", _CONFIG) as config,
    ):
        code, output, messages = places.finish()
        _, settings, _ = config.finish()
    lines = [os.fsdecode(line) for line in output.split(b"\n")[:-1]]
    if code != 0:  # before the first commit git echoes the revision that it does not know
        lines = [line for line in lines if line != _REVISIONS[0]]
    if len(lines) != (9 if code == 0 else 6):
        raise failure("rev-parse", messages)
    top, common, index, objects, object_format, shallow, *head = lines
    if not _is_same(top, git.folder):
        raise Unknown("worktree_elsewhere")
    base, base_tree, name = head or (None, EMPTY_TREE[object_format], _unborn(git))
    filters, excludes_file = _parse_config(settings)
    return Repository(
        common=Path(common),
        index=Path(index),
        objects=Path(objects),
        object_format=object_format,
        shallow=shallow == "true",
        base=base,
        base_tree=base_tree,
        branch=None if name == "HEAD" else name.removeprefix("refs/heads/"),
        local_filters=filters,
        large_files=b"\0filter.lfs." in settings,
        hides=_has_patterns(Path(common, "info", "exclude")) or _has_patterns(excludes_file),
    )


def root_commits(worktree: Path, *, deadline_s: float) -> tuple[str, ...]:
    """Return the sorted ids of the commits without parents that HEAD descends from.

    Empty where they cannot be known: no repository, no commit, a shallow clone, too late.
    """
    try:
        git = Git.find(worktree, deadline_s=deadline_s)
        repository = locate(git)
        if repository.shallow or repository.base is None:
            return ()
        output = git.read("rev-list", "--max-parents=0", repository.base)
    except Unknown:
        return ()
    return tuple(sorted(output.decode().split()))


def tracked_under(worktree: Path, folder: str, *, deadline_s: float) -> tuple[str, ...]:
    """Return the paths that git tracks in *folder* of *worktree*; empty outside git.

    Raises Unknown where there is a repository that cannot be read.
    """
    try:
        git = Git.find(worktree, deadline_s=deadline_s)
        locate(git)
    except Unknown as unknown:
        if unknown.word in ("no_git", "no_repository"):
            return ()
        raise
    paths = git.read("ls-files", "-z", "--", folder).split(b"\0")[:-1]
    return tuple(path_text(path) for path in paths)


def _is_same(one: str, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _unborn(git: Git) -> str:
    """Return the branch that HEAD names before its first commit."""
    with git.start("rev-parse", "--quiet", "--verify", "HEAD") as running:
        if running.finish()[0] == 0:
            raise Unknown("git_failed", "the commit of HEAD cannot be read")
    return os.fsdecode(git.read("symbolic-ref", "HEAD").rstrip(b"\n"))


def _parse_config(settings: bytes) -> tuple[frozenset[str], Path]:
    """Return the filter drivers of local scopes, and the excludes file in force."""
    filters = set()
    excludes = os.path.join(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", "ignore")
    fields = settings.split(b"\0")
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition(b"\n")
        section, _, rest = key.partition(b".")
        if section == b"core":
            excludes = os.fsdecode(value)
        elif scope not in _OWNERS_SCOPES:
            filters.add(os.fsdecode(rest.rpartition(b".")[0]))
    return frozenset(filters), Path(os.path.expanduser(excludes))


def _has_patterns(path: Path) -> bool:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return os.path.lexists(path)  # git reads it; we would wait at a FIFO
        lines = path.read_bytes().splitlines()
    except OSError:
        return False
    return any(line.strip() and not line.startswith(b"#") for line in lines)
