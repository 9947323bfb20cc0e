"""What is of one clone alone: it makes no tree that another clone has not, and costs no memory."""

import os
import sys
from pathlib import Path

import pytest
from support.git_repository import commit_all, git, tree_by_add

from memprove.ledger.workspace.tree import Tree, read_tree

pytestmark = pytest.mark.usefixtures("home")


def read(folder: Path) -> Tree:
    return read_tree(folder, deadline_s=30)


def _named(tree: Tree) -> list[tuple[str, int]]:
    assert tree.reason == ""
    return [(entry.path, entry.mode) for entry in tree.changed]


def test_a_skipped_file_that_is_taken_away_counts_as_removed(repository: Path) -> None:
    before = read(repository)
    git(repository, "update-index", "--skip-worktree", "dir/c.txt")
    assert read(repository) == before

    (repository / "dir" / "c.txt").unlink()
    away = read(repository)
    git(repository, "update-index", "--assume-unchanged", "dir/c.txt")
    assumed = read(repository)

    assert _named(away) == [("dir/c.txt", 0)]
    assert assumed == away
    for bit in ("skip-worktree", "assume-unchanged"):
        git(repository, "update-index", f"--no-{bit}", "dir/c.txt")
    assert away.id == tree_by_add(repository)


def test_a_skipped_folder_that_became_a_link_counts_as_the_link(repository: Path) -> None:
    git(repository, "update-index", "--skip-worktree", "dir/c.txt")
    (repository / "dir" / "c.txt").unlink()
    (repository / "dir").rmdir()
    (repository / "dir").symlink_to("nowhere")

    assert _named(read(repository)) == [("dir", 0o120000), ("dir/c.txt", 0)]


def test_patterns_without_the_setting_make_no_sparse_checkout(repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "sparse-checkout").write_text("/*\n!/dir/\n")
    git(repository, "update-index", "--skip-worktree", "dir/c.txt")
    (repository / "dir" / "c.txt").unlink()

    assert _named(read(repository)) == [("dir/c.txt", 0)]


@pytest.mark.parametrize("index", ["--no-sparse-index", "--sparse-index"])
def test_what_a_sparse_checkout_leaves_out_is_there_and_what_it_wants_is_not(
    repository: Path, index: str
) -> None:
    (repository / "wanted").mkdir()
    (repository / "wanted" / "d.txt").write_text("d\n")
    commit_all(repository, "more")
    git(repository, "sparse-checkout", "set", "--cone", index, "wanted")
    left_out = read(repository)
    git(repository, "update-index", "--skip-worktree", "wanted/d.txt", "a.txt")
    (repository / "wanted" / "d.txt").unlink()
    (repository / "a.txt").unlink()

    assert not (repository / "dir").exists()
    assert _named(left_out) == []
    assert _named(read(repository)) == [("a.txt", 0), ("wanted/d.txt", 0)]


def test_a_linked_worktree_has_its_own_sparse_checkout(repository: Path, tmp_path: Path) -> None:
    side = tmp_path / "side"
    git(repository, "worktree", "add", "--quiet", "-b", "side", str(side))
    git(side, "sparse-checkout", "set", "--cone", "other")
    git(repository, "update-index", "--skip-worktree", "dir/c.txt")
    (repository / "dir" / "c.txt").unlink()

    assert not (side / "dir").exists()
    assert _named(read(side)) == []
    assert _named(read(repository)) == [("dir/c.txt", 0)]


@pytest.mark.parametrize("key", ["core.attributesFile", "core.excludesFile"])
@pytest.mark.parametrize("scope", ["--local", "--worktree"])
def test_an_endless_file_that_the_repository_names_is_not_read(
    repository: Path, key: str, scope: str
) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", scope, key, "/dev/zero")
    (repository / "a.txt").write_text("changed\n")

    assert _named(read(repository)) == [("a.txt", 0o100644)]


def test_the_repositorys_excludes_file_hides_nothing_and_the_owners_is_counted(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home" / "ignored").write_text("*.tmp\n")
    git(repository, "config", "--global", "core.excludesFile", "~/ignored")
    git(repository, "config", "core.excludesFile", str(tmp_path / "local"))
    (tmp_path / "local").write_text("conftest.py\n")
    (repository / "conftest.py").write_text("")
    (repository / "x.tmp").write_text("")

    tree = read(repository)

    assert _named(tree) == [("conftest.py", 0o100644)]
    assert tree.hidden == 1


@pytest.mark.parametrize("pattern", ["conftest.py", "tests/", "*"])
def test_a_test_file_that_only_this_clone_hides_is_counted(repository: Path, pattern: str) -> None:
    before = read(repository)
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text(f"{pattern}\n")
    (repository / "tests").mkdir()
    (repository / "tests" / "conftest.py").write_text("")

    tree = read(repository)

    assert (before.hidden, tree.hidden) == (0, 1)
    assert tree.id == before.id


def test_local_attributes_that_could_change_content_make_the_tree_unknown(repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("*.txt diff=words\n")
    assert read(repository).id is not None
    (repository / ".git" / "info" / "attributes").write_text("*.txt ident\n")

    assert read(repository).reason == "attributes_local: info/attributes"


def test_attributes_of_a_commit_in_place_of_the_files_make_the_tree_unknown(
    repository: Path,
) -> None:
    git(repository, "config", "attr.tree", "HEAD")

    assert read(repository).reason == "attributes_local: attr.tree"


def test_a_local_filter_by_local_attributes_is_the_owners_to_allow(repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("*.txt filter=upper\n")
    git(repository, "config", "filter.upper.clean", "tr a-z A-Z")
    (repository / "a.txt").write_text("changed\n")

    allowed = read_tree(repository, deadline_s=30, allowed_filters=frozenset({"upper"}))

    assert read(repository).reason == "filter_untrusted: upper"
    assert allowed.id == tree_by_add(repository)


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no other process")
def test_a_git_that_wants_too_much_memory_ends(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memprove.ledger.workspace.git.MOST_MEMORY", 128 * 1024**2)
    git(repository, "config", "--global", "core.attributesFile", "/dev/zero")
    (repository / "a.txt").write_text("changed\n")

    assert ": Out of memory" in read(repository).reason


def _too_deep(folder: Path) -> None:
    """Make a folder whose path no system call takes."""
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(17):
            os.mkdir("n" * 250, dir_fd=here)
            below = os.open("n" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def test_an_untracked_folder_that_git_cannot_open_makes_the_tree_unknown(repository: Path) -> None:
    (repository / "deep").mkdir()
    _too_deep(repository / "deep")

    tree = read(repository)

    assert tree.id is None
    assert tree.reason.startswith("unreadable: deep/nnn")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
@pytest.mark.parametrize("folder", ["dir", "new"])
def test_a_folder_that_nobody_may_read_makes_the_tree_unknown(
    repository: Path, folder: str
) -> None:
    (repository / "new").mkdir()
    (repository / "new" / "test_new.py").write_text("")
    (repository / folder).chmod(0)
    try:
        tree = read(repository)
    finally:
        (repository / folder).chmod(0o755)

    assert tree.reason.startswith(f"unreadable: {folder}")
