"""Begin and end work on a Task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memprove.ledger.domain import decide, limits
from memprove.ledger.domain.events import SessionEnded, SessionStarted, TaskCreated, TaskState
from memprove.ledger.domain.labels import split_label
from memprove.ledger.domain.record import Draft, Record
from memprove.ledger.operations.base import (
    Operation,
    Receipt,
    Retryable,
    Work,
    about_session,
    last_seq,
)
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    ARGUMENT_MISSING,
    CONTEXT_INVALID,
    SESSION_ENDED,
    Problem,
)
from memprove.ledger.projections import SessionRow


class Begun(Receipt, frozen=True, kw_only=True):
    """A Session was begun: of which Task, by whom; *reopened* tells what the Task's state was."""

    title: str
    agent: str
    role: str
    state: str
    created: bool
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class BeginWork(Retryable[Begun]):
    """Begin a Session on Task *task*, or on a new Task titled *new_task*."""

    sends: ClassVar = (
        "listSessions",
        "resolveWorkspace",
        "createTask",
        "listTasks",
        "createSession",
        "transitionTask",
    )

    task: int | None = None
    new_task: str | None = None
    description: str = ""
    agent: str | None = None
    role: str | None = None
    parent: int | None = None

    def is_meant_each_time(self) -> bool:
        """Tell sub-agents apart: several may begin on one Task alike. A Task is made once."""
        return self.parent is not None and self.new_task is None

    def act(self, work: Work) -> None:
        """Append the Task if it is new, the Session, and the Task's move to in_progress."""
        agent, role, parent = self._who(work)
        if (self.task is None) == (self.new_task is None):
            raise ARGUMENT_MISSING("exactly one of a Task's number and a new Task's title")
        if self.new_task is not None:
            id = work.new_id()
            work.append(
                decide.new_task(id, self.new_task, self.description), task=id, session=parent
            )
        else:
            id = work.task(self.task or 0).id
        key = work.new_spool_key()
        started = SessionStarted(
            id=work.new_id(),
            agent=agent,
            role=role,
            parent=parent,
            worktree=work.worktree,
            spool_key=key.digest,
        )
        record = work.append(Draft(started, ("s",)), task=id, session=parent)
        number = split_label(record.labels[0])[1]
        work.hand_out(number, key)
        capsule = work.capsule(id)
        if capsule.state is not TaskState.IN_PROGRESS:
            work.append(decide.move(capsule, TaskState.IN_PROGRESS), task=id, session=number)
        if parent is None:
            work.point(work.session_numbered(number))

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> Begun:
        """Name the Session and its Task."""
        label = next(r.labels[0] for r in records if isinstance(r.event, SessionStarted))
        session = work.session_numbered(split_label(label)[1])
        task = work.task(session.task)
        return Begun(
            **about_session(session),
            seq=last_seq(records),
            replayed=replayed,
            title=task.title,
            agent=session.agent,
            role=session.role,
            state=task.state,
            created=any(isinstance(r.event, TaskCreated) for r in records),
            parent=session.parent,
        )

    def _who(self, work: Work) -> tuple[str, str, int | None]:
        before = _pointed(work)
        agent = self.agent or work.variable("MEMPROVE_AGENT_NAME") or (before and before.agent)
        role = self.role or work.variable("MEMPROVE_AGENT_ROLE") or (before and before.role) or ""
        agent = agent or "unnamed"
        limits.check_text("agent name", agent, limits.NAME)
        limits.check_text("agent role", role, limits.NAME)
        parent = self.parent
        if parent is None and (text := work.variable("MEMPROVE_PARENT_SESSION")):
            if not (text.isascii() and text.isdigit() and len(text) < 10):
                raise ARGUMENT_INVALID(f"MEMPROVE_PARENT_SESSION is no number: {text}")
            parent = int(text)
        if parent is not None and work.session_numbered(parent).ended_at is not None:
            raise SESSION_ENDED(parent)
        return agent, role, parent


def _pointed(work: Work) -> SessionRow | None:
    """Return the Session of the caller's context; one that does not fit is what begin mends."""
    try:
        return work.pointed_session()
    except Problem as problem:
        if problem.kind is not CONTEXT_INVALID:
            raise
        return None


class Ended(Receipt, frozen=True, kw_only=True):
    """A Session was ended; the Task's state stays what it is."""

    state: str
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class EndSession(Retryable[Ended]):
    """End the caller's Session, or as *abandoned* another one by its number."""

    sends: ClassVar = ("endSession", "getTaskCapsule", "listSessions", "listTasks")

    note: str = ""
    abandoned: int | None = None
    session: int | None = None

    def act(self, work: Work) -> None:
        """Append the end."""
        number = self.abandoned if self.abandoned is not None else self.session
        session = work.session(number)
        draft = decide.end(
            work.capsule(session.task_id), session.number, self.note, self.abandoned is not None
        )
        acting = None if self.abandoned is not None else session.number
        work.append(draft, task=session.task_id, session=acting)

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> Ended:
        """Name what was ended."""
        event = records[-1].event
        assert isinstance(event, SessionEnded)
        session = work.session_numbered(event.session)
        return Ended(
            **about_session(session),
            seq=last_seq(records),
            replayed=replayed,
            state=work.task(session.task).state,
            abandoned=event.abandoned,
        )


@dataclass(frozen=True, slots=True)
class EndClientSession(Operation[int | None]):
    """End the Session that the caller's client session began, if it is open; return its number.

    No other one is ended: neither another window's, nor one that is only open in the same place.
    """

    sends: ClassVar = ("endSession", "getTaskCapsule", "listSessions", "listTasks")

    note: str = ""

    def run(self, work: Work) -> int | None:
        """Append the end."""
        session = work.pointed_session()
        if session is None or session.ended_at is not None:
            return None
        draft = decide.end(work.capsule(session.task_id), session.number, self.note, False)
        work.append(draft, task=session.task_id, session=session.number)
        return session.number
