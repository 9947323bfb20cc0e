"""The tree against ``git add --all`` and ``git write-tree``, and what else is said of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.git_repository import (
    commit_all,
    fingerprint,
    git,
    new_repository,
    tree_by_add,
)
from support.git_situations import SITUATIONS, dirty, hidden_file, symbolic_links, untracked

from memprove.ledger.workspace import tree as tree_module
from memprove.ledger.workspace.tree import Entry, Tree, read_tree

OLD = (1_000_000_000, 1_000_000_000)


pytestmark = pytest.mark.usefixtures("home")


def read(folder: Path) -> Tree:
    return read_tree(folder, deadline_s=30)


@pytest.mark.parametrize("prepare", SITUATIONS)
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_the_tree_is_what_git_would_commit(
    prepare: Callable[[Path], None],
    object_format: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", object_format)
    repository = new_repository(tmp_path / "repository")
    prepare(repository)

    tree = read(repository)

    assert tree.reason == ""
    assert tree.id == tree_by_add(repository)


@pytest.mark.parametrize("prepare", SITUATIONS)
def test_nothing_under_the_repository_is_written(
    prepare: Callable[[Path], None], repository: Path
) -> None:
    prepare(repository)
    before = fingerprint(repository)

    read(repository)

    assert fingerprint(repository) == before


@pytest.mark.parametrize("prepare", SITUATIONS)
def test_the_rows_are_the_difference_from_the_base_commit(
    prepare: Callable[[Path], None], repository: Path
) -> None:
    prepare(repository)

    tree = read(repository)

    copy = repository.with_name("repository-copy")
    assert tree.id == tree_by_add(repository)
    rows = git(
        copy, "--no-replace-objects", "diff-tree", "-r", "--no-renames", "-z", "HEAD", tree.id
    )
    fields = rows.split("\0")[:-1]
    assert [entry.path for entry in tree.changed] == sorted(
        os.fsencode(path).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
        for path in fields[1::2]
    )
    assert sorted((entry.mode, entry.oid) for entry in tree.changed) == sorted(
        (int(header.split(" ")[1], 8), header.split(" ")[3].replace("0" * 40, ""))
        for header in fields[::2]
    )
    assert tree.changed_known


def test_before_the_first_commit_there_is_a_tree_and_no_base(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "fresh")
    fresh = tmp_path / "fresh"
    assert read(fresh).id == tree_by_add(fresh)

    (fresh / "x").write_text("x\n")
    tree = read(fresh)

    assert tree.id == tree_by_add(fresh)
    assert (tree.base, tree.branch) == (None, "main")
    assert [(entry.path, entry.untracked) for entry in tree.changed] == [("x", True)]


def test_head_and_branch_are_named(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "feature/x")
    on_branch = read(repository)
    git(repository, "checkout", "--quiet", "--detach")

    assert on_branch.base == git(repository, "rev-parse", "HEAD")
    assert on_branch.branch == "feature/x"
    assert read(repository).branch is None
    assert read(repository).base == on_branch.base


def test_a_row_says_whether_git_tracked_the_path(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "new.txt").write_text("")
    (repository / "staged.txt").write_text("")
    git(repository, "add", "staged.txt")

    empty = git(repository, "hash-object", "--stdin")
    assert read(repository).changed == (
        Entry("a.txt", 0, "", False),
        Entry("new.txt", 0o100644, empty, True),
        Entry("staged.txt", 0o100644, empty, False),
    )


def test_a_dirty_tree_is_the_tree_of_its_commit_here_and_in_another_clone(
    repository: Path, tmp_path: Path
) -> None:
    dirty(repository)
    untracked(repository)
    symbolic_links(repository)
    before = read(repository)

    commit_all(repository, "all of it")
    git(tmp_path, "clone", "--quiet", str(repository), "clone")

    assert read(repository).id == before.id
    assert read(repository).changed == ()
    assert read(tmp_path / "clone").id == before.id


def test_a_shallow_clone_has_the_same_tree(repository: Path, tmp_path: Path) -> None:
    commit_all(repository, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")

    assert read(tmp_path / "shallow").id == read(repository).id


def test_a_linked_worktree_has_its_own_tree(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "a.txt").write_text("side\n")

    tree = read(tmp_path / "side")

    (repository / "a.txt").write_text("side\n")
    assert tree.id == tree_by_add(repository)
    assert tree.branch == "side"


def test_a_worktree_reached_through_a_link_has_the_same_tree(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository)

    assert read(tmp_path / "link") == read(repository)


def test_a_place_with_strange_characters_has_a_tree(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / 'a:b "c" d\\e\r \udcff')
    dirty(repository)

    assert read(repository).id == tree_by_add(repository)


def test_an_assumed_unchanged_file_counts_as_it_is(repository: Path) -> None:
    git(repository, "update-index", "--assume-unchanged", "a.txt", "b.txt")
    dirty(repository)
    before = fingerprint(repository)

    tree = read(repository)

    assert fingerprint(repository) == before
    git(repository, "update-index", "--no-assume-unchanged", "a.txt", "b.txt")
    assert tree.id == tree_by_add(repository)


def test_a_skip_worktree_file_that_is_there_counts_as_it_is(repository: Path) -> None:
    git(repository, "update-index", "--skip-worktree", "a.txt", "b.txt")
    dirty(repository)

    tree = read(repository)

    assert [entry.path for entry in tree.changed] == ["a.txt"]
    git(repository, "update-index", "--no-skip-worktree", "a.txt", "b.txt")
    assert tree.id == tree_by_add(repository)


def test_a_restored_mtime_hides_no_change(repository: Path) -> None:
    os.utime(repository / "a.txt", OLD)
    git(repository, "update-index", "--refresh")
    (repository / "a.txt").write_text("b\n")
    os.utime(repository / "a.txt", OLD)

    assert [entry.path for entry in read(repository).changed] == ["a.txt"]


def test_our_folder_is_no_part_of_the_tree(repository: Path) -> None:
    before = read(repository)
    (repository / ".memprove" / "context").mkdir(parents=True)
    (repository / ".memprove" / "config.toml").write_text("")
    (repository / ".memprove" / "context" / "shell.json").write_text("{}")
    untracked_ = read(repository)
    base = commit_all(repository, "with our folder")
    (repository / ".memprove" / "config.toml").write_text("# changed\n")
    tracked = read(repository)
    (repository / "dir" / ".memprove").write_text("not ours\n")

    assert untracked_ == before
    assert (tracked.id, tracked.changed, tracked.base) == (before.id, (), base)
    assert [entry.path for entry in read(repository).changed] == ["dir/.memprove"]


def test_hidden_files_are_counted(repository: Path, tmp_path: Path) -> None:
    assert read(repository).hidden == 0
    hidden_file(repository)
    (repository / "deep" / "er").mkdir(parents=True)
    (repository / "deep" / "er" / "y.tmp").write_text("")
    (repository / ".gitignore").write_text("both.tmp\n")
    (repository / "both.tmp").write_text("")
    (tmp_path / "excludes").write_text("*.bak\n")
    git(repository, "config", "--global", "core.excludesFile", str(tmp_path / "excludes"))
    (repository / "z.bak").write_text("")

    assert read(repository).hidden == 3


def test_the_usual_excludes_file_of_the_user_hides_too(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "git" / "ignore").write_text("*.bak\n")
    (repository / "z.bak").write_text("")

    assert read(repository).hidden == 1


def test_too_many_rows_are_left_out(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MOST_ROWS", 2)
    for name in ("x", "y", "z"):
        (repository / name).write_text("")

    tree = read(repository)

    assert (tree.changed, tree.changed_known) == ((), False)
    assert tree.id == tree_by_add(repository)


def test_a_locked_index_is_no_hindrance(repository: Path) -> None:
    dirty(repository)
    (repository / ".git" / "index.lock").write_text("")

    assert [entry.path for entry in read(repository).changed] == ["a.txt"]


def test_scratch_files_are_never_put_into_the_worktree(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(repository / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)

    assert read(repository).changed == ()
    assert list((repository / "tmp").iterdir()) == []
