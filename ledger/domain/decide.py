"""The rules: what a request may add to a Task. Pure: a Capsule and a request to an event.

Each function returns a Draft, the event and the letters of the labels it needs, or raises a
Problem. Numbers are given by the append, so that parallel writers never share one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from memprove.ledger.domain import limits
from memprove.ledger.domain.events import (
    CheckpointRecorded,
    Completion,
    DecisionDecided,
    DecisionProposed,
    DecisionState,
    Fact,
    Reaffirmed,
    SessionEnded,
    TaskCreated,
    TaskMoved,
    TaskState,
)
from memprove.ledger.domain.evidence import PASSED, Outcomes, no_outcomes
from memprove.ledger.domain.labels import Citation, parse_citation, parse_label
from memprove.ledger.domain.record import Draft
from memprove.ledger.domain.run import Verdict
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    ARGUMENT_MISSING,
    CLAIM_WITHDRAWN,
    DECISION_DECIDED,
    LABEL_UNKNOWN,
    OPEN_ITEM_CLOSED,
    RUN_FAILED,
    RUN_INTERRUPTED,
    RUN_LOST,
    RUN_MASKED,
    RUN_MOVED,
    RUN_PASSED,
    RUN_VACUOUS,
    SESSION_ENDED,
    SESSION_UNKNOWN,
    TASK_COMPLETED,
    TEST_UNKNOWN,
    TRANSITION_FORBIDDEN,
    ProblemKind,
)

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule, Claim


TRANSITIONS: Final[Mapping[TaskState, frozenset[TaskState]]] = {
    TaskState.BACKLOG: frozenset({TaskState.PENDING, TaskState.IN_PROGRESS, TaskState.CANCELED}),
    TaskState.PENDING: frozenset({TaskState.BACKLOG, TaskState.IN_PROGRESS, TaskState.CANCELED}),
    TaskState.IN_PROGRESS: frozenset(
        {TaskState.PENDING, TaskState.BLOCKED, TaskState.COMPLETED, TaskState.CANCELED}
    ),
    TaskState.BLOCKED: frozenset({TaskState.PENDING, TaskState.IN_PROGRESS, TaskState.CANCELED}),
    TaskState.COMPLETED: frozenset({TaskState.PENDING, TaskState.IN_PROGRESS}),
    TaskState.CANCELED: frozenset({TaskState.PENDING, TaskState.IN_PROGRESS}),
}

UNFIT: Final[Mapping[Verdict, ProblemKind]] = {
    Verdict.LOST: RUN_LOST,
    Verdict.INTERRUPTED: RUN_INTERRUPTED,
    Verdict.FAILED: RUN_FAILED,
    Verdict.MASKED: RUN_MASKED,
    Verdict.VACUOUS: RUN_VACUOUS,
    Verdict.MOVED: RUN_MOVED,
}
"""Why a Run with this verdict is no evidence."""


def new_task(id: str, title: str, description: str, state: TaskState = TaskState.PENDING) -> Draft:
    """Return the creation of a Task."""
    limits.check_needed("title", title, limits.TITLE)
    limits.check_text("description", description, limits.DECISION)
    return Draft(TaskCreated(id=id, title=title, description=description, state=state), ("t",))


def move(
    capsule: Capsule,
    target: TaskState,
    comment: str = "",
    completion: Completion | None = None,
) -> Draft:
    """Return the Task's change to *target*; a completion is judged before, by ``completion``."""
    limits.check_text("comment", comment, limits.STATEMENT)
    if capsule.state is TaskState.COMPLETED and target is TaskState.COMPLETED:
        raise TASK_COMPLETED(_completed_by(capsule))
    if target not in TRANSITIONS[capsule.state]:
        raise TRANSITION_FORBIDDEN(
            f"{capsule.state} to {target}; from {capsule.state} it can go to "
            + ", ".join(sorted(TRANSITIONS[capsule.state]))
        )
    return Draft(
        TaskMoved(source=capsule.state, target=target, comment=comment, completion=completion)
    )


