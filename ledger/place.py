"""The caller's surroundings: the Workspace and work tree that it is in, its client session."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, cast

from memprove.ledger.paths import from_text
from memprove.ledger.problems import Problem
from memprove.ledger.projections import WorkspaceRow
from memprove.ledger.settings import Caller
from memprove.ledger.workspace import context as contexts
from memprove.ledger.workspace import files, resolve
from memprove.ledger.workspace.repository import root_commits

HINT = "workspace"
"""The file under ``.memprove/`` that holds a Workspace's id: a hint, believed after a check."""


class Surroundings:
    """What surrounds one operation. Looked at once, when first asked for."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.client = contexts.client_session(caller.env)
        self.notes: list[str] = []
        self._match: resolve.Match | None = None
        self._context: contexts.ContextRead | None = None

    @property
    def client_mark(self) -> str:
        """Return the client session as events name it: hashed, for it may be a person's."""
        return sha256(b"memprove client\n" + self.client.encode("utf-8", "replace")).hexdigest()[
            :16
        ]

    def variable(self, name: str) -> str | None:
        """Return an environment variable of the caller, without secrets."""
        value = self.caller.variable(name)
        if not value:
            return value
        from memprove.ledger.domain.redaction import Redactor, environment_secrets  # late: 15 ms

        return Redactor(environment_secrets(self.caller.env)).text(value)

    def match(self, rows: Sequence[WorkspaceRow]) -> resolve.Match:
        """Return the Workspace among *rows* that the caller is in."""
        if self._match is None:
            places = resolve.locate(self.caller.cwd)
            registered = [_registered(row) for row in rows]
            self._match = resolve.match(
                places, registered, hint=_hint, root_commits=self._root_commits
            )
        return self._match

    def worktree(self, rows: Sequence[WorkspaceRow], named: str) -> Path:
        """Return the work tree *named*, if it is still one of the Workspace; else the caller's.

        The tools' server stays where its client started it, wherever its agent works.
        """
        here = self.match(rows).place
        if not named:
            return here.worktree
        there = resolve.place_at(from_text(named))
        return there.worktree if there.root == here.root else here.worktree

    def context(self, rows: Sequence[WorkspaceRow]) -> contexts.Context | None:
        """Return the caller's context; one that cannot be read is moved aside and noted."""
        if self._context is None:
            self._context = contexts.read_context(self.match(rows).place.worktree, self.client)
            if self._context.note:
                self.notes.append(self._context.note)
        return self._context.context

    def has_spooled(self, rows: Sequence[WorkspaceRow]) -> bool:
        """Tell whether a Run waits in the spool of the caller's work tree."""
        from memprove.ledger.workspace.spool import has_spooled  # late: only hooks ask

        try:
            return has_spooled(self.match(rows).place.worktree)
        except Problem:
            return False  # it cannot be read, which is for others to say

    def take_context(self, client: str) -> bool:
        """Let the caller's client session point to where *client* does, which has been matched."""
        assert self._match is not None
        found = contexts.read_context(self._match.place.worktree, client)
        if found.context is not None:
            self._context = found
        return found.context is not None

    def drop_context(self) -> None:
        """Let the caller's client session point nowhere; its file stays as it is."""
        self._context = contexts.ContextRead(None, "")

    def context_file(self) -> tuple[str, contexts.Context | None]:
        """Return the client session, and its context file's words: nearest upwards, unchecked."""
        for place in resolve.locate(self.caller.cwd):
            found = contexts.load_context(place.worktree, self.client)
            if found is not None or place.kind == "git":
                return self.client, found
        return self.client, None

    def _root_commits(self, place: resolve.Place) -> tuple[str, ...]:
        return root_commits(place.worktree, deadline_s=self.caller.patience_s)


def _registered(row: WorkspaceRow) -> resolve.Registered:
    return resolve.Registered(
        id=row.id,
        number=row.number,
        name=row.name,
        root=from_text(row.root),
        kind=cast(Literal["git", "folder"], row.kind),
        device=int(row.device),
        inode=int(row.inode),
        root_commits=row.root_commits,
    )


def _hint(place: resolve.Place) -> str | None:
    data = files.read_local(place.worktree, HINT)
    return None if data is None else data.decode("utf-8", "replace").strip()
