"""Which paths changed between any two snapshots."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from support.git_repository import attempt, commit_all, git

from memprove.ledger.workspace.changes import Changes, changes
from memprove.ledger.workspace.tree import Snapshot, read_tree

pytestmark = pytest.mark.usefixtures("home")


def snapshot(folder: Path) -> Snapshot:
    tree = read_tree(folder, deadline_s=30)
    assert tree.id is not None, tree.reason
    return tree.snapshot


def between(folder: Path, before: Snapshot, after: Snapshot) -> Changes:
    there = changes(folder, before, after, deadline_s=30)
    assert changes(folder, after, before, deadline_s=30) == there
    return there


def test_over_the_same_base_the_rows_are_compared(repository: Path) -> None:
    (repository / "a.txt").write_text("1\n")
    (repository / "b.txt").write_text("1\n")
    before = snapshot(repository)
    (repository / "b.txt").write_text("2\n")
    (repository / "a.txt").write_text("a\n")
    (repository / "new.txt").write_text("new\n")
    (repository / "dir" / "c.txt").unlink()

    assert between(repository, before, snapshot(repository)) == Changes(
        True, ("a.txt", "b.txt", "dir/c.txt", "new.txt")
    )


def test_committing_a_dirty_tree_changes_nothing(repository: Path) -> None:
    (repository / "a.txt").write_text("1\n")
    (repository / "b.txt").unlink()
    (repository / "new.txt").write_text("new\n")
    before = snapshot(repository)
    commit_all(repository, "all of it")

    assert between(repository, before, snapshot(repository)) == Changes(True, ())


def test_only_what_differs_from_the_later_commit_is_named(repository: Path) -> None:
    (repository / "a.txt").write_text("1\n")
    (repository / "b.txt").write_text("1\n")
    before = snapshot(repository)
    (repository / "b.txt").write_text("2\n")
    (repository / "dir" / "c.txt").write_text("2\n")
    commit_all(repository, "more")
    (repository / "dir" / "c.txt").write_text("c\n")
    (repository / "x.txt").write_text("x\n")

    assert between(repository, before, snapshot(repository)) == Changes(True, ("b.txt", "x.txt"))


def test_a_rename_is_a_removal_and_an_addition(repository: Path) -> None:
    git(repository, "config", "diff.renames", "true")
    before = snapshot(repository)
    git(repository, "mv", "a.txt", "z.txt")
    commit_all(repository, "renamed")

    assert between(repository, before, snapshot(repository)) == Changes(True, ("a.txt", "z.txt"))


def test_a_mode_is_a_change(repository: Path) -> None:
    before = snapshot(repository)
    (repository / "a.txt").chmod(0o755)

    assert between(repository, before, snapshot(repository)).paths == ("a.txt",)


def test_changes_are_named_across_a_rebase(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "feature")
    (repository / "a.txt").write_text("feature\n")
    commit_all(repository, "feature")
    before = snapshot(repository)
    git(repository, "checkout", "--quiet", "main")
    (repository / "b.txt").write_text("main\n")
    commit_all(repository, "main")
    git(repository, "checkout", "--quiet", "feature")
    git(repository, "rebase", "--quiet", "main")

    assert between(repository, before, snapshot(repository)) == Changes(True, ("b.txt",))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_before_the_first_commit_everything_is_new(tmp_path: Path, object_format: str) -> None:
    git(tmp_path, "init", "--quiet", f"--object-format={object_format}", "fresh")
    fresh = tmp_path / "fresh"
    empty = snapshot(fresh)
    (fresh / "x").write_text("1\n")
    dirty = snapshot(fresh)
    (fresh / "y").write_text("1\n")
    commit_all(fresh, "first")

    assert between(fresh, empty, snapshot(fresh)) == Changes(True, ("x", "y"))
    assert between(fresh, dirty, snapshot(fresh)) == Changes(True, ("y",))


def test_our_folder_is_never_named(repository: Path) -> None:
    before = snapshot(repository)
    (repository / ".memprove").mkdir()
    (repository / ".memprove" / "config.toml").write_text("")
    commit_all(repository, "ours")
    (repository / "a.txt").write_text("1\n")

    assert between(repository, before, snapshot(repository)).paths == ("a.txt",)


def test_names_are_spelled_as_in_the_rows(repository: Path) -> None:
    before = snapshot(repository)
    (repository / "\udcff\n\\").write_text("x\n")
    dirty = snapshot(repository)
    commit_all(repository, "names")

    assert between(repository, before, dirty).paths == ("\\xff\n\\\\",)
    assert between(repository, before, snapshot(repository)).paths == ("\\xff\n\\\\",)


def test_without_the_base_commit_the_paths_are_not_known(repository: Path, tmp_path: Path) -> None:
    before = snapshot(repository)
    (repository / "a.txt").write_text("1\n")
    commit_all(repository, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")
    after = snapshot(tmp_path / "shallow")

    assert between(tmp_path / "shallow", before, after) == Changes(False, ())
    assert between(repository, before, after) == Changes(True, ("a.txt",))


def test_equal_trees_are_equal_whatever_else_is_known(repository: Path) -> None:
    whole = snapshot(repository)
    bare = Snapshot(whole.tree, "1" * 40, (), False)

    assert between(repository, whole, bare) == Changes(True, ())


def test_a_snapshot_with_unknown_parts_has_unknown_changes(repository: Path) -> None:
    whole = snapshot(repository)
    (repository / "a.txt").write_text("1\n")
    other = snapshot(repository)

    assert not between(repository, replace(whole, changed_known=False), other).known
    assert not between(repository, replace(whole, tree=None), other).known
    assert not between(repository, replace(whole, base="--output=x"), other).known


def test_a_conflict_that_is_resolved_is_a_change(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "a.txt").write_text("theirs\n")
    commit_all(repository, "theirs")
    git(repository, "checkout", "--quiet", "main")
    (repository / "a.txt").write_text("ours\n")
    commit_all(repository, "ours")
    attempt(repository, "git", "merge", "other")
    before = snapshot(repository)
    (repository / "a.txt").write_text("both\n")
    commit_all(repository, "merged")

    assert between(repository, before, snapshot(repository)).paths == ("a.txt",)