def end(capsule: Capsule, session: int, note: str, abandoned: bool) -> Draft:
    """Return the end of Session number *session*."""
    limits.check_text("note", note, limits.STATEMENT)
    known = capsule.sessions.get(session)
    if known is None:
        raise SESSION_UNKNOWN(session)
    if known.ended is not None:
        raise SESSION_ENDED(session)
    return Draft(SessionEnded(session=session, note=note, abandoned=abandoned))


def checkpoint(
    capsule: Capsule,
    *,
    outcomes: Outcomes = no_outcomes,
    facts: Sequence[Fact] = (),
    opened: Sequence[str] = (),
    closed: Sequence[str] = (),
    reaffirm: Sequence[str] = (),
    withdraw: Sequence[str] = (),
    next_action: str = "",
) -> Draft:
    """Return the checkpoint of what a Session states."""
    if not (facts or opened or closed or reaffirm or withdraw or next_action.strip()):
        raise ARGUMENT_MISSING("a fact, an open item, a claim or a next action")
    limits.check_count("the checkpoint", [*facts, *opened, *closed, *reaffirm, *withdraw])
    limits.check_text("next action", next_action, limits.STATEMENT)
    for number, fact in enumerate(facts, 1):
        _check_fact(capsule, outcomes, f"fact {number}", fact)
    for number, text in enumerate(opened, 1):
        limits.check_needed(f"open item {number}", text, limits.STATEMENT)
    done = tuple(dict.fromkeys(_live_item(capsule, label) for label in closed))
    taken_back = tuple(dict.fromkeys(_live_claim(capsule, label).label for label in withdraw))
    kept = dict.fromkeys(_live_claim(capsule, label).label for label in reaffirm)
    if both := [label for label in kept if label in taken_back]:
        raise ARGUMENT_INVALID(f"{both[0]} is both reaffirmed and withdrawn")
    again = {label: Reaffirmed(claim=label) for label in kept}
    new = _sort_facts(capsule, facts, taken_back, again)
    items = _new_items(capsule, opened, done)
    event = CheckpointRecorded(
        facts=tuple(new),
        opened=tuple(items),
        closed=done,
        reaffirmed=tuple(again.values()),
        withdrawn=taken_back,
        next_action=next_action,
    )
    return Draft(event, ("c",) * len(new) + ("o",) * len(items))


def propose(
    capsule: Capsule,
    *,
    outcomes: Outcomes = no_outcomes,
    title: str,
    choice: str,
    rationale: str,
    alternatives: Sequence[str] = (),
    supersedes: str = "",
    evidence: Sequence[str] = (),
) -> Draft:
    """Return the proposal of a Decision."""
    for field, text in (("title", title), ("choice", choice), ("rationale", rationale)):
        limits.check_needed(field, text, limits.DECISION)
    limits.check_text("title", title, limits.TITLE)
    limits.check_count("alternatives", alternatives)
    limits.check_count("evidence", evidence)
    whole = "".join((title, choice, rationale, *alternatives))
    limits.check_text("the Decision", whole, limits.DECISION)
    older = parse_label(supersedes, "d") if supersedes else ""
    if older and older not in capsule.decisions:
        raise LABEL_UNKNOWN(older)
    for cited in evidence:
        check_citation(capsule, outcomes, parse_citation(cited))
    event = DecisionProposed(
        title=title,
        choice=choice,
        rationale=rationale,
        alternatives=tuple(alternatives),
        supersedes=older,
        evidence=tuple(evidence),
    )
    return Draft(event, ("d",))


def decide(capsule: Capsule, label: str, outcome: DecisionState, comment: str) -> Draft:
    """Return the owner's word on Decision *label*."""
    limits.check_text("comment", comment, limits.STATEMENT)
    if outcome not in (DecisionState.ACCEPTED, DecisionState.REJECTED):
        raise ARGUMENT_INVALID(f"a Decision is accepted or rejected, not {outcome}")
    label = parse_label(label, "d")
    if label not in capsule.decisions:
        raise LABEL_UNKNOWN(label)
    if capsule.decisions[label].state is not DecisionState.PROPOSED:
        raise DECISION_DECIDED(f"{label} is {capsule.decisions[label].state}")
    return Draft(DecisionDecided(decision=label, outcome=outcome, comment=comment))


