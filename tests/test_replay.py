"""A client's retry: the same request again gives the same result and appends nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.expected import problem
from support.ledgers import MINUTE, Project, new_project

from memprove.ledger.domain.events import Fact
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CompleteTask, CreateTask, ListTasks
from memprove.ledger.operations.tokens import IssueToken

CHECKPOINT = RecordCheckpoint(facts=(Fact(text="f"),), open_items=("i",), next_action="n")
RETRIED: list[Operation[Any]] = [
    BeginWork(new_task="another"),
    BeginWork(task=1, agent="a", role="r"),
    BeginWork(task=1, parent=1),
    CHECKPOINT,
    ProposeDecision("t", "c", "r"),
    EndSession("note"),
    CompleteTask(),
    CompleteTask(runs=("r1",)),
]
retried = pytest.mark.parametrize(
    "operation", RETRIED, ids=lambda one: f"{type(one).__name__}-{RETRIED.index(one)}"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    project.run()
    return project


def again(
    project: Project,
    operation: Operation[Any],
    between: Callable[[], object] = lambda: None,
    **variables: str,
) -> bool:
    """Return whether *operation*, repeated after *between*, is replayed; check what it appended."""
    first = project.execute(operation)
    between()
    size = project.size()
    second = project.execute(operation, **variables)
    if second.replayed:
        assert project.size() == size
        assert {**asdict(second), "replayed": False} == asdict(first)
    else:
        assert project.size() > size
    assert not first.replayed
    return bool(second.replayed)


def asdict(result: Any) -> dict[str, Any]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


@retried
def test_the_same_request_again_is_replayed(project: Project, operation: Operation[Any]) -> None:
    assert again(project, operation)
    assert project.execute(operation).replayed
    project.check_green()


@retried
def test_it_is_replayed_although_the_context_is_gone(
    project: Project, operation: Operation[Any]
) -> None:
    project.execute(operation)
    size = project.size()
    project.context_file().unlink()
    project.write(".memprove/context/shell.json", "{}")
    assert project.execute(operation).replayed
    assert project.size() == size


@pytest.mark.parametrize(
    "operation", [BeginWork(new_task="another"), CHECKPOINT, ProposeDecision("t", "c", "r")]
)
class TestNotReplayed:
    def test_after_another_operation_in_between(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        assert not again(project, operation, lambda: project.execute(CreateTask("between")))

    def test_after_another_of_its_kind_in_between(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        between = RecordCheckpoint(next_action="other")
        assert not again(project, operation, lambda: project.execute(between))

    def test_by_another_client_session(self, project: Project, operation: Operation[Any]) -> None:
        assert not again(project, operation, MEMPROVE_CONTEXT="another", MEMPROVE_SESSION="1")

    def test_by_another_token(self, project: Project, operation: Operation[Any]) -> None:
        other = project.execute(IssueToken(name="other")).token
        assert not again(project, operation, MEMPROVE_TOKEN=other)

    def test_after_ten_minutes(self, project: Project, operation: Operation[Any]) -> None:
        assert not again(project, operation, lambda: project.clock.turn(10 * MINUTE))

    def test_when_the_clock_stepped_back_by_more(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        assert not again(project, operation, lambda: project.clock.turn(-11 * MINUTE))

    def test_but_it_is_just_before_and_when_the_clock_stepped_back_a_little(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        assert again(project, operation, lambda: project.clock.turn(10 * MINUTE - 2_000))
        project.clock.turn(-15 * MINUTE)
        assert project.execute(operation).replayed

    def test_a_read_or_a_problem_in_between_is_no_operation(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        def between() -> None:
            project.execute(ListTasks())
            with problem("session_unknown"):
                project.execute(EndSession(session=99))

        assert again(project, operation, between)

    def test_what_another_client_session_did_in_between_does_not_matter(
        self, project: Project, operation: Operation[Any]
    ) -> None:
        other = {"MEMPROVE_CONTEXT": "another"}
        assert again(project, operation, lambda: project.execute(CreateTask("x"), **other))


@pytest.mark.parametrize(
    "other",
    [
        RecordCheckpoint(facts=(Fact(text="f "),), open_items=("i",), next_action="n"),
        RecordCheckpoint(facts=(Fact(text="f"),), open_items=("i",), next_action="N"),
        RecordCheckpoint(facts=(Fact(text="f"),), open_items=("i",), next_action="n", session=1),
        RecordCheckpoint(facts=(Fact(text="f", paths=("p",)),), open_items=("i",), next_action="n"),
    ],
)
def test_other_arguments_are_another_request(project: Project, other: RecordCheckpoint) -> None:
    project.execute(CHECKPOINT)
    assert not project.execute(other).replayed


def test_requests_that_differ_in_a_secret_alone_are_the_same(project: Project) -> None:
    for secret in ("ghp_" + "a1B2" * 9, "ghp_" + "c3D4" * 9):
        last = project.execute(RecordCheckpoint(next_action=f"use {secret}"))
    assert last.replayed


def test_a_request_that_was_refused_is_tried_again(project: Project) -> None:
    operation = RecordCheckpoint(facts=(Fact(text="f", evidence=("r2",)),))
    with problem("label_unknown"):
        project.execute(operation)
    project.run()
    assert not project.execute(operation).replayed


def test_an_owners_word_is_never_replayed(project: Project) -> None:
    first, second = (project.execute(IssueToken(name="n")) for _ in range(2))
    assert first.id != second.id
