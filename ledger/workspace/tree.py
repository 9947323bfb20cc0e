"""The tree: the git tree id that the working tree would have if it were committed now.

It depends on content alone, so it is the same before and after the commit, here and in another
clone. ``.memprove`` in the Workspace root is no part of it. Method:

1. ``rev-parse`` and ``config``: the repository, HEAD, and what the repository's own configuration
   says of filters, attributes and excludes; this is blanked by name, or the owner's again.
2. On a scratch copy of the index: ``ls-files`` for what is untracked, is a repository of its own or
   has the assume-unchanged bit (which is then cleared), and ``diff-files`` for what may be changed.
   It reads stat data only and, unlike ``ls-files -m``, sees a folder that became a link.
3. ``update-index --info-only`` takes the changed paths into the scratch index: ids as ``git add``
   would give them (filters, line ends, modes, link targets), but no content is copied.
4. ``diff-index --cached`` names what differs from the base commit, and meanwhile, where anything
   does, ``write-tree`` says the id, with new tree objects in the scratch folder.

What git takes for the same content is the same tree: line ends under ``core.autocrlf``, what stands
in ``$Id$`` under a committed ``ident``, modes under ``core.fileMode=false``, a link and a file that
holds its target under ``core.symlinks=false``. Only attributes in ``info/attributes``, which no
other clone has, are no ground for a tree; and of the files that the index calls absent
(skip-worktree), those that no sparse checkout left out count as removed.

A clean worktree costs five processes, four of them in pairs, a changed one seven, six in pairs,
whatever the number of files; in Python there is one pass over the list of the index and no work for
a clean file beyond it.
"""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from memprove.ledger.workspace.git import Git, Unknown
from memprove.ledger.workspace.listing import (
    OWN_FOLDER,
    Difference,
    Listing,
    is_own,
    parse_listing,
    parse_raw,
    path_text,
)
from memprove.ledger.workspace.local_rules import (
    has_patterns,
    refuse_attributes,
    refuse_unreadable,
)
from memprove.ledger.workspace.repository import Repository, locate
from memprove.ledger.workspace.resolve import is_linked_worktree
from memprove.ledger.workspace.scratch import scratch_index
from memprove.ledger.workspace.sparse import wanted

MOST_ROWS = 10_000
"""How many changed paths a tree names at most."""

MANIFEST = "m"
"""How an id begins that ``manifest.read_manifest`` made, and no git tree."""