def check_citation(capsule: Capsule, outcomes: Outcomes, citation: Citation) -> None:
    """Raise the Problem that says why *citation* is false, if it is."""
    if citation.is_run:
        _check_run(capsule, outcomes, citation)
    elif citation.label.startswith("c"):
        _live_claim(capsule, citation.label)
    elif citation.label not in capsule.decisions:
        raise LABEL_UNKNOWN(citation.label)


def _check_run(capsule: Capsule, outcomes: Outcomes, citation: Citation) -> None:
    run = capsule.runs.get(citation.label)
    if run is None:
        raise LABEL_UNKNOWN(citation.label)
    if citation.test and run.verdict not in (Verdict.MOVED, Verdict.INTERRUPTED, Verdict.LOST):
        if outcomes(run).get(citation.test) != PASSED:
            raise TEST_UNKNOWN(str(citation))
        return
    wanted = Verdict.FAILED if citation.failed else Verdict.PASSED
    if run.verdict is not wanted:
        kind = RUN_PASSED if run.verdict is Verdict.PASSED else UNFIT[run.verdict]
        raise kind(citation.label)


def _check_fact(capsule: Capsule, outcomes: Outcomes, field: str, fact: Fact) -> None:
    limits.check_needed(field, fact.text, limits.STATEMENT)
    limits.check_count(f"evidence of {field}", fact.evidence)
    limits.check_count(f"paths of {field}", fact.paths)
    for path in fact.paths:
        limits.check_needed(f"path of {field}", path, limits.STATEMENT)
        _check_path(field, path)
    for cited in fact.evidence:
        check_citation(capsule, outcomes, parse_citation(cited))


def _check_path(field: str, path: str) -> None:
    """Raise unless *path* names a file or folder below the root; it is no pattern."""
    parts = path.strip("/").split("/")
    if path.startswith("/") or ".." in parts or any(sign in path for sign in "*?"):
        raise ARGUMENT_INVALID(f"path of {field} is a file or folder below the root: {path}")


def _sort_facts(
    capsule: Capsule,
    facts: Sequence[Fact],
    withdrawn: Sequence[str],
    again: dict[str, Reaffirmed],
) -> list[Fact]:
    """Return the facts that are new; one equal to a live claim joins *again* instead."""
    live = {
        limits.folded(claim.text): label
        for label, claim in capsule.claims.items()
        if claim.withdrawn is None and label not in withdrawn
    }
    new: dict[str, Fact] = {}
    for fact in facts:
        key = limits.folded(fact.text)
        if (label := live.get(key)) is not None:
            known = again.get(label, Reaffirmed(claim=label)).evidence
            joined = tuple(dict.fromkeys((*known, *fact.evidence)))
            again[label] = Reaffirmed(claim=label, evidence=joined)
        elif (twin := new.get(key)) is not None:
            joined = tuple(dict.fromkeys((*twin.evidence, *fact.evidence)))
            new[key] = Fact(text=twin.text, evidence=joined, paths=twin.paths)
        else:
            new[key] = fact
    return list(new.values())


def _new_items(capsule: Capsule, opened: Sequence[str], closed: Sequence[str]) -> list[str]:
    live = {limits.folded(i.text) for i in capsule.live_items() if i.label not in closed}
    new = {limits.folded(text): text for text in reversed(opened)}
    return [text for key, text in reversed(new.items()) if key not in live]


def _live_claim(capsule: Capsule, text: str) -> Claim:
    label = parse_label(text, "c")
    if label not in capsule.claims:
        raise LABEL_UNKNOWN(label)
    if capsule.claims[label].withdrawn is not None:
        raise CLAIM_WITHDRAWN(label)
    return capsule.claims[label]


def _live_item(capsule: Capsule, text: str) -> str:
    label = parse_label(text, "o")
    if label not in capsule.open_items:
        raise LABEL_UNKNOWN(label)
    if capsule.open_items[label].closed is not None:
        raise OPEN_ITEM_CLOSED(label)
    return label


def _completed_by(capsule: Capsule) -> str:
    session = capsule.moves[-1].stated.session if capsule.moves else None
    return f"by Session {session}" if session is not None else "outside a Session"
