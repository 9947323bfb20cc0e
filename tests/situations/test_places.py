"""Work goes on wherever git, links and folders put an agent, and is bound nowhere by accident."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Desk
from support.expected import problem
from support.git_repository import attempt, git, isolate, new_repository
from support.git_situations import amid_a_rebase, detached, sparse
from support.hook_samples import GREETED
from support.hooked import hook, told
from support.ledgers import Project, new_project, unset
from support.tools import Served

from memprove.ledger.domain.events import Fact
from memprove.ledger.domain.evidence import ProofState
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.packs import ReadClaims, ReadPack
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import CreateTask
from memprove.ledger.operations.workspaces import FindWorkspace

VERSION = subprocess.check_output(["git", "version"], text=True).split()[2]
GIT = tuple(map(int, VERSION.split(".")[:2]))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(monkeypatch, tmp_path / "home")


def prove(project: Project) -> list[ProofState]:
    """Work in the folder: begin, run, state; return what the claim is now."""
    project.execute(BeginWork(new_task="t"))
    project.run()
    project.execute(RecordCheckpoint((Fact(text="it works", evidence=("r1",)),)))
    return [claim.proof for claim in project.execute(ReadClaims()).told.claims]


# Repositories in every state


def amid_a_bisect(repository: Path) -> None:
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "second")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "third")
    git(repository, "bisect", "start", "HEAD", "HEAD~2")


def amid_a_cherry_pick(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "a.txt").write_text("theirs\n")
    git(repository, "commit", "--quiet", "--all", "--message", "theirs")
    git(repository, "checkout", "--quiet", "main")
    (repository / "a.txt").write_text("ours\n")
    git(repository, "commit", "--quiet", "--all", "--message", "ours")
    attempt(repository, "git", "cherry-pick", "other")


def worktree_config(repository: Path) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--worktree", "core.sparseCheckout", "false")


def orphan_branch(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--orphan", "new")


@pytest.mark.parametrize(
    "state",
    [
        detached,
        amid_a_rebase,
        amid_a_bisect,
        amid_a_cherry_pick,
        orphan_branch,
        sparse,
        worktree_config,
    ],
)
def test_a_repository_in_the_middle_of_something_is_worked_in(
    tmp_path: Path, state: Callable[[Path], None]
) -> None:
    project = new_project(tmp_path, repository=True)
    state(project.folder)
    assert prove(project) == [ProofState.PROVEN]


@pytest.mark.parametrize("options", [("--object-format=sha256",), ("--ref-format=reftable",)])
def test_a_repository_of_another_format_is_worked_in(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    if "reftable" in options[0] and GIT < (2, 45):
        pytest.skip("this git knows no reftable")
    new_repository(tmp_path / "project", *options)
    project = project_in(tmp_path)
    project.set_up()
    assert prove(project) == [ProofState.PROVEN]


def project_in(base: Path) -> Project:
    """Return the project below *base* whose folder is there already."""
    made = unset(base / "elsewhere")
    return made.at(base / "project")


def test_a_repository_of_a_format_that_git_does_not_know_is_worked_in_and_proves_nothing(
    tmp_path: Path,
) -> None:
    project = new_project(tmp_path, repository=True)
    git(project.folder, "config", "core.repositoryFormatVersion", "1")
    git(project.folder, "config", "extensions.fromTheFuture", "true")
    assert prove(project) == [ProofState.STALE]
    assert b"tree unknown: git_failed" in project.execute(ReadPack()).pack.encode()


def test_a_submodule_is_worked_in_as_a_part_or_as_a_workspace_of_its_own(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    new_repository(tmp_path / "library")
    git(project.folder, "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    inside = project.at(project.folder / "sub")
    outer = project.execute(FindWorkspace()).workspace
    assert inside.execute(FindWorkspace()).workspace == outer
    assert inside.set_up().workspace.number == 2
    git(inside.folder, "checkout", "--quiet", "--detach")
    assert prove(inside) == [ProofState.PROVEN]
    assert project.execute(FindWorkspace()).workspace == outer


def test_all_worktrees_are_one_workspace_and_each_has_its_own_tree(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    places = [tmp_path / "beside", project.folder / ".trees" / "nested"]
    worktree_config(project.folder)
    for number, place in enumerate(places):
        git(project.folder, "worktree", "add", "--quiet", "-b", f"branch-{number}", str(place))
        git(place, "sparse-checkout", "set", "--cone", "dir")
    trees = [project.at(place / "dir") for place in places]
    assert prove(project) == [ProofState.PROVEN]
    (places[0] / "a.txt").write_text("changed\n")
    for number, tree in enumerate(trees, 2):
        assert tree.execute(FindWorkspace()).workspace == project.execute(FindWorkspace()).workspace
        assert tree.execute(CreateTask(f"of tree {number}")).task == number
        assert tree.execute(ReadPack(task=1)).task == 1
    proofs = [tree.execute(ReadClaims(task=1)).told.claims[0].proof for tree in trees]
    assert proofs == [ProofState.STALE, ProofState.PROVEN]


# Where git is not, or does not help


def test_a_repository_of_another_owner_is_worked_in_and_proves_nothing(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    project = new_project(tmp_path, repository=True)
    for path in (project.folder, *project.folder.rglob("*")):
        if ".memprove" not in path.parts:
            os.chown(path, 54_321, 54_321)
    assert prove(project) == [ProofState.STALE]
    assert "tree unknown: not_owned" in project.execute(ReadPack()).pack


def test_inside_a_bare_repository_there_is_no_project_of_git(tmp_path: Path) -> None:
    new_repository(tmp_path / "origin")
    git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "origin"), "project")
    project = project_in(tmp_path)
    project.set_up()
    project.execute(BeginWork(new_task="t"))
    assert project.run().run == "r1"
    project.check_green()


# Links


def test_one_store_seen_under_two_names_is_one_store(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    (tmp_path / "link").symlink_to(project.data_dir, target_is_directory=True)
    (tmp_path / "away").symlink_to(project.folder, target_is_directory=True)
    elsewhere = {"MEMPROVE_DATA_DIR": str(tmp_path / "link")}
    through = project.at(tmp_path / "away" / "dir")
    assert project.execute(CreateTask("one")).task == 1
    assert through.execute(CreateTask("two"), **elsewhere).task == 2
    assert project.execute(CreateTask("three")).task == 3
    assert len(list(project.state_dir.glob("remembered/*"))) == 1, "seen once, by its real name"
    again = through.set_up()
    assert (again.created, again.workspace.number) == (False, 1)
    project.check_green()


def test_a_link_that_leads_nowhere_is_told_and_no_other_store_is_taken(tmp_path: Path) -> None:
    project = new_project(tmp_path, repository=True)
    (tmp_path / "link").symlink_to(tmp_path / "gone", target_is_directory=True)
    with problem("data_dir_unreadable"):
        project.execute(CreateTask("one"), MEMPROVE_DATA_DIR=str(tmp_path / "link"))
    assert not (tmp_path / "gone").exists()


# Where nothing is


@pytest.fixture
def parent(tmp_path: Path) -> Desk:
    """A folder with three Workspaces in it, that is none itself."""
    project = new_project(tmp_path, repository=True)
    for number in range(2):
        project.at(new_repository(tmp_path / f"other-{number}")).set_up()
    return Desk(tmp_path, {**project.env, "HOME": str(tmp_path / "home")})


def at_home(desk: Desk) -> Path:
    return desk.base / "home"


def above_the_projects(desk: Desk) -> Path:
    return desk.base


def at_the_root(desk: Desk) -> Path:
    return Path("/")


@pytest.mark.parametrize("where", [above_the_projects, at_home, at_the_root])
def test_a_folder_above_the_projects_is_bound_to_none_of_them(
    parent: Desk, where: Callable[[Desk], Path]
) -> None:
    folder = where(parent)
    before = sorted(folder.iterdir())
    for verb in (("begin", "try it"), ("checkpoint", "--fact", "so"), ("begin", "try it")):
        # What is refused teaches nothing that the next time would believe.
        assert parent.memprove(*verb, cwd=folder).problem == "workspace_unregistered"
    ran = parent.memprove("run", "--", "echo", "hello", cwd=folder)
    assert (ran.code, ran.out) == (0, "hello\n")
    assert ran.err == "memprove: not recorded: no Workspace here\n"
    assert told(hook(parent, GREETED["startup"], cwd=folder)) == ""
    assert Served(folder, dict(parent.env)).call("tasks").code == "workspace_unregistered"
    if folder != parent.base:
        assert parent.memprove("init", cwd=folder).problem == "workspace_too_wide"
    assert sorted(folder.iterdir()) == before


def test_a_working_directory_that_was_deleted_is_told(parent: Desk) -> None:
    gone = parent.folder / "gone"
    gone.mkdir()
    done = parent.shell(f"cd '{gone}' && rm -r '{gone}' && memprove begin 'try it'")
    assert done.problem == "workspace_gone"
    shutil.rmtree(parent.base / "other-0")
    assert parent.memprove("tasks").code == 0
