"""Which registered Workspace a directory belongs to: nested, moved, copied, replaced, strange."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.places import (
    GitCommand,
    find,
    git_with_home,
    linked,
    make_repository,
    nearest,
    register,
)

from memprove.ledger import problems
from memprove.ledger.workspace import resolve
from memprove.ledger.workspace.resolve import Match, Place


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def git(base: Path) -> GitCommand:
    (base / "git-home").mkdir()
    return git_with_home(base / "git-home")


@pytest.fixture
def repository(base: Path, git: GitCommand) -> Path:
    return make_repository(base / "repo", git)


def test_a_registered_repository_is_found_from_below(git: GitCommand, repository: Path) -> None:
    workspace = register(nearest(repository), git)
    found = find(repository / "src", git, workspace)
    assert found == Match(workspace, nearest(repository), moved=False)


def test_a_registered_folder_without_git_is_found_from_below(base: Path, git: GitCommand) -> None:
    (base / "plain" / "deep").mkdir(parents=True)
    workspace = register(nearest(base / "plain"), git)
    found = find(base / "plain" / "deep", git, workspace)
    assert (found.workspace, found.place.below(base / "plain" / "deep")) == (workspace, "deep")


def test_two_worktrees_are_one_workspace(base: Path, git: GitCommand, repository: Path) -> None:
    workspace = register(nearest(repository), git)
    one = linked(base, git, repository, "one")
    two = linked(repository, git, repository, "nested/two")
    assert find(one / "src", git, workspace).place.worktree == one
    assert find(two / "src", git, workspace).place.worktree == two


def test_a_repository_registered_without_commits_is_known_after_the_first(
    base: Path, git: GitCommand
) -> None:
    folder = base / "young"
    git(base, "init", "-q", str(folder))
    workspace = register(nearest(folder), git)
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    assert find(folder, git, workspace).workspace == workspace


def test_a_folder_that_became_a_repository_is_still_the_same(base: Path, git: GitCommand) -> None:
    (base / "plain").mkdir()
    workspace = register(nearest(base / "plain"), git)
    git(base / "plain", "init", "-q")
    assert find(base / "plain", git, workspace).workspace == workspace


def test_a_nested_clone_belongs_to_the_registered_outer_workspace(
    git: GitCommand, repository: Path
) -> None:
    inner = make_repository(repository / "vendor" / "inner", git)
    workspace = register(nearest(repository), git)
    found = find(inner / "src", git, workspace)
    assert found.place.worktree == repository
    assert found.place.below(inner / "src") == "vendor/inner/src"


def test_a_submodule_belongs_to_the_registered_outer_workspace(
    base: Path, git: GitCommand, repository: Path
) -> None:
    outer = make_repository(base / "outer", git)
    git(outer, "submodule", "add", "-q", str(repository), "sub")
    workspace = register(nearest(outer), git)
    assert find(outer / "sub" / "src", git, workspace).place.worktree == outer


def test_a_nested_clone_that_is_registered_wins_over_the_outer(
    git: GitCommand, repository: Path
) -> None:
    inner = make_repository(repository / "inner", git)
    outer, own = register(nearest(repository), git), register(nearest(inner), git, number=2)
    assert find(inner, git, outer, own).workspace == own


def test_the_parent_of_registered_repositories_binds_to_none(base: Path, git: GitCommand) -> None:
    parent = base / "home"
    several = [
        register(nearest(make_repository(parent / f"r{number}", git)), git, number)
        for number in range(3)
    ]
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: .*home$"):
        find(parent, git, *several)


def test_an_unregistered_repository_does_not_bind_to_its_neighbour(
    base: Path, git: GitCommand, repository: Path
) -> None:
    workspace = register(nearest(repository), git)
    other = make_repository(base / "other", git)
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(other, git, workspace, hint="id-1")


def test_a_linked_root_is_the_same_workspace(base: Path, git: GitCommand, repository: Path) -> None:
    workspace = register(nearest(repository), git)
    (base / "link").symlink_to(repository)
    assert find(base / "link" / "src", git, workspace).workspace == workspace


def test_one_folder_under_two_names_is_the_same_workspace(
    base: Path, git: GitCommand, repository: Path
) -> None:
    """A link in the registered path stands for a bind mount or another letter case."""
    (base / "other-name").symlink_to(repository)
    workspace = replace(register(nearest(repository), git), root=base / "other-name")
    assert find(repository, git, workspace) == Match(workspace, nearest(repository), moved=False)


def test_another_repository_at_a_registered_path_is_a_mismatch(
    base: Path, git: GitCommand, repository: Path
) -> None:
    workspace = register(nearest(repository), git)
    repository.rename(base / "kept")
    make_repository(base / "new", git).rename(repository)
    with pytest.raises(problems.Problem, match=r"^workspace_mismatch: "):
        find(repository / "src", git, workspace)


def test_another_folder_at_a_registered_path_is_a_mismatch(base: Path, git: GitCommand) -> None:
    (base / "plain").mkdir()
    workspace = register(nearest(base / "plain"), git)
    (base / "plain").rename(base / "kept")
    (base / "plain").mkdir()
    with pytest.raises(problems.Problem, match=r"^workspace_mismatch: "):
        find(base / "plain", git, workspace)


def test_a_mismatch_is_not_passed_over_for_an_outer_workspace(
    base: Path, git: GitCommand, repository: Path
) -> None:
    inner = make_repository(repository / "inner", git)
    outer, own = register(nearest(repository), git), register(nearest(inner), git, number=2)
    inner.rename(base / "kept")
    make_repository(base / "new", git).rename(inner)
    with pytest.raises(problems.Problem, match=r"^workspace_mismatch: "):
        find(inner, git, outer, own)


def test_a_new_clone_of_the_same_repository_at_its_path_is_the_same(
    base: Path, git: GitCommand, repository: Path
) -> None:
    workspace = register(nearest(repository), git)
    repository.rename(base / "kept")
    git(base, "clone", "-q", str(base / "kept"), str(repository))
    assert find(repository, git, workspace).workspace == workspace


def test_two_repositories_without_commits_are_not_the_same(base: Path, git: GitCommand) -> None:
    git(base, "init", "-q", "young")
    workspace = register(nearest(base / "young"), git)
    (base / "young").rename(base / "kept")
    git(base, "init", "-q", "young")
    with pytest.raises(problems.Problem, match=r"^workspace_mismatch: "):
        find(base / "young", git, workspace)


# Moved and copied


def test_a_moved_repository_is_recognised(base: Path, git: GitCommand, repository: Path) -> None:
    workspace = register(nearest(repository), git)
    moved = repository.rename(base / "moved")
    assert find(moved, git, workspace, hint="id-1") == Match(workspace, nearest(moved), moved=True)


def test_a_moved_folder_without_git_is_recognised(base: Path, git: GitCommand) -> None:
    (base / "plain").mkdir()
    workspace = register(nearest(base / "plain"), git)
    moved = (base / "plain").rename(base / "moved")
    assert find(moved, git, workspace, hint="id-1").moved


@pytest.mark.parametrize("hint", [None, "id-2"])
def test_a_moved_repository_without_its_hint_is_unregistered(
    base: Path, git: GitCommand, repository: Path, hint: str | None
) -> None:
    workspace = register(nearest(repository), git)
    moved = repository.rename(base / "moved")
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(moved, git, workspace, hint=hint)


def test_a_copied_repository_is_unregistered(base: Path, git: GitCommand, repository: Path) -> None:
    workspace = register(nearest(repository), git)
    shutil.copytree(repository, base / "copy")
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(base / "copy", git, workspace, hint="id-1")


def test_a_copied_folder_is_unregistered_even_when_the_old_path_is_gone(
    base: Path, git: GitCommand
) -> None:
    (base / "plain").mkdir()
    workspace = register(nearest(base / "plain"), git)
    shutil.copytree(base / "plain", base / "copy")
    (base / "plain").rmdir()
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(base / "copy", git, workspace, hint="id-1")


def test_another_repository_cannot_pass_for_one_that_moved(
    base: Path, git: GitCommand, repository: Path
) -> None:
    workspace = register(nearest(repository), git)
    shutil.rmtree(repository)
    other = make_repository(base / "other", git)
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(other, git, workspace, hint="id-1")


def test_a_moved_workspace_inside_a_registered_one_is_recognised_first(
    base: Path, git: GitCommand, repository: Path
) -> None:
    other = make_repository(base / "other", git)
    outer, own = register(nearest(repository), git), register(nearest(other), git, number=2)
    moved = other.rename(repository / "other")
    assert find(moved, git, outer, own, hint="id-2").workspace == own


def test_no_commit_is_read_where_the_file_system_decides(git: GitCommand, repository: Path) -> None:
    asked: list[Place] = []

    def root_commits(place: Place) -> tuple[str, ...]:
        asked.append(place)
        return ()

    workspace = register(nearest(repository), git)
    resolve.match(
        resolve.locate(repository / "src"),
        [workspace],
        hint=lambda place: None,
        root_commits=root_commits,
    )
    assert asked == []
