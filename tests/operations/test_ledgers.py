"""Read the log itself: events, what a label names, verification."""

from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import Fact
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.contexts import ReadContext
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.ledgers import ReadLog, Show
from memprove.ledger.operations.packs import ReadClaims, ReadPack
from memprove.ledger.operations.sessions import BeginWork


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    project.run()
    project.execute(RecordCheckpoint(facts=(Fact(text="f", evidence=("r1",)),), open_items=("i",)))
    project.execute(ProposeDecision("t", "c", "r"))
    return project


# The log


def test_the_newest_events_are_read_in_the_order_of_the_log(project: Project) -> None:
    size = project.size()
    told = project.execute(ReadLog(limit=3))
    assert [event.seq for event in told.events] == [size - 2, size - 1, size]
    assert told.size == size
    assert told.events[-1].labels == ("d1",)
    assert told.events[-1].payload == {"title": "t", "choice": "c", "rationale": "r"}
    after = project.execute(ReadLog(after=2, limit=2))
    assert [event.seq for event in after.events] == [3, 4]
    assert project.execute(ReadLog(after=size)).events == ()
    assert len(project.execute(ReadLog(limit=10_000)).events) == size


def test_the_events_of_one_task_are_read(project: Project) -> None:
    whole = project.execute(ReadLog(task=1)).events
    assert {event.stream for event in whole} == {whole[0].stream}
    assert whole[0].kind == "task.created"
    assert project.execute(ReadLog(task=1, limit=2)).events == whole[-2:]
    assert project.execute(ReadLog(task=1, after=whole[0].seq, limit=2)).events == whole[1:3]
    with problem("task_unknown", "9"):
        project.execute(ReadLog(task=9))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(project: Project, limit: int) -> None:
    for task in (None, 1):
        with problem("argument_invalid", "limit"):
            project.execute(ReadLog(task=task, limit=limit))


# What a label names


@pytest.mark.parametrize("label", ["r1", "c1", "o1", "d1"])
def test_a_label_is_shown_with_its_capsule(project: Project, label: str) -> None:
    shown = project.execute(Show(label))
    assert (shown.label, shown.capsule.number, shown.event) == (label, 1, None)
    assert (shown.evidence is not None) == (label == "c1")


def test_an_event_is_shown_by_its_number(project: Project) -> None:
    shown = project.execute(Show("1"))
    assert shown.event is not None
    assert (shown.event.seq, shown.event.kind) == (1, "ledger.created")


@pytest.mark.parametrize("label", ["r9", "c9", "o9", "d9", "w1", "0", "99", "9" * 30, "9" * 5_000])
def test_what_is_not_there_is_unknown(project: Project, label: str) -> None:
    with problem("label_unknown"):
        project.execute(Show(label))


@pytest.mark.parametrize("label", ["", "x1", "r", "r0", "!r1", "r1:t", "t1", "s1", "１"])
def test_what_is_no_label_is_refused(project: Project, label: str) -> None:
    with problem("label_invalid"):
        project.execute(Show(label))


def test_the_output_of_a_run_is_shown_if_it_was_kept(project: Project) -> None:
    assert project.execute(Show("r1", output=True)).output == b""


# Pack, claims, context


def test_the_pack_is_told_with_its_task_and_the_callers_session(project: Project) -> None:
    told = project.execute(ReadPack())
    assert (told.task, told.session) == (1, 1)
    assert "c1" in told.pack
    assert told.pack.endswith("\n")
    assert project.execute(ReadPack()).pack == told.pack
    project.execute(BeginWork(new_task="another"))
    other = project.execute(ReadPack(task=1))
    assert (other.task, other.session, other.session_id) == (1, None, None)


def test_the_opening_names_the_callers_agent(project: Project) -> None:
    assert "reader" in project.execute(ReadPack(), MEMPROVE_AGENT_NAME="reader").opening


@pytest.mark.parametrize("budget", [199, 0, -1, 50_001])
def test_a_budget_out_of_bounds_is_refused(project: Project, budget: int) -> None:
    with problem("budget_invalid"):
        project.execute(ReadPack(budget=budget))


def test_claims_are_read_by_number_label_and_state(project: Project) -> None:
    for spelled in (("1",), ("c1",), ("c1", "1")):
        told = project.execute(ReadClaims(spelled)).told
        assert [claim.claim for claim in told.claims] == ["c1"]
    project.execute(RecordCheckpoint(withdraw=("c1",)))
    assert project.execute(ReadClaims()).told.claims == ()
    assert project.execute(ReadClaims(("c1",))).told.claims[0].withdrawn
    for label, code in (("c9", "label_unknown"), ("r1", "label_invalid")):
        with problem(code):
            project.execute(ReadClaims((label,)))


def test_the_context_is_told_as_the_file_has_it(project: Project) -> None:
    told = project.ledger().look(ReadContext())
    assert told.context is not None
    assert told.context.runs == (("r1", "passed"),)
    assert project.ledger(MEMPROVE_CONTEXT="new").look(ReadContext()).context is None
    file = project.context_file()
    file.write_bytes(file.read_bytes().replace(b'"session_number":1', b'"session_number":7'))
    context = project.ledger().look(ReadContext()).context
    assert context is not None
    assert context.session_number == 7


def test_a_context_that_cannot_be_read_is_told_and_stays(project: Project) -> None:
    project.context_file().write_bytes(b"{}")
    with problem("context_invalid"):
        project.ledger().look(ReadContext())
    assert project.context_file().read_bytes() == b"{}"
