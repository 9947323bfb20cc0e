"""State what a Session knows at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memprove.ledger.domain import decide
from memprove.ledger.domain.events import CheckpointRecorded, Fact
from memprove.ledger.domain.labels import parse_citation
from memprove.ledger.domain.record import Record
from memprove.ledger.operations.base import Receipt, Retryable, Work, about_session, last_seq


class Checkpointed(Receipt, frozen=True, kw_only=True):
    """The labels that a checkpoint gave, and what it did to earlier ones.

    *asserted*: those of the new claims that cite no Run, and so prove nothing.
    """

    claims: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    reaffirmed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    next_action: str = ""
    asserted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordCheckpoint(Retryable[Checkpointed]):
    """State facts, open and closed items, reaffirmed and withdrawn claims, the next action."""

    sends: ClassVar = ("getTaskCapsule", "createCheckpoint", "listTasks", "listSessions")

    facts: tuple[Fact, ...] = ()
    open_items: tuple[str, ...] = ()
    closed_items: tuple[str, ...] = ()
    reaffirm: tuple[str, ...] = ()
    withdraw: tuple[str, ...] = ()
    next_action: str = ""
    session: int | None = None

    def act(self, work: Work) -> None:
        """Append the checkpoint."""
        session = work.session(self.session)
        draft = decide.checkpoint(
            work.capsule(session.task_id),
            outcomes=work.outcomes,
            facts=self.facts,
            opened=self.open_items,
            closed=self.closed_items,
            reaffirm=self.reaffirm,
            withdraw=self.withdraw,
            next_action=self.next_action,
        )
        work.append(draft, task=session.task_id, session=session.number)

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> Checkpointed:
        """Name the labels."""
        record = records[-1]
        event = record.event
        assert isinstance(event, CheckpointRecorded)
        session = work.session_numbered(record.leaf.actor.session or 0)
        return Checkpointed(
            **about_session(session),
            seq=last_seq(records),
            replayed=replayed,
            claims=record.labels[: len(event.facts)],
            open_items=record.labels[len(event.facts) :],
            closed=event.closed,
            reaffirmed=tuple(again.claim for again in event.reaffirmed),
            withdrawn=event.withdrawn,
            next_action=event.next_action,
            asserted=tuple(
                label
                for label, fact in zip(record.labels, event.facts, strict=False)
                if not any(parse_citation(cited).is_run for cited in fact.evidence)
            ),
        )
