"""Which client session follows which: a cleared or forked conversation goes on with its Session.

A client gives such a conversation a new id and does not say the old one. Two things tell it: the
client's environment, where it still names the old one; and ``.memprove/context/windows``, in which
the hooks keep what each window (a process of the client) showed last. Where neither does, the rule
for a client session without a context holds. A pointer is all that is handed on, and it must fit
the ledger; what cannot be read or written is no failure.
"""

from contextlib import suppress

from memprove.ledger.paths import from_text
from memprove.ledger.place import Surroundings
from memprove.ledger.problems import CONTEXT_INVALID, Problem
from memprove.ledger.work import Transaction
from memprove.ledger.workspace import context as contexts


def follow(work: Transaction, around: Surroundings, *, window: str, earlier: str) -> None:
    """Hand the context of the client session before on to this one, if it has none of its own.

    That is *earlier*, else what *window* showed last; empty: not known.
    """
    rows = work.workspaces()
    before = earlier or contexts.read_windows(from_text(work.worktree)).get(window, "")
    if not before or before == around.client or around.context(rows) is not None:
        return
    if around.take_context(before) and _fits(work):
        context = around.context(rows)
        assert context is not None
        with suppress(Problem, OSError):  # a read-only Workspace
            contexts.write_context(from_text(work.worktree), around.client, context)
    else:
        around.drop_context()


def remember(work: Transaction, around: Surroundings, window: str) -> None:
    """Keep that *window* shows the caller's client session now."""
    worktree = from_text(work.worktree)
    windows = contexts.read_windows(worktree)
    if windows.get(window) == around.client:
        return
    windows.pop(window, None)
    with suppress(Problem, OSError, ValueError):
        contexts.write_windows(worktree, {**windows, window: around.client})


def _fits(work: Transaction) -> bool:
    try:
        return work.pointed_session() is not None
    except Problem as problem:
        if problem.kind is not CONTEXT_INVALID:
            raise
        return False