COMPARE = ("-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
"""Options of every plumbing comparison."""

_OTHERS = ("ls-files", "-z", "-o", "-x", "/" + OWN_FOLDER.decode())
WIRING = (".mcp.json", ".claude/settings.local.json")
"""Files that ``init`` makes for a client and hides in ``info/exclude``: they are not counted there.

Shown in their own right, they are part of the tree like any other.
"""
# Of a submodule only its HEAD is compared: to look further, git would obey its configuration.
_SUSPECTS = ("diff-files", *COMPARE, "--ignore-submodules=dirty")
_GITLINK = 0o160000


class Entry(msgspec.Struct, frozen=True):
    """One path of a tree that differs from the base commit."""

    path: str
    """Valid text, see ``listing.path_text``."""
    mode: int
    """As git has it (0o100644, 0o120000, ...); 0: removed."""
    oid: str
    """Object id in hexadecimal; empty: removed."""
    untracked: bool


class Snapshot(msgspec.Struct, frozen=True):
    """What is kept of a tree, so that what changed since can be named."""

    tree: str | None
    base: str | None
    changed: tuple[Entry, ...]
    changed_known: bool


class Tree(msgspec.Struct, frozen=True):
    """The tree of a worktree at one moment."""

    id: str | None
    """None: unknown, for *reason*."""
    reason: str
    """Empty, or a fixed word, then perhaps ``: `` and a detail (``filter_untrusted: lfs``)."""
    base: str | None
    """The commit of HEAD; None before the first one."""
    branch: str | None
    """None: HEAD is detached."""
    changed: tuple[Entry, ...]
    """The difference from the base commit, sorted by path."""
    changed_known: bool
    """False: the tree is unknown, or more than MOST_ROWS paths differ and *changed* is empty."""
    hidden: int
    """How many files only ``info/exclude`` or ``core.excludesFile`` hide."""

    @property
    def snapshot(self) -> Snapshot:
        """Return what is kept of this tree."""
        return Snapshot(self.id, self.base, self.changed, self.changed_known)


def is_manifest(tree: str | None) -> bool:
    """Tell whether *tree* is the id of a tree outside git."""
    return tree is not None and tree.startswith(MANIFEST)


def read_tree(
    worktree: Path, *, deadline_s: float, allowed_filters: frozenset[str] = frozenset()
) -> Tree:
    """Return the tree of the worktree with the root *worktree*, within *deadline_s* seconds.

    Filter drivers of the repository's own configuration run only if in *allowed_filters*. Nothing
    is raised for a repository's sake: the id is None, and the reason one of ``no_git``,
    ``no_repository``, ``not_owned``, ``worktree_elsewhere``, ``timeout``, ``filter_untrusted``,
    ``attributes_local``, ``rules_unreadable``, ``unreadable``, ``submodule_dirty``,
    ``submodule_unreadable``, ``index_unreadable``, ``no_scratch``, ``git_failed``.
    """
    try:
        git = Git.find(worktree, deadline_s=deadline_s)
    except Unknown as unknown:
        return _unknown(unknown)
    return _read(git, allowed_filters)


def _read(git: Git, allowed_filters: frozenset[str]) -> Tree:
    try:
        repository = locate(git)
    except Unknown as unknown:
        return _unknown(unknown)
    try:
        _refuse_local_rules(git, repository, allowed_filters)
        return _compute(git, repository, repository.config.local_filters - allowed_filters)
    except Unknown as unknown:
        return replace(_unknown(unknown), base=repository.base, branch=repository.branch)


def _unknown(unknown: Unknown) -> Tree:
    return Tree(None, str(unknown), None, None, (), False, 0)


def _compute(git: Git, repository: Repository, untrusted: frozenset[str]) -> Tree:
    settings = (*_letter_case(git), *_blanked(untrusted), *repository.config.overruled)
    git = replace(git, settings=settings)
    with scratch_index(repository, git.folder) as variables:
        git = replace(git, variables=variables)
        listing, suspects, hidden = _look(git, repository)
        listing = replace(listing, nested=_foreign(git, repository, listing.nested))
        paths = {row.path for row in suspects} | listing.untracked | listing.nested
        _refuse_filters(git, paths, untrusted)
        _refuse_dirty_repositories(git, listing, suspects)
        lost = _lost(git, repository, listing)
        _take_in(git, listing, suspects, lost)
        changed_here = bool(paths or listing.own or lost)
        tree, differences = _read_off(git, repository, changed_here)
    rows = [row for row in differences if not is_own(row.path)]
    known = len(rows) <= MOST_ROWS
    changed = _entries(rows, listing.untracked | listing.nested) if known else ()
    return Tree(tree, "", repository.base, repository.branch, changed, known, hidden)


def _refuse_local_rules(git: Git, repository: Repository, allowed: frozenset[str]) -> None:
    refuse_unreadable(git.folder, repository.info)
    refuse_attributes(repository.info, repository.config.local_filters | allowed)
    if repository.config.attributes_from_a_tree:
        raise Unknown("attributes_local", "attr.tree")


def _letter_case(git: Git) -> tuple[str, ...]:
    """Return the setting without which git would not see ``B.txt`` beside a tracked ``b.txt``.

    Where the file system takes both for one, git is right not to see it.
    """
    takes_both_for_one = os.path.lexists(git.folder / ".GIT")
    return () if takes_both_for_one else ("core.ignoreCase=false",)


def _blanked(filters: frozenset[str]) -> tuple[str, ...]:
    for name in filters:
        if "=" in name:  # git would end the key there, and run the filter
            raise Unknown("filter_untrusted", _text(name))
    empty = ("clean=", "process=", "required=false")
    return tuple(f"filter.{name}.{setting}" for name in sorted(filters) for setting in empty)


def _look(git: Git, repository: Repository) -> tuple[Listing, list[Difference], int]:
    """Return what stands out, the paths that may be changed, and how many files are hidden."""
    hides = has_patterns(repository.info / "exclude") or has_patterns(
        repository.config.excludes_file
    )
    with ExitStack() as started:
        others = started.enter_context(git.start(*_OTHERS, "--exclude-standard", "-s", "-v"))
        suspects = started.enter_context(git.start(*_SUSPECTS))
        if hides:
            every = started.enter_context(git.start(*_OTHERS, "--exclude-per-directory=.gitignore"))
        listing = parse_listing(others.read_complete())
        seen = suspects.read_complete()
        hidden = 0
        if hides:
            hidden = _count(every.read()) - _count(_z(listing.untracked)) - len(listing.nested)
    if listing.assumed:
        git.read(
            "update-index", "--no-assume-unchanged", "-z", "--stdin", stdin=_z(listing.assumed)
        )
        with git.start(*_SUSPECTS) as again:
            seen = again.read_complete()
    return listing, list(parse_raw(seen)), max(0, hidden)


def _count(paths: bytes) -> int:
    """Return how many there are, without those that `init` makes and hides."""
    ours = sum(f"\0{name}\0".encode() in b"\0" + paths for name in WIRING)
    return paths.count(b"\0") - ours


def _foreign(git: Git, repository: Repository, nested: frozenset[bytes]) -> frozenset[bytes]:
    """Return the *nested* repositories without linked work trees of *repository* itself.

    These are other work trees of the same Workspace, often of other agents at work.
    """
    return frozenset(
        path
        for path in nested
        if not is_linked_worktree(git.folder / os.fsdecode(path), repository.common)
    )


def _lost(git: Git, repository: Repository, listing: Listing) -> list[bytes]:
    """Return the tracked paths that are absent though no sparse checkout left them out."""
    if not repository.config.sparse:
        return list(listing.absent)
    return list(wanted(listing.absent, repository.sparse_patterns, end=git.end))


def _refuse_filters(git: Git, paths: Iterable[bytes], untrusted: frozenset[str]) -> None:
    """Raise Unknown where one of the *untrusted* filters applies to one of *paths*."""
    if not untrusted or not paths:
        return
    output = git.read("check-attr", "-z", "--stdin", "filter", stdin=_z(paths))
    applied = {os.fsdecode(value) for value in output.split(b"\0")[2::3]} & untrusted
    if applied:
        raise Unknown("filter_untrusted", _text(min(applied)))


def _refuse_dirty_repositories(git: Git, listing: Listing, suspects: list[Difference]) -> None:
    """Raise Unknown where a repository in the worktree has content that its HEAD does not show."""
    replaced = {row.path for row in suspects if not row.new_mode}
    turned = {row.path for row in suspects if row.new_mode == _GITLINK}
    for path in sorted((listing.gitlinks | listing.nested | turned) - replaced):
        try:
            word = _fault(replace(git, folder=git.folder / os.fsdecode(path)))
        except OSError:
            word = "submodule_unreadable"
        if word:
            raise Unknown(word, "" if word == "timeout" else path_text(path))


def _fault(git: Git) -> str:
    """Return what is wrong with the repository in the folder of *git*; empty: nothing."""
    if git.folder.is_symlink() or not git.folder.is_dir():
        return ""
    if not os.path.lexists(git.folder / ".git"):  # a submodule that is not checked out
        return "submodule_dirty" if any(git.folder.iterdir()) else ""
    inner = _read(replace(git, settings=(), variables={}), frozenset())
    if inner.reason == "timeout":
        return "timeout"
    if inner.id is None or inner.base is None:
        return "submodule_unreadable"
    return "submodule_dirty" if inner.changed or not inner.changed_known else ""


def _take_in(git: Git, listing: Listing, suspects: list[Difference], lost: list[bytes]) -> None:
    """Bring the scratch index to what the worktree holds."""
    missing = [row.path for row in suspects if not row.new_mode]
    # Git calls a path missing also if a folder is there, or a link leads to it: update-index must
    # be told to remove these. The others it finds missing by itself.
    covered = [path for path in missing if os.path.lexists(_join(git, path))]
    removed = [*covered, *listing.own, *lost]
    if removed:
        git.read("update-index", "--force-remove", "-z", "--stdin", stdin=_z(removed))
    removing = set(removed)
    changed = [row.path for row in suspects if row.path not in removing]
    # A file in whose place a repository came: the first naming removes it, the second adds that.
    turned = [row.path for row in suspects if row.new_mode == _GITLINK != row.old_mode]
    paths = [*changed, *turned, *sorted(listing.untracked), *sorted(listing.nested)]
    if paths:
        options = ("--info-only", "--add", "--remove", "--replace")
        git.read("update-index", *options, "-z", "--stdin", stdin=_z(paths))


def _read_off(git: Git, repository: Repository, changed_here: bool) -> tuple[str, list[Difference]]:
    """Return the tree of the scratch index, and how it differs from the base commit."""
    base = repository.base or repository.base_tree
    options = (*COMPARE, "--ignore-submodules=none")
    with ExitStack() as started:
        write = partial(git.start, "write-tree", "--missing-ok")
        writing = started.enter_context(write()) if changed_here else None
        differences = list(parse_raw(git.read("diff-index", "--cached", *options, base)))
        if not differences:
            return repository.base_tree, []
        writing = writing or started.enter_context(write())  # only the index was changed
        return writing.read().decode().strip(), differences


def _entries(rows: list[Difference], untracked: frozenset[bytes]) -> tuple[Entry, ...]:
    entries = (
        Entry(path_text(row.path), row.new_mode, row.new_oid, row.path in untracked) for row in rows
    )
    return tuple(sorted(entries, key=lambda entry: entry.path))


def _join(git: Git, path: bytes) -> bytes:
    return os.path.join(os.fsencode(git.folder), path)


def _z(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _text(name: str) -> str:
    return path_text(os.fsencode(name))
