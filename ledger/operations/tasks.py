"""Create, list, show, move and complete Tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memprove.ledger.domain import completion, decide
from memprove.ledger.domain.capsule import Capsule
from memprove.ledger.domain.events import Judged, TaskMoved, TaskState
from memprove.ledger.domain.record import Record
from memprove.ledger.operations.base import (
    Answer,
    Operation,
    Receipt,
    Retryable,
    Work,
    about,
    about_session,
    last_seq,
)
from memprove.ledger.problems import ARGUMENT_INVALID, ROLE_FORBIDDEN
from memprove.ledger.projections import SessionRow, TaskRow
from memprove.ledger.scopes import Scope

_MOST_LISTED = 100


class TaskTold(Receipt, frozen=True, kw_only=True):
    """A Task and where it stands."""

    title: str
    state: TaskState


@dataclass(frozen=True, slots=True)
class CreateTask(Operation[TaskTold]):
    """Create a Task without beginning it."""

    sends: ClassVar = ("createTask", "resolveWorkspace", "listTasks")

    title: str
    description: str = ""
    state: TaskState = TaskState.PENDING

    def run(self, work: Work) -> TaskTold:
        """Append the Task."""
        work.workspace()
        if self.state not in (TaskState.BACKLOG, TaskState.PENDING):
            raise ARGUMENT_INVALID(f"a new Task is backlog or pending, not {self.state}")
        id = work.new_id()
        draft = decide.new_task(id, self.title, self.description, self.state)
        record = work.append(draft, task=id)
        number = int(record.labels[0][1:])
        return TaskTold(task_id=id, task=number, seq=record.seq, title=self.title, state=self.state)


class TaskList(Answer, frozen=True, kw_only=True):
    """Tasks by number; *next* is the number after which more follow, None at the end."""

    tasks: tuple[TaskRow, ...]
    next: int | None = None


@dataclass(frozen=True, slots=True)
class ListTasks(Operation[TaskList]):
    """List the Workspace's Tasks in *states* (all if empty), after number *after*."""

    sends: ClassVar = ("listTasks",)

    states: tuple[TaskState, ...] = ()
    limit: int = 20
    after: int = 0

    def run(self, work: Work) -> TaskList:
        """Read them."""
        if not 1 <= self.limit <= _MOST_LISTED:
            raise ARGUMENT_INVALID(f"limit is a number from 1 to {_MOST_LISTED}")
        found: list[TaskRow] = []
        for row in work.tasks(self.after):
            if self.states and row.state not in self.states:
                continue
            if len(found) == self.limit:
                return TaskList(tasks=tuple(found), next=found[-1].number)
            found.append(row)
        return TaskList(tasks=tuple(found))


@dataclass(frozen=True, slots=True)
class ReadTask(Operation[Capsule]):
    """Read the Capsule of Task *task*, else of the current one."""

    sends: ClassVar = ("getTaskCapsule", "listTasks")

    task: int | None = None

    def run(self, work: Work) -> Capsule:
        """Fold it."""
        return work.capsule(work.current_task(self.task)[0].id)


class Completed(Receipt, frozen=True, kw_only=True):
    """A Task was completed, on these Runs."""

    title: str
    state: TaskState = TaskState.COMPLETED
    judged: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class CompleteTask(Retryable[Completed]):
    """Complete the Session's Task on its Checks, or on the Runs that are named."""

    sends: ClassVar = ("transitionTask", "getTaskCapsule", "listTasks", "listSessions")

    runs: tuple[str, ...] = ()
    accept_stale: str = ""
    accept_untested: str = ""
    session: int | None = None

    def needs(self) -> frozenset[Scope]:
        """Need the owner to accept less than fresh tests."""
        accepting = self.accept_stale or self.accept_untested
        return frozenset({Scope.OWNER}) if accepting else frozenset()

    def subject(self, work: Work) -> Capsule:
        """Return the Capsule whose Runs are judged."""
        return work.capsule(work.session(self.session).task_id)

    def act(self, work: Work) -> None:
        """Append the completion."""
        session = work.session(self.session)
        _check_top_level(session)
        capsule = work.capsule(session.task_id)
        move = decide.move(capsule, TaskState.COMPLETED)  # may it go there at all?
        judged = completion.judge(
            work.evidence(capsule),
            runs=self.runs,
            kinds=work.completing_kinds(),
            accept_stale=self.accept_stale,
            accept_untested=self.accept_untested,
            spooled=work.spooled_counts(),
        )
        move = decide.move(capsule, TaskState.COMPLETED, completion=judged)
        work.append(move, task=session.task_id, session=session.number)

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> Completed:
        """Name the Task and the Runs."""
        event = records[-1].event
        assert isinstance(event, TaskMoved)
        assert event.completion is not None
        session = work.session_numbered(records[-1].leaf.actor.session or 0)
        return Completed(
            **about_session(session),
            seq=last_seq(records),
            replayed=replayed,
            title=work.task(session.task).title,
            judged=event.completion.judged,
        )


@dataclass(frozen=True, slots=True)
class MoveTask(Operation[TaskTold]):
    """Set the state of Task *task*; to completed only through the same gate as ``complete``."""

    sends: ClassVar = ("transitionTask", "getTaskCapsule", "listTasks")

    task: int
    state: TaskState
    comment: str = ""

    def subject(self, work: Work) -> Capsule | None:
        """Return the Capsule whose Runs are judged, if the Task is to be completed."""
        completing = self.state is TaskState.COMPLETED
        return work.capsule(work.task(self.task).id) if completing else None

    def run(self, work: Work) -> TaskTold:
        """Append the move."""
        row, session = work.current_task(self.task)
        capsule = work.capsule(row.id)
        draft = decide.move(capsule, self.state, self.comment)
        if self.state is TaskState.COMPLETED:
            _check_top_level(session)
            judged = completion.judge(
                work.evidence(capsule),
                kinds=work.completing_kinds(),
                spooled=work.spooled_counts(),
            )
            draft = decide.move(capsule, self.state, self.comment, judged)
        record = work.append(draft, task=row.id, session=session.number if session else None)
        return TaskTold(**about(row, session), seq=record.seq, title=row.title, state=self.state)


def _check_top_level(session: SessionRow | None) -> None:
    """Raise ``role_forbidden`` for a Session with a parent, which is the one to complete."""
    if session is not None and session.parent is not None:
        raise ROLE_FORBIDDEN(f"Session {session.number} has a parent, which completes")
