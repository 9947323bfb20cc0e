"""The rules: what may be added to a Task, and which Problem says why not."""

from collections.abc import Callable

import pytest
from support.capsules import Story, every_verdict
from support.expected import problem

from memprove.ledger.domain import decide
from memprove.ledger.domain.events import (
    DecisionDecided,
    DecisionProposed,
    DecisionState,
    Fact,
    RunKind,
    TaskMoved,
    TaskState,
)
from memprove.ledger.domain.record import Draft

# The sentence that says how a Task goes, word for word.
TRANSITIONS = (
    "backlog → pending, in_progress, canceled; pending → backlog, in_progress, canceled;"
    " in_progress → pending, blocked, completed, canceled;"
    " blocked → pending, in_progress, canceled; completed, canceled → pending, in_progress"
)
STATES = list(TaskState)


def allowed() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for part in TRANSITIONS.split(";"):
        sources, targets = part.split(" → ")
        found |= {(s.strip(), t.strip()) for s in sources.split(",") for t in targets.split(",")}
    return found


def in_state(state: TaskState) -> Story:
    story = Story()
    if state is not TaskState.IN_PROGRESS:
        story.move(TaskState.IN_PROGRESS, state)
    return story


# Tasks


@pytest.mark.parametrize("source", STATES)
@pytest.mark.parametrize("target", STATES)
def test_a_task_goes_where_the_table_says_and_nowhere_else(
    source: TaskState, target: TaskState
) -> None:
    capsule = in_state(source).capsule()
    if (source, target) in allowed():
        draft = decide.move(capsule, target, "why")
        assert draft.event == TaskMoved(source=source, target=target, comment="why")
    else:
        done = source is target is TaskState.COMPLETED
        with problem("task_completed" if done else "transition_forbidden"):
            decide.move(capsule, target)


def test_a_second_completion_names_the_session_of_the_first() -> None:
    story = Story()
    session = story.session()
    moved = TaskMoved(source=TaskState.IN_PROGRESS, target=TaskState.COMPLETED)
    story.add(moved, session=session)
    with problem("task_completed", "by Session 6"):
        decide.move(story.capsule(), TaskState.COMPLETED)


def test_a_refused_move_says_where_the_task_can_go() -> None:
    with problem(
        "transition_forbidden", "from backlog it can go to canceled, in_progress, pending"
    ):
        decide.move(in_state(TaskState.BACKLOG).capsule(), TaskState.COMPLETED)


@pytest.mark.parametrize(
    ("title", "description", "code"),
    [
        ("", "", "argument_missing"),
        (" \n", "", "argument_missing"),
        ("t" * 201, "", "text_too_long"),
        ("t", "d" * 8_001, "text_too_long"),
        ("\ud800", "", "text_invalid"),
    ],
)
def test_a_task_needs_a_title_within_the_limits(title: str, description: str, code: str) -> None:
    with problem(code):
        decide.new_task("id", title, description)


def test_a_comment_has_a_limit() -> None:
    with problem("text_too_long", "comment"):
        decide.move(Story().capsule(), TaskState.PENDING, "c" * 2_001)


# Sessions


def test_a_session_ends_once() -> None:
    story = Story()
    session = story.session()
    decide.end(story.capsule(), session, "note", abandoned=False)
    story.end(session)
    with problem("session_ended", str(session)):
        decide.end(story.capsule(), session, "", abandoned=False)
    with problem("session_unknown", "99"):
        decide.end(story.capsule(), 99, "", abandoned=True)
    with problem("text_too_long", "note"):
        decide.end(story.capsule(), session, "n" * 2_001, abandoned=False)


# Decisions


def test_a_decision_is_proposed_with_its_reasons() -> None:
    story = every_verdict()
    story.propose("old", "because")
    draft = decide.propose(
        story.capsule(),
        title="t",
        choice="c",
        rationale="r",
        alternatives=["a", "b"],
        supersedes="1",
        evidence=["r1", "!r2"],
    )
    assert draft.assigns == ("d",)
    assert draft.event == DecisionProposed(
        title="t",
        choice="c",
        rationale="r",
        alternatives=("a", "b"),
        supersedes="d1",
        evidence=("r1", "!r2"),
    )


@pytest.mark.parametrize(
    ("given_", "code"),
    [
        ({"title": ""}, "argument_missing"),
        ({"choice": " "}, "argument_missing"),
        ({"rationale": ""}, "argument_missing"),
        ({"title": "t" * 201}, "text_too_long"),
        ({"rationale": "r" * 8_001}, "text_too_long"),
        ({"rationale": "r" * 4_000, "alternatives": ["a" * 4_000]}, "text_too_long"),
        ({"alternatives": ["a"] * 51}, "too_many"),
        ({"evidence": ["r1"] * 51}, "too_many"),
        ({"alternatives": ["\ud800"]}, "text_invalid"),
        ({"supersedes": "d1"}, "label_unknown"),
        ({"supersedes": "c1"}, "label_invalid"),
    ],
)
def test_a_decision_that_breaks_a_rule_is_refused(given_: dict[str, object], code: str) -> None:
    whole: dict[str, object] = {"title": "t", "choice": "c", "rationale": "r", **given_}
    with problem(code):
        decide.propose(every_verdict().capsule(), **whole)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", [DecisionState.ACCEPTED, DecisionState.REJECTED])
def test_a_decision_is_decided_once(outcome: DecisionState) -> None:
    story = every_verdict()
    label = story.propose("c", "r")
    draft = decide.decide(story.capsule(), "1", outcome, "yes")
    assert draft.event == DecisionDecided(decision=label, outcome=outcome, comment="yes")
    story.decide(label, outcome)
    with problem("decision_decided", f"{label} is {outcome}"):
        decide.decide(story.capsule(), label, outcome, "")


def test_a_superseded_decision_is_not_decided() -> None:
    story = every_verdict()
    old = story.propose("c", "r")
    story.decide(story.propose("c2", "r", supersedes=old))
    with problem("decision_decided", "d1 is superseded"):
        decide.decide(story.capsule(), old, DecisionState.ACCEPTED, "")


@pytest.mark.parametrize("outcome", [DecisionState.PROPOSED, DecisionState.SUPERSEDED])
def test_a_decision_is_accepted_or_rejected_and_nothing_else(outcome: DecisionState) -> None:
    story = every_verdict()
    story.propose("c", "r")
    with problem("argument_invalid"):
        decide.decide(story.capsule(), "d1", outcome, "")


def test_a_decision_that_is_not_there_is_not_decided() -> None:
    refused: list[tuple[str, str]] = [("d9", "label_unknown"), ("c1", "label_invalid")]
    for label, code in refused:
        with problem(code):
            decide.decide(every_verdict().capsule(), label, DecisionState.ACCEPTED, "")


# Purity


@pytest.mark.parametrize(
    "rule",
    [
        lambda c: decide.move(c, TaskState.BLOCKED),
        lambda c: decide.end(c, 6, "", False),
        lambda c: decide.checkpoint(c, facts=[Fact(text="f", evidence=("r1",))]),
        lambda c: decide.propose(c, title="t", choice="c", rationale="r"),
    ],
)
def test_a_rule_gives_the_same_again_and_changes_nothing(
    rule: Callable[[object], Draft],
) -> None:
    story = every_verdict()
    capsule = story.capsule()
    assert rule(capsule) == rule(capsule)
    assert capsule == story.capsule()
    assert capsule.runs["r1"].kind is RunKind.TEST
