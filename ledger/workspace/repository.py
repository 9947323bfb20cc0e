"""Where the repository of a worktree is, and what of its configuration matters to us."""

import os
from pathlib import Path

import msgspec

from memprove.ledger.workspace.git import Git, Unknown, failure
from memprove.ledger.workspace.git_config import KEYS, GitConfig, parse_config
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
    *("--git-path", "info/sparse-checkout"),
    "--show-object-format",
    "--is-shallow-repository",
)
_NOT_LITERAL = ("--no-literal-pathspecs",)
_REVISIONS = ("HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD")


class Repository(msgspec.Struct, frozen=True):
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
    sparse_patterns: Path
    """What of the commit a sparse checkout puts into this worktree."""
    config: GitConfig

    @property
    def info(self) -> Path:
        """Return the folder of what this clone keeps for itself."""
        return self.common / "info"


def locate(git: Git) -> Repository:
    """Return the repository whose worktree has its root in the folder of *git*.

    Raises Unknown: ``no_repository``, ``not_owned``, ``worktree_elsewhere`` (core.worktree names
    another folder), ``git_failed``, ``timeout``.
    """
    if not os.path.lexists(git.folder / ".git"):  # a repository further up is not this worktree's
        raise Unknown("no_repository")
    with (
        git.start("rev-parse", *_PLACES, *_REVISIONS) as places,
        git.start("config", "-z", "--show-scope", "--get-regexp", KEYS) as config,
    ):
        code, output, messages = places.finish()
        _, settings, _ = config.finish()
    lines = [os.fsdecode(line) for line in output.split(b"\n")[:-1]]
    if code != 0:  # before the first commit git echoes the revision that it does not know
        lines = [line for line in lines if line != _REVISIONS[0]]
    if len(lines) != (10 if code == 0 else 7):
        raise failure("rev-parse", messages)
    top, common, index, objects, sparse, object_format, shallow, *head = lines
    if not _is_same(top, git.folder):
        raise Unknown("worktree_elsewhere")
    base, base_tree, name = head or (None, EMPTY_TREE[object_format], _unborn(git))
    return Repository(
        common=Path(common),
        index=Path(index),
        objects=Path(objects),
        object_format=object_format,
        shallow=shallow == "true",
        base=base,
        base_tree=base_tree,
        branch=None if name == "HEAD" else name.removeprefix("refs/heads/"),
        sparse_patterns=Path(sparse),
        config=parse_config(settings),
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


def is_ignored(worktree: Path, path: str, *, deadline_s: float) -> bool:
    """Tell whether git leaves out *path* of *worktree* as ignored; False where nobody can say."""
    try:
        git = Git.find(worktree, deadline_s=deadline_s)
        # It takes no pathspec that is marked as literal; the names asked for hold no pattern.
        with git.start(*_NOT_LITERAL, "check-ignore", "--quiet", "--", path) as running:
            return running.finish()[0] == 0
    except Unknown:
        return False


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
