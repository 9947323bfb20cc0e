"""The Capsule: everything about one Task, a pure fold over its events.

``fold(records)`` gives a Capsule; ``fold(more, start)`` goes on from one. The fold is linear: it
builds in dictionaries and lists of its own and freezes at the end. It never counts: numbers come
from the labels in the leaves, so that an erased payload renumbers nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, assert_never

from memprove.ledger.domain import events as e
from memprove.ledger.domain.labels import Citation, parse_citation, split_label
from memprove.ledger.domain.record import Erased, Record, Unknown
from memprove.ledger.domain.run import Run, take


@dataclass(frozen=True, slots=True)
class Stated:
    """Who stated something, and when: a Session's number, the event's number, milliseconds.

    *by_agent*: an agent's environment was seen around the command.
    """

    session: int | None
    seq: int
    at: int
    by_agent: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact that a checkpoint stated."""

    label: str
    text: str
    evidence: tuple[Citation, ...]
    paths: tuple[str, ...]
    stated: Stated
    reaffirmed: tuple[Stated, ...] = ()
    withdrawn: Stated | None = None


@dataclass(frozen=True, slots=True)
class OpenItem:
    """Something left undone."""

    label: str
    text: str
    stated: Stated
    closed: Stated | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice with its reasons."""

    label: str
    title: str
    choice: str
    rationale: str
    alternatives: tuple[str, ...]
    evidence: tuple[str, ...]
    supersedes: str
    state: e.DecisionState
    stated: Stated
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent or person at work on the Task."""

    number: int
    id: str
    agent: str
    role: str
    parent: int | None
    worktree: str
    started: Stated
    ended: Stated | None = None
    note: str = ""
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """One change of the Task's state."""

    source: e.TaskState
    target: e.TaskState
    comment: str
    completion: e.Completion | None
    stated: Stated


@dataclass(frozen=True, slots=True)
class NextAction:
    """What the last Session said comes next."""

    text: str
    agent: str
    stated: Stated


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Capsule:
    """Everything about one Task. Mappings are by label (Sessions by number), in log order."""

    id: str = ""
    number: int = 0
    workspace: str = ""
    title: str = ""
    description: str = ""
    state: e.TaskState = e.TaskState.PENDING
    moves: tuple[Move, ...] = ()
    sessions: Mapping[int, Session] = field(default_factory=_nothing)
    runs: Mapping[str, Run] = field(default_factory=_nothing)
    claims: Mapping[str, Claim] = field(default_factory=_nothing)
    open_items: Mapping[str, OpenItem] = field(default_factory=_nothing)
    decisions: Mapping[str, Decision] = field(default_factory=_nothing)
    next_action: NextAction | None = None
    events: int = 0
    last_at: int = 0

    @property
    def exists(self) -> bool:
        """Tell whether the Task was created."""
        return bool(self.id)

    @property
    def closed(self) -> bool:
        """Tell whether the Task is completed or canceled."""
        return self.state in (e.TaskState.COMPLETED, e.TaskState.CANCELED)

    def live_items(self) -> list[OpenItem]:
        """Return the open items that are still open, the oldest first."""
        return [item for item in self.open_items.values() if item.closed is None]


def fold(records: Iterable[Record], start: Capsule | None = None) -> Capsule:
    """Return the Capsule after *records*, from an empty one or from *start*."""
    draft = _Draft(start or Capsule())
    for record in records:
        evolve(draft, record)
    return draft.freeze()


class _Draft:
    """A Capsule in the making."""

    def __init__(self, start: Capsule) -> None:
        self.base = start
        self.moves = list(start.moves)
        self.sessions = dict(start.sessions)
        self.runs = dict(start.runs)
        self.claims = dict(start.claims)
        self.open_items = dict(start.open_items)
        self.decisions = dict(start.decisions)
        self.events = start.events
        self.last_at = start.last_at

    def freeze(self) -> Capsule:
        return replace(
            self.base,
            moves=tuple(self.moves),
            sessions=MappingProxyType(self.sessions),
            runs=MappingProxyType(self.runs),
            claims=MappingProxyType(self.claims),
            open_items=MappingProxyType(self.open_items),
            decisions=MappingProxyType(self.decisions),
            events=self.events,
            last_at=self.last_at,
        )

    def agent(self, session: int | None) -> str:
        known = self.sessions.get(session) if session is not None else None
        return known.agent if known else ""


