"""Register, attach and list Workspaces."""

from pathlib import Path

import pytest
from support.expected import problem
from support.git_repository import git
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import RunKind
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ListTasks
from memprove.ledger.operations.workspaces import ListWorkspaces
from memprove.ledger.setup import attach_here


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    return project


def test_a_moved_repository_is_the_same_workspace(project: Project, tmp_path: Path) -> None:
    moved = project.at(tmp_path / "moved")
    project.folder.rename(moved.folder)
    assert [task.title for task in moved.execute(ListTasks()).tasks] == ["t"]
    assert moved.run("make", kind=RunKind.BUILD).run == "r1"  # its context moved with it


def test_a_copy_is_no_workspace_until_it_is_attached(project: Project, tmp_path: Path) -> None:
    copy = project.at(tmp_path / "copy")
    git(tmp_path, "clone", "--quiet", str(project.folder), str(copy.folder))
    with problem("workspace_unregistered"):
        copy.execute(ListTasks())
    told = attach_here(copy.caller(), 1)
    assert (told.number, told.root) == (1, str(copy.folder))
    assert len(copy.execute(ListTasks()).tasks) == 1
    with problem("workspace_unregistered"):
        project.execute(ListTasks())
    assert [one.root for one in copy.execute(ListWorkspaces()).workspaces] == [str(copy.folder)]
    copy.check_green()


def test_a_workspace_that_is_not_there_is_not_attached(project: Project) -> None:
    with problem("workspace_unregistered", "no Workspace 9"):
        attach_here(project.caller(), 9)
