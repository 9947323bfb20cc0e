"""The repository of a worktree: root commits and tracked paths."""

from pathlib import Path

import pytest
from support.git_repository import commit_all, git

from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.repository import root_commits, tracked_under

pytestmark = pytest.mark.usefixtures("home")


def roots(folder: Path) -> tuple[str, ...]:
    return root_commits(folder, deadline_s=30)


def test_root_commits_are_all_beginnings_sorted(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "--quiet", "--orphan", "other")
    other = commit_all(repository, "another beginning")
    assert roots(repository) == (other,)

    git(repository, "merge", "--quiet", "--allow-unrelated-histories", "-m", "both", "main")

    assert roots(repository) == tuple(sorted((first, other)))


def test_a_graft_or_replacement_makes_no_root(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    second = commit_all(repository, "second")
    git(repository, "replace", "--graft", second)
    (repository / ".git" / "info" / "grafts").write_text(f"{second}\n")

    assert roots(repository) == (first,)


def test_root_commits_are_empty_where_they_cannot_be_known(
    repository: Path, tmp_path: Path
) -> None:
    commit_all(repository, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")
    git(tmp_path, "init", "--quiet", "fresh")

    assert roots(tmp_path / "shallow") == ()
    assert roots(tmp_path / "fresh") == ()
    assert roots(tmp_path) == ()
    assert root_commits(repository, deadline_s=-1) == ()


def test_tracked_paths_of_a_folder_are_listed(repository: Path) -> None:
    (repository / ".memprove" / "context").mkdir(parents=True)
    (repository / ".memprove" / "config.toml").write_text("")
    (repository / ".memprove" / "context" / "shell.json").write_text("")
    (repository / ".memproved").write_text("")
    commit_all(repository, "tracked by mistake")
    (repository / ".memprove" / "head").write_text("")

    assert tracked_under(repository, ".memprove", deadline_s=30) == (
        ".memprove/config.toml",
        ".memprove/context/shell.json",
    )


def test_a_pattern_is_no_folder(repository: Path) -> None:
    assert tracked_under(repository, "*", deadline_s=30) == ()


def test_outside_git_nothing_is_tracked(tmp_path: Path) -> None:
    assert tracked_under(tmp_path, ".memprove", deadline_s=30) == ()


def test_a_repository_that_cannot_be_read_is_not_taken_for_clean(repository: Path) -> None:
    (repository / ".git" / "config").write_text("[broken")

    with pytest.raises(Unknown, match=r"^git_failed"):
        tracked_under(repository, ".memprove", deadline_s=30)