def evolve(draft: _Draft, record: Record) -> None:
    """Take *record* into *draft*."""
    leaf, event = record.leaf, record.event
    stated = Stated(leaf.actor.session, leaf.seq, leaf.at, leaf.actor.agent_env)
    draft.events += 1
    draft.last_at = leaf.at
    match event:
        case e.TaskCreated():
            draft.base = replace(
                draft.base,
                id=event.id,
                number=split_label(leaf.labels[0])[1],
                workspace=leaf.workspace or "",
                title=event.title,
                description=event.description,
                state=event.state,
            )
        case e.TaskMoved(source=source, target=target, comment=comment, completion=completion):
            draft.base = replace(draft.base, state=target)
            draft.moves.append(Move(source, target, comment, completion, stated))
        case e.SessionStarted():
            _start_session(draft, record, event, stated)
        case e.SessionEnded(session=number, note=note, abandoned=abandoned):
            if number in draft.sessions:
                draft.sessions[number] = replace(
                    draft.sessions[number], ended=stated, note=note, abandoned=abandoned
                )
        case e.RunStarted() | e.RunEnded():
            take(draft.runs, record)
        case e.CheckpointRecorded():
            _checkpoint(draft, record, event, stated)
        case e.DecisionProposed():
            _propose(draft, record, event, stated)
        case e.DecisionDecided(decision=label, outcome=outcome, comment=comment):
            if label in draft.decisions:
                _decide(draft, label, outcome, comment)
        case (
            e.LedgerCreated()
            | e.TokenIssued()
            | e.TokenRevoked()
            | e.KeyRotated()
            | e.LedgerRestored()
            | e.WorkspaceRegistered()
            | e.WorkspaceAttached()
            | e.PayloadErased()
            | Unknown()
            | Erased()
        ):
            pass  # not of a Task; of a newer program; an erasure, whose event reads as what is left
        case _:
            assert_never(event)


def _start_session(draft: _Draft, record: Record, event: e.SessionStarted, stated: Stated) -> None:
    number = split_label(record.labels[0])[1]
    draft.sessions[number] = Session(
        number, event.id, event.agent, event.role, event.parent, event.worktree, stated
    )


def _checkpoint(draft: _Draft, record: Record, event: e.CheckpointRecorded, stated: Stated) -> None:
    labels = iter(record.labels)
    for fact, label in zip(event.facts, labels, strict=False):
        evidence = tuple(parse_citation(cited) for cited in fact.evidence)
        draft.claims[label] = Claim(label, fact.text, evidence, fact.paths, stated)
    for text, label in zip(event.opened, record.labels[len(event.facts) :], strict=False):
        draft.open_items[label] = OpenItem(label, text, stated)
    for label in draft.open_items.keys() & event.closed:
        draft.open_items[label] = replace(draft.open_items[label], closed=stated)
    for again in event.reaffirmed:
        claim = draft.claims.get(again.claim)
        if claim is None:
            continue  # its payload was erased
        joined = (*claim.evidence, *(parse_citation(cited) for cited in again.evidence))
        draft.claims[again.claim] = replace(
            claim,
            evidence=tuple(dict.fromkeys(joined)),
            reaffirmed=(*claim.reaffirmed, stated),
        )
    for label in draft.claims.keys() & event.withdrawn:
        draft.claims[label] = replace(draft.claims[label], withdrawn=stated)
    if event.next_action:
        agent = draft.agent(stated.session)
        draft.base = replace(draft.base, next_action=NextAction(event.next_action, agent, stated))


def _propose(draft: _Draft, record: Record, event: e.DecisionProposed, stated: Stated) -> None:
    label = record.labels[0]
    draft.decisions[label] = Decision(
        label,
        event.title,
        event.choice,
        event.rationale,
        event.alternatives,
        event.evidence,
        event.supersedes,
        e.DecisionState.PROPOSED,
        stated,
    )


def _decide(draft: _Draft, label: str, outcome: e.DecisionState, comment: str) -> None:
    decision = replace(draft.decisions[label], state=outcome, comment=comment)
    draft.decisions[label] = decision
    older = draft.decisions.get(decision.supersedes)
    if older is not None and outcome is e.DecisionState.ACCEPTED:
        draft.decisions[older.label] = replace(older, state=e.DecisionState.SUPERSEDED)
