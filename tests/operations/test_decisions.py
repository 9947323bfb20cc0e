"""Propose a Decision; the owner accepts or rejects it."""

from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import DecisionState
from memprove.ledger.operations.decisions import DecideDecision, ProposeDecision
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ReadTask


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path)
    project.execute(BeginWork(new_task="t"))
    return project


def test_a_decision_is_proposed_and_then_decided_by_the_owner(project: Project) -> None:
    proposed = project.execute(ProposeDecision("t", "c", "r", ("a", "b")))
    assert (proposed.decision, proposed.state, proposed.session) == ("d1", "proposed", 1)
    for spelled in ("1", "d1"):
        if spelled == "d1":
            with problem("decision_decided", "d1 is accepted"):
                project.execute(DecideDecision(spelled, DecisionState.REJECTED))
            continue
        told = project.execute(DecideDecision(spelled, DecisionState.ACCEPTED, "yes"))
        assert (told.decision, told.state, told.task) == ("d1", "accepted", 1)
    decision = project.execute(ReadTask()).decisions["d1"]
    assert (decision.state, decision.comment) == (DecisionState.ACCEPTED, "yes")
    assert project.records()[-1].leaf.actor.role == "owner"


def test_an_accepted_decision_supersedes_the_one_it_names(project: Project) -> None:
    project.execute(ProposeDecision("t", "old", "r"))
    project.execute(DecideDecision("d1", DecisionState.ACCEPTED))
    project.execute(ProposeDecision("t", "new", "r", supersedes="d1"))
    assert project.execute(ReadTask()).decisions["d1"].state is DecisionState.ACCEPTED
    project.execute(DecideDecision("d2", DecisionState.ACCEPTED))
    assert project.execute(ReadTask()).decisions["d1"].state is DecisionState.SUPERSEDED


def test_a_decision_of_a_named_task_is_decided_without_a_session(project: Project) -> None:
    project.execute(ProposeDecision("t", "c", "r"))
    project.execute(BeginWork(new_task="another"))
    told = project.execute(DecideDecision("d1", DecisionState.REJECTED, task=1))
    assert (told.task, told.session) == (1, None)
    with problem("label_unknown", "d1"):
        project.execute(DecideDecision("d1", DecisionState.REJECTED))
    with problem("task_unknown", "9"):
        project.execute(DecideDecision("d1", DecisionState.REJECTED, task=9))


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (ProposeDecision("", "c", "r"), "argument_missing"),
        (ProposeDecision("t", "c", "r" * 8_000), "text_too_long"),
        (ProposeDecision("t", "c", "r", evidence=("r1",)), "label_unknown"),
        (ProposeDecision("t", "c", "r", supersedes="d9"), "label_unknown"),
        (ProposeDecision("t", "c", "r", session=9), "session_unknown"),
    ],
)
def test_a_proposal_that_breaks_a_rule_is_refused(
    project: Project, operation: ProposeDecision, code: str
) -> None:
    size = project.size()
    with problem(code):
        project.execute(operation)
    assert project.size() == size
