"""Propose a Decision; accept or reject one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memprove.ledger.domain import decide
from memprove.ledger.domain.events import DecisionState
from memprove.ledger.domain.labels import parse_label
from memprove.ledger.domain.record import Record
from memprove.ledger.operations.base import (
    Operation,
    Receipt,
    Retryable,
    Work,
    about,
    about_session,
    last_seq,
)


class DecisionTold(Receipt, frozen=True, kw_only=True):
    """A Decision and where it stands."""

    decision: str
    state: DecisionState


@dataclass(frozen=True, slots=True)
class ProposeDecision(Retryable[DecisionTold]):
    """Record a choice with its rationale and alternatives."""

    sends: ClassVar = ("getTaskCapsule", "proposeDecision", "listTasks", "listSessions")

    title: str
    choice: str
    rationale: str
    alternatives: tuple[str, ...] = ()
    supersedes: str = ""
    evidence: tuple[str, ...] = ()
    session: int | None = None

    def act(self, work: Work) -> None:
        """Append the proposal."""
        session = work.session(self.session)
        draft = decide.propose(
            work.capsule(session.task_id),
            outcomes=work.outcomes,
            title=self.title,
            choice=self.choice,
            rationale=self.rationale,
            alternatives=self.alternatives,
            supersedes=self.supersedes,
            evidence=self.evidence,
        )
        work.append(draft, task=session.task_id, session=session.number)

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> DecisionTold:
        """Name the Decision."""
        record = records[-1]
        session = work.session_numbered(record.leaf.actor.session or 0)
        return DecisionTold(
            **about_session(session),
            seq=last_seq(records),
            replayed=replayed,
            decision=record.labels[0],
            state=DecisionState.PROPOSED,
        )


@dataclass(frozen=True, slots=True)
class DecideDecision(Operation[DecisionTold]):
    """Accept or reject a Decision of Task *task* (else of the current one), as its owner."""

    sends: ClassVar = ("decideDecision", "getTaskCapsule", "listTasks", "listSessions")

    decision: str
    outcome: DecisionState
    comment: str = ""
    task: int | None = None

    def run(self, work: Work) -> DecisionTold:
        """Append the owner's word."""
        task, session = work.current_task(self.task)
        draft = decide.decide(work.capsule(task.id), self.decision, self.outcome, self.comment)
        number = session.number if session else None
        record = work.append(draft, task=task.id, session=number)
        return DecisionTold(
            **about(task, session),
            seq=record.seq,
            decision=parse_label(self.decision, "d"),
            state=self.outcome,
        )
