"""What changed between two snapshots of trees, by comparing object ids."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from memprove.ledger.workspace.git import Git, Unknown
from memprove.ledger.workspace.listing import is_own, parse_raw, path_text
from memprove.ledger.workspace.repository import EMPTY_TREE
from memprove.ledger.workspace.tree import COMPARE, Entry, Snapshot, is_manifest

_Content = tuple[int, str]
"""Mode and object id; (0, ""): not there."""

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Changes(msgspec.Struct, frozen=True):
    """The paths that differ between two snapshots; not *known*: they cannot be named."""

    known: bool
    paths: tuple[str, ...]
    """Sorted; spelled as in ``tree.Entry``."""


def changes(worktree: Path, before: Snapshot, after: Snapshot, *, deadline_s: float) -> Changes:
    """Return which paths differ between *before* and *after*.

    Git is asked only if their base commits differ, and then for at most *deadline_s* seconds; where
    one of these commits is not in the repository of *worktree*, the changes are not known.
    """
    if before.tree is not None and before.tree == after.tree:
        return Changes(True, ())
    if not (before.tree and after.tree and before.changed_known and after.changed_known):
        return Changes(False, ())
    if is_manifest(before.tree) != is_manifest(after.tree):  # it became a repository, or was one
        return Changes(False, ())
    try:
        moved = _between(worktree, before, after, deadline_s)
    except Unknown:
        return Changes(False, ())
    return Changes(True, tuple(sorted(_compare(before.changed, after.changed, moved))))


def _between(
    worktree: Path, before: Snapshot, after: Snapshot, deadline_s: float
) -> dict[str, tuple[_Content, _Content]]:
    """Return the paths that differ between the base commits, with both contents."""
    if before.base == after.base:
        return {}
    git = Git.find(worktree, deadline_s=deadline_s)
    bases = [_tree_ish(before.base, after.base), _tree_ish(after.base, before.base)]
    output = git.read("diff-tree", "-r", *COMPARE, "--ignore-submodules=none", *bases)
    return {
        path_text(row.path): ((row.old_mode, row.old_oid), (row.new_mode, row.new_oid))
        for row in parse_raw(output)
        if not is_own(row.path)
    }


def _tree_ish(base: str | None, other: str | None) -> str:
    """Return *base*, or before the first commit the empty tree in the object format of *other*."""
    if base is None:
        return EMPTY_TREE["sha256" if len(other or "") == 64 else "sha1"]
    if not _OID.fullmatch(base):
        raise Unknown("base_invalid")
    return base


def _compare(
    before: Iterable[Entry],
    after: Iterable[Entry],
    moved: Mapping[str, tuple[_Content, _Content]],
) -> Iterable[str]:
    """Yield the paths whose content differs when the rows lie over the bases."""
    old = {entry.path: (entry.mode, entry.oid) for entry in before}
    new = {entry.path: (entry.mode, entry.oid) for entry in after}
    for path in old.keys() | new.keys() | moved.keys():
        # A path that the bases have in common is None on a side without a row: a row differs from
        # its base, so it differs from None too.
        under_old, under_new = moved.get(path, (None, None))
        if old.get(path, under_old) != new.get(path, under_new):
            yield path
