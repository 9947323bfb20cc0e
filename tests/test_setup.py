"""Setting up: a ledger is made once, whatever comes in between."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from msgspec import structs
from support.expected import problem
from support.git_repository import commit_all, git, new_repository
from support.ledgers import Project, new_project, unset

from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import CreateTask, ListTasks
from memprove.ledger.operations.workspaces import ListWorkspaces
from memprove.ledger.setup import set_up
from memprove.ledger.storage.registry import create_store


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def check_one_ledger(project: Project) -> None:
    """Check that there is one whole ledger, which both tokens and a new Task fit."""
    project.check_green()
    kinds = [event.kind for event in project.events()]
    assert kinds.count("ledger.created") == 1
    assert kinds[:3] == ["ledger.created", "token.issued", "token.issued"]
    assert project.execute(CreateTask("t")).task
    assert len(project.execute(ListWorkspaces()).workspaces) == 1
    assert not list(project.config_dir.glob(".*.tmp"))


def test_a_ledger_is_made_and_the_folder_registered(tmp_path: Path) -> None:
    project = unset(tmp_path)
    done = project.set_up()
    assert (done.created, done.config_dir, done.data_dir) == (
        True,
        project.config_dir,
        project.data_dir,
    )
    assert (done.workspace.number, done.workspace.name) == (1, "project")
    assert done.workspace.root == str(project.folder)
    assert (project.folder / ".memprove" / "workspace").read_text() == f"{done.workspace.id}\n"
    check_one_ledger(project)


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    config, own = contents(project.config_dir), contents(project.folder)
    size = project.size()
    again = project.set_up()
    assert not again.created
    assert again.workspace.seq == 0
    assert contents(project.config_dir) == config
    assert contents(project.folder) == own
    assert project.size() == size
    check_one_ledger(project)


def test_everything_private_is_so_whatever_the_umask(tmp_path: Path) -> None:
    project = unset(tmp_path)
    before = os.umask(0)
    try:
        project.set_up()
    finally:
        os.umask(before)
    for folder in (project.config_dir, project.data_dir):
        for path in (folder, *folder.rglob("*")):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_below_a_repository_its_root_is_registered(tmp_path: Path) -> None:
    project = unset(tmp_path, repository=True)
    below = project.folder / "dir"
    done = project.at(below).set_up()
    assert done.workspace.root == str(project.folder)
    assert not (below / ".memprove").exists()
    assert git(project.folder, "status", "--porcelain") == ""
    project.at(below).check_green()


def test_a_linked_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    project = unset(tmp_path, repository=True)
    linked = tmp_path / "linked"
    git(project.folder, "worktree", "add", "--quiet", str(linked))
    done = project.at(linked).set_up()
    assert done.workspace.root == str(project.folder)
    assert (linked / ".memprove" / "workspace").exists()
    assert project.set_up().workspace.id == done.workspace.id
    check_one_ledger(project)
    assert len(project.at(linked).execute(ListTasks()).tasks) == 1


def test_a_second_folder_joins_the_ledger(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    second = tmp_path / "second"
    new_repository(second)
    done = project.at(second).set_up()
    assert (done.created, done.workspace.number) == (False, 2)
    project.at(second).execute(CreateTask("t"))
    assert project.execute(ListTasks()).tasks == ()
    project.check_green()


def test_a_repository_cloned_anew_at_its_place_is_the_same_workspace(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    old = tmp_path / "old"
    project.folder.rename(old)
    git(tmp_path, "clone", "--quiet", str(old), str(project.folder))
    done = project.set_up()
    assert (done.workspace.number, done.workspace.seq) == (1, 0)
    assert len(project.execute(ListTasks()).tasks) == 1


@pytest.mark.parametrize("repository", [True, False])
def test_a_workspace_that_moved_is_attached_where_it_is_now(
    tmp_path: Path, repository: bool
) -> None:
    project = new_project(tmp_path, repository=repository)
    project.execute(BeginWork(new_task="t"))
    moved = project.at(tmp_path / "moved")
    project.folder.rename(moved.folder)
    done = moved.set_up()
    assert (done.workspace.number, done.workspace.root) == (1, str(moved.folder))
    assert len(moved.execute(ListTasks()).tasks) == 1
    assert moved.set_up().workspace.seq == 0
    moved.check_green()


def test_a_repository_inside_a_workspace_becomes_one_of_its_own(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    inner = project.at(project.folder / "inner")
    new_repository(inner.folder)
    assert inner.set_up().workspace.number == 2
    inner.execute(CreateTask("t"))
    assert project.execute(ListTasks()).tasks == ()


def test_another_repository_at_the_same_place_is_another_workspace(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    project.folder.rename(tmp_path / "old")
    project.folder.mkdir()
    git(project.folder, "init", "--quiet")
    (project.folder / "other.txt").write_text("other\n")
    commit_all(project.folder, "another beginning")
    assert project.set_up().workspace.number == 2
    assert project.execute(ListTasks()).tasks == ()
    project.check_green()


# What is refused


def test_an_agent_sets_nothing_up_unless_told_to(tmp_path: Path) -> None:
    project = unset(tmp_path)
    with problem("owner_in_agent_shell"):
        set_up(project.caller(CLAUDECODE="1"))
    assert not project.config_dir.exists()
    assert not (project.folder / ".memprove").exists()
    assert set_up(structs.replace(project.caller(CLAUDECODE="1"), from_agent=True)).created


@pytest.mark.parametrize(
    "name", ["workspace", "context/shell.json", "spool/x", ".gitignore", "bundles/x/y.bundle"]
)
def test_local_files_that_git_tracks_are_refused(tmp_path: Path, name: str) -> None:
    project = unset(tmp_path, repository=True)
    project.write(f".memprove/{name}", "planted")
    commit_all(project.folder, "planted")
    with problem("memprove_files_tracked", f".memprove/{name}"):
        project.set_up()
    assert not project.config_dir.exists()


def test_the_files_that_may_be_committed_may_be(tmp_path: Path) -> None:
    project = unset(tmp_path, repository=True)
    for name in ("config.toml", "trust", "head", "bundles/task-1.bundle"):
        project.write(f".memprove/{name}", "")
    commit_all(project.folder, "shared")
    assert project.set_up().created


def test_a_repository_that_git_cannot_read_is_refused(tmp_path: Path) -> None:
    project = unset(tmp_path, repository=True)
    project.write(".git/config", "[core\n")
    with problem("repository_unreadable"):
        project.set_up()
    assert not project.config_dir.exists()


def test_a_ledger_that_is_gone_is_not_begun_anew(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    kept = contents(project.config_dir)
    project.data_dir.rename(tmp_path / "moved")
    for named in ("", str(project.data_dir), str(tmp_path / "new")):
        with problem("data_dir_unreadable", "holds no ledger any more"):
            set_up(project.caller(MEMPROVE_DATA_DIR=named))
    assert contents(project.config_dir) == kept
    (tmp_path / "moved").rename(project.data_dir)
    check_one_ledger(project)


def test_an_empty_store_elsewhere_takes_no_configuration_of_another_ledger(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    kept = contents(project.config_dir)
    other = tmp_path / "empty"
    other.mkdir()
    create_store(other).close()
    with problem("ledger_exists", str(project.data_dir)):
        set_up(project.caller(MEMPROVE_DATA_DIR=str(other)))
    assert contents(project.config_dir) == kept
    check_one_ledger(project)


def test_a_ledger_of_somebody_else_is_not_taken_over(tmp_path: Path) -> None:
    project, other = new_project(tmp_path / "a"), unset(tmp_path / "b")
    size = project.size()
    with problem("token_missing"):
        set_up(other.caller(MEMPROVE_DATA_DIR=str(project.data_dir)))
    assert project.size() == size
    assert not (other.config_dir / "token").exists()
    assert not (other.folder / ".memprove").exists()


@pytest.mark.parametrize("name", ["keys", "trust", "token", "data-dir", "installation"])
def test_something_in_the_way_is_a_problem_and_then_it_works(tmp_path: Path, name: str) -> None:
    project = unset(tmp_path)
    project.config_dir.mkdir()
    way = project.config_dir / name
    if name == "keys":
        way.write_text("a file")
    else:
        (way / "full").mkdir(parents=True)
    with problem("config_unreadable", name):
        project.set_up()
    way.rename(tmp_path / "out of the way")
    assert project.set_up().created
    check_one_ledger(project)


def test_a_file_where_a_folder_should_be_is_a_problem(tmp_path: Path) -> None:
    project = unset(tmp_path)
    project.config_dir.write_text("a file")
    with problem("config_unreadable"):
        project.set_up()


# Two at once, and a death at any step


INIT = """
import sys
from pathlib import Path
from memprove.ledger.settings import Caller
from memprove.ledger.setup import set_up
sys.stdin.readline()
env = dict(pair.split("=", 1) for pair in sys.argv[2:])
print(set_up(Caller("cli", Path(sys.argv[1]), env)).created)
"""


@pytest.mark.parametrize("repetition", range(2))
def test_several_at_once_make_one_ledger(tmp_path: Path, repetition: int) -> None:
    project = unset(tmp_path)
    pairs = [f"{name}={value}" for name, value in project.env.items()]
    command = [sys.executable, "-c", INIT, str(project.folder), *pairs]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(4)]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0].strip() for process in running]
    assert sorted(outputs) == ["False"] * 3 + ["True"]
    check_one_ledger(project)


STEPS = ("open", "mkdir", "replace", "rename", "fsync", "unlink", "close")


def set_up_and_die_at(step: int, project: Project) -> NoReturn:
    """Set up, and die before the *step*-th call of those in ``STEPS``; at the latest at the end."""
    made = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal made
            made += 1
            if made == step:
                os._exit(9)
            return real(*arguments, **options)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    try:
        project.set_up()
    except BaseException:
        os._exit(1)
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_death_at_any_step_it_works_and_there_is_one_ledger(tmp_path: Path) -> None:
    survived = 0
    for step in range(1, 400, 3):
        project = unset(tmp_path / str(step))
        child = os.fork()
        if child == 0:
            set_up_and_die_at(step, project)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        project.set_up()
        leftover = list(project.config_dir.glob(".*.tmp"))
        for path in leftover:
            path.unlink()
        check_one_ledger(project)
        without = replace(project, env={**project.env, "MEMPROVE_DATA_DIR": ""})
        assert without.execute(ListTasks()).tasks
        if code == 0:
            survived = step
            break
        assert code == 9
    assert survived > 20
