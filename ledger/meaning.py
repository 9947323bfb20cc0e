"""Which Session a caller means: the argument, the environment, the context, the only open one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    CONTEXT_INVALID,
    SESSION_AMBIGUOUS,
    SESSION_ENDED,
    SESSION_MISSING,
)
from memprove.ledger.projections import SessionRow, decode_row, numbered

if TYPE_CHECKING:
    from memprove.ledger.work import Transaction


def open_session(work: Transaction, number: int | None) -> SessionRow:
    """Return the open Session that a write is about; *number*: the argument."""
    if number is None:
        number = _environment(work)
    if number is not None:
        session = work.session_numbered(number)
        if session.ended_at is not None:
            raise SESSION_ENDED(number)
        return session
    pointed = pointed_session(work)
    if pointed is None:
        return _only_open(work)
    if pointed.ended_at is not None:
        raise SESSION_ENDED(pointed.number)  # another one that is open is somebody else's
    _check_newest(work, pointed)
    return pointed


def read_session(work: Transaction) -> SessionRow | None:
    """Return the Session that a read is about; ended ones count, none is no Problem."""
    number = _environment(work)
    if number is not None:
        return work.session_numbered(number)
    pointed = pointed_session(work)
    if pointed is not None:
        return pointed
    sessions = _top_level_here(work)
    return sessions[0] if len(sessions) == 1 else None


def pointed_session(work: Transaction) -> SessionRow | None:
    """Return the Session that the caller's context points to, as the ledger has it.

    Raises ``context_invalid`` for a context that does not fit the ledger.
    """
    context = work.around.context(work.workspaces())
    if context is None:
        return None
    workspace = work.workspace()
    if context.workspace != workspace.id:
        raise CONTEXT_INVALID("it is of another Workspace")
    value = work.reader.row("session", numbered(workspace.id, context.session_number))
    session = decode_row(SessionRow, value) if value is not None else None
    if session is None or (session.id, session.task_id) != (context.session, context.task):
        raise CONTEXT_INVALID(f"it names Session {context.session_number} of another Task")
    return session


def _check_newest(work: Transaction, pointed: SessionRow) -> None:
    """Raise if this client began a later Session: its context could not follow."""
    mark = work.around.client_mark
    here = _top_level_here(work)
    later = [s for s in here if s.client == mark and s.number > pointed.number]
    if later:
        named = (pointed.number, *(session.number for session in later))
        raise SESSION_AMBIGUOUS(", ".join(map(str, named)))


def _top_level_here(work: Transaction) -> list[SessionRow]:
    """Return the open Sessions of this work tree that have no parent."""
    here = work.worktree
    return [s for s in work.open_sessions() if s.worktree == here and s.parent is None]


def _only_open(work: Transaction) -> SessionRow:
    sessions = _top_level_here(work)
    if len(sessions) == 1:
        return sessions[0]
    if sessions:
        raise SESSION_AMBIGUOUS(", ".join(str(session.number) for session in sessions))
    raise SESSION_MISSING()


def _environment(work: Transaction) -> int | None:
    text = work.variable("MEMPROVE_SESSION")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ARGUMENT_INVALID(f"MEMPROVE_SESSION is no number: {text}")
    return int(text)
