"""After a write: the caller's context is written anew, whole, from the ledger."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memprove.ledger.domain.run import Run, take
from memprove.ledger.paths import from_text
from memprove.ledger.place import Surroundings
from memprove.ledger.problems import Problem
from memprove.ledger.projections import SessionRow
from memprove.ledger.work import Transaction
from memprove.ledger.workspace import context as contexts
from memprove.ledger.workspace.spool import write_key

if TYPE_CHECKING:
    from memprove.ledger.domain.spool import SpoolKey

_MOST_RUNS: Final = 50
_MOST_EVENTS: Final = 150


def write_context(work: Transaction, pointed: SessionRow | None, around: Surroundings) -> None:
    """Write the context for *pointed*, else for the Session that it points to already.

    A context that cannot be written is noted, never a failure: what it points to is recorded.
    """
    try:
        before = around.context(work.workspaces())
        session = pointed or work.pointed_session()
        if session is None:
            return
        context = _context(work, session)
        if context != before:
            contexts.write_context(from_text(work.worktree), around.client, context)
    except (Problem, OSError) as error:
        if pointed is None:
            around.notes.append(f"the context was not written: {error}")
            return
        reason = error.code if isinstance(error, Problem) else error.strerror
        name = f"name this Session: --session {pointed.number}"
        around.notes.append(f"the context was not written: {reason}; {name}")
        with suppress(Problem, OSError):  # the old pointer would lead to another Session
            contexts.remove_context(from_text(work.worktree), around.client)


def leave_spool_key(work: Transaction, session: int, key: SpoolKey) -> None:
    """Leave *key* in the work tree for the shells of *session*: without it they cannot spool."""
    from memprove.ledger.domain.spool import encode_key  # late: only begin needs it

    try:
        write_key(from_text(work.worktree), session, encode_key(key))
    except Problem as problem:
        work.around.notes.append(f"no Run can be spooled for Session {session}: {problem}")


def _context(work: Transaction, session: SessionRow) -> contexts.Context:
    """Return the context of *session*. Only the Task's newest events are read: it is a pointer."""
    newest = work.newest_records(session.task_id, _MOST_EVENTS)
    runs: dict[str, Run] = {}
    for record in newest:
        take(runs, record)
    return contexts.Context(
        workspace=work.workspace().id,
        task=session.task_id,
        task_number=session.task,
        session=session.id,
        session_number=session.number,
        agent=session.agent,
        role=session.role,
        runs=tuple((run.label, str(run.verdict)) for run in list(runs.values())[-_MOST_RUNS:]),
    )
