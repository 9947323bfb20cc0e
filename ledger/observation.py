"""The working tree as the ledger sees it: from git's answer to what events and proofs hold."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from memprove.ledger.domain.events import TreeState
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.workspace import tree as trees
from memprove.ledger.workspace.changes import changes
from memprove.ledger.workspace.config import WorkspaceConfig, read_config
from memprove.ledger.workspace.resolve import place_at

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule
    from memprove.ledger.domain.evidence import Changes, Today

TREE_DEADLINE_S: Final = 10.0
MOST_NAMED: Final = 20
_MOST_COMPARED: Final = 20  # trees: others read as stale, paths unknown
_MOST_SNAPSHOT: Final = 64 * 1024 * 1024  # bytes: the most rows there are, with long paths

ReadBlob = Callable[[str, int], bytes]
"""Give what the blob with this digest holds, which is at most that many bytes."""

_ROWS: Final = msgspec.json.Decoder(list[tuple[str, int, str]])


class Observation:
    """One look at a work tree; what it costs is paid once, and only if asked for.

    *config*: what holds in place of the work tree's own configuration.
    """

    def __init__(
        self,
        worktree: Path,
        *,
        deadline_s: float = TREE_DEADLINE_S,
        allowed_filters: frozenset[str] = frozenset(),
        config: WorkspaceConfig | None = None,
    ) -> None:
        self.worktree = worktree
        self._deadline_s = deadline_s
        self._allowed_filters = allowed_filters
        self._tree: trees.Tree | None = None
        self._config = config

    def again(self) -> Observation:
        """Return a new look at the same work tree."""
        return Observation(
            self.worktree, deadline_s=self._deadline_s, allowed_filters=self._allowed_filters
        )

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Look at the tree while the block runs: git takes processors of its own."""
        looking = threading.Thread(target=self._look_ahead, name="tree")
        looking.start()
        try:
            yield
        finally:
            looking.join()  # it holds scratch files

    def _look_ahead(self) -> None:
        with suppress(Exception):  # whoever asks for the tree meets it again
            _ = self.tree

    @property
    def tree(self) -> trees.Tree:
        """Return the tree as it is (was, when first asked)."""
        if self._tree is None:
            self._tree = self._read_tree()
        return self._tree

    def _read_tree(self) -> trees.Tree:
        if place_at(self.worktree).kind == "folder":
            from memprove.ledger.workspace.manifest import read_manifest  # late: start-up time

            return read_manifest(self.worktree, deadline_s=self._deadline_s)
        return trees.read_tree(
            self.worktree, deadline_s=self._deadline_s, allowed_filters=self._allowed_filters
        )

    @property
    def config(self) -> WorkspaceConfig:
        """Return the Workspace's configuration."""
        if self._config is None:
            self._config = read_config(self.worktree)
        return self._config

    def state(self) -> tuple[TreeState, bytes | None]:
        """Return the tree for an event, and the blob that its snapshot names."""
        tree = self.tree
        data = _encode(tree) if tree.id is not None and tree.changed_known else None
        state = TreeState(
            id=tree.id,
            reason=tree.reason,
            base=tree.base,
            branch=tree.branch,
            snapshot=None if data is None else sha256(data).hexdigest(),
            hidden=tree.hidden,
        )
        return state, data

    def today(self, capsule: Capsule, read_blob: ReadBlob) -> Today:
        """Return the tree for proofs about *capsule*, with what changed since its Runs."""
        from memprove.ledger.domain.evidence import Evidence, Today  # late: no Run needs it

        end = time.monotonic() + self._deadline_s  # one for the tree and for all comparisons
        tree, ignore = self.tree, self.config.ignore
        plain = Today(tree.id, tree.reason, ignore)
        if tree.id is None:
            return plain
        wanted = Evidence(capsule, plain).trees_in_question()[:_MOST_COMPARED]
        changed = {state.id: self._changes(state, read_blob, end) for state in wanted if state.id}
        return Today(tree.id, tree.reason, ignore, MappingProxyType(changed))

    def _changes(self, state: TreeState, read_blob: ReadBlob, end: float) -> Changes:
        from memprove.ledger.domain.evidence import Changes  # late: no Run needs it

        if state.snapshot is None or state.id is None or not self.tree.changed_known:
            return Changes(False)
        entries = _decode(read_blob(state.snapshot, _MOST_SNAPSHOT))
        before = trees.Snapshot(state.id, state.base, entries, True)
        left = max(end - time.monotonic(), 0.0)
        found = changes(self.worktree, before, self.tree.snapshot, deadline_s=left)
        kept = tuple(path for path in found.paths if not self.config.ignores(path))
        return Changes(found.known, kept)


class Differences(msgspec.Struct, frozen=True):
    """What a Run did to the tree. *products* were not tracked; *moved* makes it prove nothing.

    Outside git, where nothing says what is a source, everything that was there before is tracked.
    Of each at most MOST_NAMED are named, the counts are whole.
    """

    moved: tuple[str, ...]
    moved_count: int
    products: tuple[str, ...]
    product_count: int


def differences(before: Observation, after: Observation) -> Differences:
    """Return what changed between two looks at one work tree; unknown trees show nothing."""
    found = changes(
        after.worktree, before.tree.snapshot, after.tree.snapshot, deadline_s=TREE_DEADLINE_S
    )
    untracked = _untracked(before.tree, after.tree)
    products = [path for path in found.paths if path in untracked]
    moved = [p for p in found.paths if p not in untracked and not before.config.is_output(p)]
    return Differences(
        tuple(moved[:MOST_NAMED]), len(moved), tuple(products[:MOST_NAMED]), len(products)
    )


def _untracked(before: trees.Tree, after: trees.Tree) -> set[str]:
    if trees.is_manifest(after.id):
        there = {entry.path for entry in before.changed}
        return {entry.path for entry in after.changed if entry.path not in there}
    return {entry.path for entry in (*before.changed, *after.changed) if entry.untracked}


def _encode(tree: trees.Tree) -> bytes:
    rows = [(entry.path, entry.mode, entry.oid) for entry in tree.changed]
    return zlib.compress(msgspec.json.encode(rows))


def _decode(plain: bytes) -> tuple[trees.Entry, ...]:
    try:
        rows = _ROWS.decode(plain)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LEDGER_DAMAGED(f"a snapshot of a tree: {error}") from None
    return tuple(trees.Entry(path, mode, oid, False) for path, mode, oid in rows)
