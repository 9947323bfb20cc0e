"""Register, attach and list Workspaces."""

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from memprove.ledger.domain.events import WorkspaceAttached, WorkspaceRegistered
from memprove.ledger.domain.record import Draft
from memprove.ledger.operations.base import Operation, Work
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    WORKSPACE_MISMATCH,
    WORKSPACE_UNREGISTERED,
    Problem,
)
from memprove.ledger.projections import WorkspaceRow


class WorkspaceTold(msgspec.Struct, frozen=True, kw_only=True):
    """A Workspace; *seq* 0: it was registered already."""

    id: str
    number: int
    name: str
    root: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class RegisterWorkspace(Operation[WorkspaceTold]):
    """Register a project root. The same root with the same identity again changes nothing."""

    sends: ClassVar = ("registerWorkspace", "resolveWorkspace")
    verbatim: ClassVar = frozenset({"root"})

    name: str
    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...] = ()

    def run(self, work: Work) -> WorkspaceTold:
        """Append the registration."""
        for row in work.workspaces():
            same_folder = (row.device, row.inode) == (self.device, self.inode)
            same_history = self.root_commits and set(row.root_commits) == set(self.root_commits)
            if row.root == self.root and (same_folder or same_history):
                return _told(row)
        if (moved := self._moved(work)) is not None:
            return moved
        event = WorkspaceRegistered(
            id=work.new_id(),
            name=self.name,
            root=self.root,
            kind=self.kind,
            device=self.device,
            inode=self.inode,
            root_commits=self.root_commits,
        )
        record = work.append(Draft(event, ("ws",)), workspace=event.id)
        row = next(row for row in work.workspaces() if row.id == event.id)
        return _told(row, record.seq)

    def _moved(self, work: Work) -> WorkspaceTold | None:
        """Attach the Workspace that stood elsewhere before and is recognized here, if one is."""
        try:
            number, met = work.workspace().number, work.worktree
        except Problem as problem:
            if problem.kind not in (WORKSPACE_UNREGISTERED, WORKSPACE_MISMATCH):
                raise
            return None
        if met != self.root:
            return None  # a Workspace around this one
        return AttachWorkspace(
            number=number,
            root=self.root,
            kind=self.kind,
            device=self.device,
            inode=self.inode,
            root_commits=self.root_commits,
        ).run(work)


@dataclass(frozen=True, slots=True)
class AttachWorkspace(Operation[WorkspaceTold]):
    """Say that Workspace *number* is at another root now, or is another copy of it."""

    sends: ClassVar = ("registerWorkspace", "resolveWorkspace")
    verbatim: ClassVar = frozenset({"root"})

    number: int
    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...] = ()

    def run(self, work: Work) -> WorkspaceTold:
        """Append the new place."""
        rows = {row.number: row for row in work.workspaces()}
        if self.number not in rows:
            raise WORKSPACE_UNREGISTERED(f"no Workspace {self.number}")
        for row in rows.values():
            if row.root == self.root and row.number != self.number:
                raise ARGUMENT_INVALID(f"{self.root} is Workspace {row.number} already")
        event = WorkspaceAttached(
            root=self.root,
            kind=self.kind,
            device=self.device,
            inode=self.inode,
            root_commits=self.root_commits,
        )
        record = work.append(Draft(event), workspace=rows[self.number].id)
        row = next(row for row in work.workspaces() if row.number == self.number)
        return _told(row, record.seq)


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Where the caller is: *below* is its directory below *worktree*, ``.`` for the root.

    *filters*: the repository's own filter drivers that the owner lets run.
    """

    workspace: str
    worktree: str
    below: str
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindWorkspace(Operation[Where]):
    """Find the Workspace that the caller (or *cwd*) is in."""

    sends: ClassVar = ("resolveWorkspace",)
    verbatim: ClassVar = frozenset({"cwd"})

    cwd: str | None = None

    def run(self, work: Work) -> Where:
        """Resolve it."""
        id = work.workspace().id
        return Where(
            workspace=id,
            worktree=work.worktree,
            below=work.below(self.cwd),
            filters=work.allowed_filters(),
        )


class WorkspaceList(msgspec.Struct, frozen=True, kw_only=True):
    """All Workspaces."""

    workspaces: tuple[WorkspaceTold, ...]


@dataclass(frozen=True, slots=True)
class ListWorkspaces(Operation[WorkspaceList]):
    """List all Workspaces."""

    sends: ClassVar = ("resolveWorkspace",)

    def run(self, work: Work) -> WorkspaceList:
        """Read them."""
        return WorkspaceList(workspaces=tuple(_told(row) for row in work.workspaces()))


def _told(row: WorkspaceRow, seq: int = 0) -> WorkspaceTold:
    return WorkspaceTold(id=row.id, number=row.number, name=row.name, root=row.root, seq=seq)
