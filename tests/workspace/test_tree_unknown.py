"""Where the tree cannot be known: why is said, and nothing hangs."""

import os
from pathlib import Path

import pytest
from support.git_repository import (
    git,
    new_repository,
    tree_by_add,
)
from support.git_situations import submodule, submodule_not_checked_out

from memprove.ledger.workspace.tree import Tree, read_tree

OLD = (1_000_000_000, 1_000_000_000)


pytestmark = pytest.mark.usefixtures("home")


def read(folder: Path) -> Tree:
    return read_tree(folder, deadline_s=30)


def test_a_dirty_submodule_is_named(repository: Path) -> None:
    submodule(repository)
    (repository / "sub" / "a.txt").write_text("changed\n")

    tree = read(repository)

    assert (tree.id, tree.reason) == (None, "submodule_dirty: sub")
    assert (tree.base, tree.branch) == (git(repository, "rev-parse", "HEAD"), "main")


def test_an_untracked_file_makes_a_nested_repository_dirty(repository: Path) -> None:
    new_repository(repository / "nested")
    (repository / "nested" / "new").write_text("")

    assert read(repository).reason == "submodule_dirty: nested"


def test_files_in_a_submodule_that_is_not_checked_out_make_it_dirty(repository: Path) -> None:
    submodule_not_checked_out(repository)
    (repository / "sub" / "x").write_text("")

    assert read(repository).reason == "submodule_dirty: sub"


def test_a_repository_without_a_commit_inside_is_unreadable(repository: Path) -> None:
    git(repository, "init", "--quiet", "nested")

    assert read(repository).reason == "submodule_unreadable: nested"


def test_a_submodule_of_a_submodule_is_looked_at(repository: Path) -> None:
    submodule(repository)
    submodule(repository / "sub")
    git(repository, "commit", "--quiet", "--all", "--message", "deeper")
    (repository / "sub" / "sub" / "a.txt").write_text("changed\n")

    assert read(repository).reason == "submodule_unreadable: sub"


def test_a_filter_of_the_repository_makes_the_tree_unknown_where_it_applies(
    repository: Path,
) -> None:
    git(repository, "config", "filter.local.clean", "tr a-z A-Z")
    (repository / ".gitattributes").write_text("*.bin filter=local\n")
    elsewhere = read(repository)
    (repository / "x.bin").write_text("x\n")

    assert elsewhere.id is not None
    assert read(repository).reason == "filter_untrusted: local"


def test_a_filter_that_the_owner_allows_runs(repository: Path) -> None:
    git(repository, "config", "filter.local.clean", "tr a-z A-Z")
    (repository / ".gitattributes").write_text("*.bin filter=local\n")
    (repository / "x.bin").write_text("x\n")

    tree = read_tree(repository, deadline_s=30, allowed_filters=frozenset({"local"}))

    assert tree.id == tree_by_add(repository)


def test_no_repository_is_no_failure(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    (repository / "dir" / ".git").mkdir()

    for folder in (tmp_path, tmp_path / "missing", tmp_path / "bare.git"):
        assert read(folder).reason == "no_repository"
    assert read(repository / "dir").reason == "worktree_elsewhere"


def test_without_git_the_tree_is_unknown(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert read(repository) == Tree(None, "no_git", None, None, (), False, 0)


def test_a_worktree_that_the_configuration_puts_elsewhere_is_refused(
    repository: Path, tmp_path: Path
) -> None:
    new_repository(tmp_path / "other")
    git(repository, "config", "core.worktree", str(tmp_path / "other"))

    assert read(repository).reason == "worktree_elsewhere"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another owner")
def test_a_repository_of_another_owner_is_refused(repository: Path) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)

    assert read(repository).reason == "not_owned"


def test_an_unknown_repository_format_is_said(repository: Path) -> None:
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "extensions.refStorageOfTomorrow", "x")

    assert read(repository).reason.startswith("git_failed: rev-parse: unknown repository extension")


def test_a_head_whose_commit_is_lost_is_not_taken_for_a_fresh_repository(repository: Path) -> None:
    (repository / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")

    assert read(repository).reason.startswith("git_failed")


def test_a_corrupt_index_makes_the_tree_unknown(repository: Path) -> None:
    (repository / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\7garbage")

    tree = read(repository)

    assert (tree.id, tree.branch) == (None, "main")
    assert tree.reason.startswith("git_failed")


def test_a_pipe_in_place_of_the_index_makes_the_tree_unknown(repository: Path) -> None:
    (repository / ".git" / "index").unlink()
    os.mkfifo(repository / ".git" / "index")

    assert read(repository).reason == "index_unreadable"


@pytest.mark.parametrize(
    ("place", "shown"), [(".gitignore", ".gitignore"), (".git/info/exclude", "info/exclude")]
)
def test_a_pipe_in_place_of_attributes_or_patterns_is_named(
    repository: Path, place: str, shown: str
) -> None:
    (repository / place).parent.mkdir(exist_ok=True)
    (repository / place).unlink(missing_ok=True)
    os.mkfifo(repository / place)

    assert read(repository).reason == f"rules_unreadable: {shown}"


@pytest.mark.parametrize("place", ["dir/.gitignore", "dir/.gitattributes", ".git/config"])
def test_a_pipe_that_git_waits_for_ends_at_the_time_limit(repository: Path, place: str) -> None:
    (repository / place).unlink(missing_ok=True)
    os.mkfifo(repository / place)
    (repository / "dir" / "new.txt").write_text("x\n")

    tree = read_tree(repository, deadline_s=0.3)

    assert tree.reason == "timeout"


def test_a_filter_of_the_owner_that_hangs_is_killed_at_the_time_limit(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "config", "--global", "filter.slow.clean", "sleep 600 & echo $! >&2; wait")
    (repository / ".gitattributes").write_text("*.txt filter=slow\n")
    (repository / "new.txt").write_text("x\n")

    tree = read_tree(repository, deadline_s=0.5)

    assert tree.reason == "timeout"
