"""State what a Session knows, through a real ledger."""

from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import Fact
from memprove.ledger.domain.evidence import ProofState
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.packs import ReadClaims
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ReadTask


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    return project


def fact(text: str, *evidence: str) -> Fact:
    return Fact(text=text, evidence=evidence)


def test_labels_are_given_in_order_and_go_on(project: Project) -> None:
    first = project.execute(
        RecordCheckpoint(facts=(fact("one"), fact("two")), open_items=("left",))
    )
    assert (first.claims, first.open_items) == (("c1", "c2"), ("o1",))
    second = project.execute(
        RecordCheckpoint(
            facts=(fact("three"),),
            open_items=("right", "left"),
            closed_items=("o1",),
            reaffirm=("1",),
            withdraw=("c2",),
            next_action="go on",
        )
    )
    assert (second.claims, second.open_items) == (("c3",), ("o2", "o3"))
    assert (second.closed, second.reaffirmed, second.withdrawn) == (("o1",), ("c1",), ("c2",))
    assert (second.task, second.session, second.seq) == (1, 1, project.size())
    capsule = project.execute(ReadTask())
    assert [item.label for item in capsule.live_items()] == ["o2", "o3"]
    assert capsule.next_action is not None
    assert capsule.next_action.text == "go on"


def test_another_task_counts_anew(project: Project) -> None:
    project.execute(RecordCheckpoint(facts=(fact("one"),)))
    project.execute(BeginWork(new_task="another"))
    assert project.execute(RecordCheckpoint(facts=(fact("one"),))).claims == ("c1",)


def test_a_fact_is_proven_until_the_tree_changes(project: Project) -> None:
    project.run()
    project.execute(RecordCheckpoint(facts=(fact("it works", "r1"),)))
    told = project.execute(ReadClaims()).told.claims
    assert [(claim.claim, claim.proof) for claim in told] == [("c1", ProofState.PROVEN)]
    project.write("a.txt", "changed\n")
    told = project.execute(ReadClaims(("c1",))).told.claims
    assert (told[0].proof, told[0].changed) == (ProofState.STALE, ("a.txt",))
    assert project.execute(ReadClaims(states=(ProofState.PROVEN,))).told.claims == ()


def test_a_citation_that_is_false_records_nothing_at_all(project: Project) -> None:
    project.run(failed=1, exit=1)
    size = project.size()
    for cited, code in (("r1", "run_failed"), ("r2", "label_unknown"), ("c9", "label_unknown")):
        with problem(code):
            project.execute(
                RecordCheckpoint(
                    facts=(fact("right", "!r1"), fact("wrong", cited)), next_action="n"
                )
            )
    assert project.size() == size
    assert project.execute(RecordCheckpoint(facts=(fact("right", "!r1"),))).claims == ("c1",)


def test_a_label_of_another_task_is_unknown_here(project: Project) -> None:
    project.run()
    project.execute(RecordCheckpoint(facts=(fact("one", "r1"),)))
    project.execute(BeginWork(new_task="another"))
    for cited in ("r1", "c1"):
        with problem("label_unknown", cited):
            project.execute(RecordCheckpoint(facts=(fact("f", cited),)))


def test_a_run_outside_a_session_is_never_cited(project: Project) -> None:
    with problem("label_invalid", "w1"):
        project.execute(RecordCheckpoint(facts=(fact("f", "w1"),)))


def test_a_retried_fact_joins_its_evidence_in_a_later_session(project: Project) -> None:
    project.run()
    project.execute(RecordCheckpoint(facts=(fact("it  works"),)))
    project.execute(BeginWork(task=1), MEMPROVE_CONTEXT="b")
    told = project.execute(
        RecordCheckpoint(facts=(fact(" it works ", "r1"),)), MEMPROVE_CONTEXT="b"
    )
    assert (told.claims, told.reaffirmed) == ((), ("c1",))
    claim = project.execute(ReadClaims(("1",))).told.claims[0]
    assert (claim.evidence, claim.reaffirmed, claim.session) == (("r1",), 1, 1)
