"""Begin and end work on a Task."""

from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import TaskState
from memprove.ledger.operations.packs import ReadPack
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask, ListTasks, MoveTask, ReadTask


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def test_a_new_task_and_its_session_are_begun_together(project: Project) -> None:
    begun = project.execute(
        BeginWork(new_task="Fix it", description="all of it", agent="claude", role="tester")
    )
    assert (begun.task, begun.session, begun.created) == (1, 1, True)
    assert (begun.title, begun.state, begun.agent, begun.role) == (
        "Fix it",
        "in_progress",
        "claude",
        "tester",
    )
    capsule = project.execute(ReadTask())
    assert (capsule.id, capsule.description) == (begun.task_id, "all of it")
    assert capsule.sessions[1].id == begun.session_id
    assert capsule.sessions[1].worktree == str(project.folder)
    kinds = [event.kind for event in project.events()][-3:]
    assert kinds == ["task.created", "session.started", "task.moved"]
    assert begun.seq == project.size()


def test_a_task_is_joined_by_its_number(project: Project) -> None:
    project.execute(CreateTask("one"))
    first = project.execute(BeginWork(task=1))
    second = project.execute(BeginWork(task=1), MEMPROVE_CONTEXT="b")
    assert (first.created, second.created) == (False, False)
    assert (first.task_id, first.session, second.session) == (second.task_id, 1, 2)
    assert project.events()[-1].kind == "session.started"  # it is in progress already


@pytest.mark.parametrize(
    "state", [state for state in TaskState if state is not TaskState.COMPLETED]
)
def test_begin_moves_the_task_on_from_any_state(project: Project, state: TaskState) -> None:
    project.execute(BeginWork(new_task="t"))
    if state is TaskState.BACKLOG:
        project.execute(MoveTask(1, TaskState.PENDING))
    if state is not TaskState.IN_PROGRESS:
        project.execute(MoveTask(1, state))
    assert project.execute(BeginWork(task=1)).state == "in_progress"


def test_exactly_one_of_number_and_title_is_given(project: Project) -> None:
    for operation in (BeginWork(), BeginWork(task=1, new_task="t")):
        with problem("argument_missing", "exactly one"):
            project.execute(operation)
    with problem("argument_missing", "title"):
        project.execute(BeginWork(new_task=" "))
    with problem("task_unknown", "7"):
        project.execute(BeginWork(task=7))
    with problem("task_unknown", "0"):
        project.execute(BeginWork(task=0))


@pytest.mark.parametrize(
    "operation",
    [
        BeginWork(new_task="t" * 201),
        BeginWork(new_task="t", description="d" * 8_001),
        BeginWork(new_task="t", agent="a" * 101),
        BeginWork(new_task="t", role="r" * 101),
    ],
)
def test_a_text_over_its_limit_begins_nothing(project: Project, operation: BeginWork) -> None:
    size = project.size()
    with problem("text_too_long"):
        project.execute(operation)
    assert project.size() == size


# Who


def test_agent_role_and_parent_each_come_from_argument_then_variable_then_context(
    project: Project,
) -> None:
    assert project.execute(BeginWork(new_task="t")).agent == "unnamed"
    names = {"MEMPROVE_AGENT_NAME": "env", "MEMPROVE_AGENT_ROLE": "tester"}
    begun = project.execute(BeginWork(new_task="t", agent="given"), **names)
    assert (begun.agent, begun.role) == ("given", "tester")
    begun = project.execute(BeginWork(new_task="t", role="lead"), **names)
    assert (begun.agent, begun.role) == ("env", "lead")
    begun = project.execute(BeginWork(new_task="u"))
    assert (begun.agent, begun.role) == ("env", "lead")
    begun = project.execute(BeginWork(new_task="u"), MEMPROVE_CONTEXT="new")
    assert (begun.agent, begun.role) == ("unnamed", "")


def test_the_parent_is_an_open_session(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    child = project.execute(BeginWork(task=1, parent=1))
    assert (child.parent, child.task) == (1, 1)
    with problem("session_unknown", "9"):
        project.execute(BeginWork(task=1, parent=9))
    with problem("session_unknown", "9"):
        project.execute(BeginWork(task=1), MEMPROVE_PARENT_SESSION="9")
    project.execute(EndSession(session=1))
    with problem("session_ended", "1"):
        project.execute(BeginWork(task=1, parent=1))


# End


def test_a_session_ends_and_the_task_stays_as_it_is(project: Project) -> None:
    begun = project.execute(BeginWork(new_task="t"))
    ended = project.execute(EndSession("tired"))
    assert (ended.session_id, ended.state, ended.abandoned) == (
        begun.session_id,
        "in_progress",
        False,
    )
    session = project.execute(ReadTask()).sessions[1]
    assert (session.note, session.abandoned) == ("tired", False)
    assert session.ended is not None
    with problem("session_ended"):
        project.execute(EndSession("again"))


def test_another_session_is_ended_as_abandoned_and_one_goes_on(project: Project) -> None:
    project.execute(BeginWork(new_task="left"), MEMPROVE_CONTEXT="gone")
    project.execute(BeginWork(new_task="mine"))
    ended = project.execute(EndSession(abandoned=1))
    assert (ended.session, ended.abandoned) == (1, True)
    assert project.execute(ReadTask(1)).sessions[1].abandoned
    assert project.execute(ReadPack()).session == 2
    with problem("session_ended", "1"):
        project.execute(EndSession("x", abandoned=1))
    with problem("session_unknown", "9"):
        project.execute(EndSession(abandoned=9))


def test_a_note_has_a_limit(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    with problem("text_too_long", "note"):
        project.execute(EndSession("n" * 2_001))


def test_ended_sessions_are_counted_in_the_list_of_tasks(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.execute(EndSession())
    project.execute(BeginWork(task=1))
    assert project.execute(ListTasks()).tasks[0].sessions == 2
