"""Which Session, Task and Workspace a caller means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.expected import problem
from support.git_repository import git
from support.ledgers import Project, new_project

from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.packs import ReadPack
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import ListTasks, ReadTask

NOTE = RecordCheckpoint(next_action="go on")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def begin(project: Project, title: str = "t", **variables: str) -> int:
    begun = project.execute(BeginWork(new_task=title), **variables)
    assert begun.session is not None
    return begun.session


def session_of(project: Project, number: int | None = None, **variables: str) -> int | None:
    """Return the Session that a checkpoint lands in."""
    project.clock.turn(60_000 * 11)
    operation = RecordCheckpoint(next_action="go on", session=number)
    return project.execute(operation, **variables).session


def edit_context(project: Project, edit: Callable[[str], str]) -> None:
    file = project.context_file()
    file.write_text(edit(file.read_text()))


# The Session


def test_the_argument_comes_before_the_variable_and_that_before_the_context(
    project: Project,
) -> None:
    for title in ("one", "two", "three"):
        begin(project, title)
    assert session_of(project) == 3
    assert session_of(project, MEMPROVE_SESSION="2") == 2
    assert session_of(project, 1, MEMPROVE_SESSION="2") == 1
    assert session_of(project, MEMPROVE_SESSION="") == 3
    assert session_of(project, MEMPROVE_SESSION="${MEMPROVE_SESSION}") == 3


def test_each_client_session_has_its_own_context(project: Project) -> None:
    begin(project, "one", MEMPROVE_CONTEXT="a")
    begin(project, "two", CLAUDE_CODE_SESSION_ID="b")
    begin(project, "three")
    assert session_of(project, MEMPROVE_CONTEXT="a") == 1
    assert session_of(project, CLAUDE_CODE_SESSION_ID="b") == 2
    assert session_of(project) == 3
    assert {path.name for path in project.context_file().parent.iterdir()} == {
        "a.json",
        "b.json",
        "shell.json",
    }


def test_without_a_context_it_is_the_one_that_is_open(project: Project) -> None:
    with problem("session_missing"):
        session_of(project, MEMPROVE_CONTEXT="new")
    begin(project, "one")
    project.execute(BeginWork(task=1, parent=1))
    assert session_of(project, MEMPROVE_CONTEXT="new") == 1
    begin(project, "two", MEMPROVE_CONTEXT="other")
    with problem("session_ambiguous", "1, 3"):
        session_of(project, MEMPROVE_CONTEXT="new")


def test_who_has_ended_does_not_go_on_in_the_session_of_somebody_else(project: Project) -> None:
    begin(project, "one", MEMPROVE_CONTEXT="a")
    begin(project, "two", MEMPROVE_CONTEXT="b")
    project.execute(EndSession(), MEMPROVE_CONTEXT="a")
    with problem("session_ended", "1"):
        session_of(project, MEMPROVE_CONTEXT="a")
    assert project.run(MEMPROVE_CONTEXT="a").run == "w1"
    assert session_of(project, MEMPROVE_CONTEXT="new") == 2


def test_a_session_that_ended_is_not_gone_on_with(project: Project) -> None:
    begin(project)
    project.execute(EndSession())
    for number, variables in ((1, {}), (None, {"MEMPROVE_SESSION": "1"}), (None, {})):
        with problem("session_ended", "1"):
            session_of(project, number, **variables)
    with problem("session_missing"):
        session_of(project, MEMPROVE_CONTEXT="new")


@pytest.mark.parametrize("value", ["x", "1.0", "-1", " 1", "١", "1e3", "9" * 5_000])
def test_a_variable_that_is_no_number_is_a_problem(project: Project, value: str) -> None:
    begin(project)
    with problem("argument_invalid", "MEMPROVE_SESSION"):
        session_of(project, MEMPROVE_SESSION=value)
    with problem("argument_invalid", "MEMPROVE_PARENT_SESSION"):
        project.execute(BeginWork(task=1), MEMPROVE_PARENT_SESSION=value)


@pytest.mark.parametrize("number", [0, 2, -1, 10**30])
def test_a_session_that_is_not_there_is_unknown(project: Project, number: int) -> None:
    begin(project)
    with problem("session_unknown", str(number)):
        session_of(project, number)


# The context


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"session_number":1', '"session_number":2'),
        ('"session_number":1', '"session_number":9'),
        ('"session":"', '"session":"00000000-0000-0000-0000-000000000000","x":"'),
        ('"task":"0', '"task":"1'),
        ('"workspace":"0', '"workspace":"1'),
    ],
)
def test_a_context_that_was_edited_is_invalid(project: Project, old: str, new: str) -> None:
    begin(project, "one", MEMPROVE_CONTEXT="a")
    begin(project, "two", MEMPROVE_CONTEXT="b")
    file = project.context_file("a")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    if '"x"' in new:
        with problem("session_ambiguous"):  # no context at all: it was moved aside
            session_of(project, MEMPROVE_CONTEXT="a")
        return
    kept = file.read_bytes()
    with problem("context_invalid"):
        session_of(project, MEMPROVE_CONTEXT="a")
    with problem("context_invalid"):
        project.execute(ReadPack(), MEMPROVE_CONTEXT="a")
    assert session_of(project, 1, MEMPROVE_CONTEXT="a") == 1
    assert file.read_bytes() == kept
    assert begin(project, "three", MEMPROVE_CONTEXT="a") == 3
    assert session_of(project, MEMPROVE_CONTEXT="a") == 3


def test_a_context_of_another_ledgers_workspace_is_invalid(
    project: Project, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other")
    begin(project)
    begin(other)
    other.context_file().write_bytes(project.context_file().read_bytes())
    with problem("context_invalid", "another Workspace"):
        session_of(other)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"[" * 50_000, b"x" * 70_000])
def test_a_context_that_cannot_be_read_is_moved_aside_and_said(
    project: Project, data: bytes
) -> None:
    begin(project)
    project.context_file().write_bytes(data)
    ledger = project.ledger()
    assert ledger.execute(NOTE).session == 1
    assert "moved to .memprove/context/shell.json.unreadable" in " ".join(ledger.notes)
    assert (project.context_file().parent / "shell.json.unreadable").read_bytes() == data


def test_a_context_that_cannot_be_written_is_a_note_and_the_write_stands(
    project: Project,
) -> None:
    (project.folder / ".memprove" / "context").write_text("in the way")
    ledger = project.ledger()
    assert ledger.execute(BeginWork(new_task="t")).session == 1
    assert any("the context was not written" in note for note in ledger.notes)
    project.check_green()


def test_a_context_is_written_anew_from_the_ledger_after_each_write(project: Project) -> None:
    begin(project, MEMPROVE_AGENT_NAME="claude")
    project.run()
    text = project.context_file().read_text()
    assert '["r1","passed"]' in text
    assert '"agent":"claude"' in text


def test_a_child_never_moves_the_callers_context(project: Project) -> None:
    begin(project)
    child = project.execute(BeginWork(new_task="sub", parent=1))
    assert (child.session, child.parent) == (2, 1)
    assert session_of(project) == 1
    assert session_of(project, 2) == 2
    child = project.execute(BeginWork(task=2), MEMPROVE_PARENT_SESSION="1")
    assert child.parent == 1
    assert session_of(project) == 1


# The Workspace and the Task


def test_outside_every_workspace_nothing_is_read_or_written(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    size = project.size()
    tried: list[Operation[Any]] = [ListTasks(), BeginWork(new_task="t"), ReadPack()]
    for operation in tried:
        with problem("workspace_unregistered"):
            project.at(elsewhere).execute(operation)
    assert list(elsewhere.iterdir()) == []
    assert project.size() == size


def test_below_the_root_it_is_the_same_workspace(project: Project) -> None:
    below = project.folder / "a" / "b"
    below.mkdir(parents=True)
    begin(project.at(below))
    assert session_of(project) == 1


def test_a_linked_worktree_is_the_same_workspace_with_contexts_of_its_own(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    linked = tmp_path / "linked"
    git(project.folder, "worktree", "add", "--quiet", str(linked))
    begin(project, "main")
    there = project.at(linked)
    with problem("session_missing"):
        session_of(there)
    assert begin(there, "linked") == 2
    assert session_of(there, MEMPROVE_CONTEXT="new") == 2
    assert session_of(project, MEMPROVE_CONTEXT="new") == 1
    assert len(there.execute(ListTasks()).tasks) == 2


def test_the_current_task_is_that_of_the_session_also_when_it_ended(project: Project) -> None:
    with problem("task_unknown"):
        project.execute(ReadTask())
    begin(project, "one")
    begin(project, "two", MEMPROVE_CONTEXT="b")
    assert project.execute(ReadTask()).number == 1
    project.execute(EndSession())
    assert project.execute(ReadTask()).number == 1
    assert project.execute(ReadTask(), MEMPROVE_SESSION="2").number == 2
    assert project.execute(ReadTask(2)).number == 2
    with problem("task_unknown", "7"):
        project.execute(ReadTask(7))


def test_without_a_session_it_is_the_task_in_progress_that_changed_last(project: Project) -> None:
    begin(project, "one")
    begin(project, "two", MEMPROVE_CONTEXT="b")
    for context in ("shell", "b"):
        project.execute(EndSession(), MEMPROVE_CONTEXT=context)
    assert project.execute(ReadTask(), MEMPROVE_CONTEXT="new").number == 2


def test_a_context_that_did_not_follow_leads_to_no_older_session(project: Project) -> None:
    project.execute(BeginWork(new_task="first"))
    pointer = project.context_file().read_bytes()
    project.execute(BeginWork(new_task="second"))
    project.context_file().write_bytes(pointer)
    operations: list[Operation[Any]] = [RecordCheckpoint(next_action="so"), EndSession()]
    for operation in operations:
        with problem("session_ambiguous", "1, 2"):
            project.execute(operation)
    assert project.execute(EndSession(session=2)).task == 2
