"""Tell an agent what it starts from: what hooks put before a conversation, or before a sub-agent.

Limits count UTF-8 bytes. Clients cut at a number of these, or of UTF-16 units, which are no more.
"""

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from memprove.ledger.domain import pack, printing
from memprove.ledger.domain.events import TaskState
from memprove.ledger.operations.base import Answer, Operation, Work, about
from memprove.ledger.operations.packs import opening
from memprove.ledger.problems import CONTEXT_INVALID, TASK_UNKNOWN, Problem
from memprove.ledger.projections import SessionRow, TaskRow

CLEARED = frozenset({"clear", "fork"})
"""Sources of a conversation that goes on under another client session."""

COMPACTED = (
    "The conversation before this was compacted: what it found and no checkpoint states is only"
    " in its summary."
)


class Start(Answer, frozen=True, kw_only=True):
    """What an agent starts from; *text* may be empty. *spooled*: Runs wait in the spool."""

    text: str = ""
    spooled: bool = False


class ReadStart(Operation[Start], msgspec.Struct, frozen=True):
    """Read the opening statement and the Pack, together at most *limit* bytes.

    *source* is why the conversation starts, as the client says; *window* the number of the client's
    process and *earlier* the client session before this one, each empty if it is not known.
    """

    sends: ClassVar = ("getTaskCapsule", "listTasks")
    verbatim: ClassVar = frozenset({"window", "earlier", "source"})

    limit: int
    source: str = ""
    window: str = ""
    earlier: str = ""

    def run(self, work: Work) -> Start:
        """Follow the client session, then fold, judge and render."""
        if self.source in CLEARED:
            work.follow(window=self.window, earlier=self.earlier)
        if self.window:
            work.remember(self.window)
        try:
            task, session = work.current_task()
        except Problem as problem:
            return Start(text=_idle(work, problem), spooled=work.has_spooled())
        evidence = work.task_evidence(task.id)
        also = list(self._also(work, session))
        head = f"{opening(work, evidence.capsule, session, also)}\n\n"
        budget = self.limit - printing.utf8_len(head)
        body = pack.render(evidence, budget=budget, size=printing.utf8_len)
        return Start(**about(task, session), text=head + body, spooled=work.has_spooled())

    def _also(self, work: Work, session: SessionRow | None) -> Iterator[str]:
        if self.source == "compact":
            yield COMPACTED
        others = [str(row.number) for row in _top_level(work)] if session is None else []
        if len(others) > 1:
            yield f"Sessions {', '.join(others[:9])} are open here: name yours with --session."


class AdoptSpool(Operation[None], msgspec.Struct, frozen=True):
    """Adopt what a shut-in shell spooled, as every write does, and write no more."""

    sends: ClassVar = ("recordRun", "listSessions", "resolveWorkspace")

    def run(self, work: Work) -> None:
        """Do nothing: it was done before."""


class ReadSubStart(Operation[Start], msgspec.Struct, frozen=True):
    """Read what a sub-agent of the caller starts from: at most *limit* bytes, empty if nothing."""

    sends: ClassVar = ("getTaskCapsule", "listTasks")

    limit: int

    def run(self, work: Work) -> Start:
        """Fold, judge and render, under one line."""
        try:
            task, session = work.current_task()
        except Problem as problem:
            if problem.kind not in (TASK_UNKNOWN, CONTEXT_INVALID):
                raise
            return Start()
        head = f"{_led(task, session)} {pack.DATA_NOT_INSTRUCTIONS}\n\n"
        evidence = work.task_evidence(task.id)
        budget = self.limit - printing.utf8_len(head)
        body = pack.render(evidence, budget=budget, size=printing.utf8_len)
        return Start(**about(task, session), text=head + body)


def _led(task: TaskRow, session: SessionRow | None) -> str:
    if session is None:
        return f"This is about Task {task.number}."
    return (
        f"You work for Session {session.number} on Task {task.number}; a Session of your own:"
        f" `memprove begin --task {task.number} --parent {session.number}`."
    )


def _idle(work: Work, problem: Problem) -> str:
    """Return what to say where no Task is the current one."""
    if problem.kind is CONTEXT_INVALID:
        return f"memprove: {problem.kind.sentence}.\n"
    if problem.kind is not TASK_UNKNOWN:
        raise problem
    waiting = sum(task.state in (TaskState.BACKLOG, TaskState.PENDING) for task in work.tasks())
    listed = f"; `memprove tasks` lists {waiting} that wait" if waiting else ""
    return (
        "memprove keeps the record of work in this Workspace. No Task is in progress:"
        f' `memprove begin "TITLE"` begins one{listed}.\n'
    )


def _top_level(work: Work) -> list[SessionRow]:
    here = work.worktree
    return [row for row in work.open_sessions() if row.worktree == here and row.parent is None]
