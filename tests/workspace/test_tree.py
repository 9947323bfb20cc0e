"""The tree against ``git add --all`` and ``git write-tree``, and what else is said of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.git_repository import (
    attempt,
    commit_all,
    fingerprint,
    git,
    isolate,
    new_repository,
    tree_by_add,
)

from memprove.ledger.workspace import tree as tree_module
from memprove.ledger.workspace.tree import Entry, Tree, read_tree

OLD = (1_000_000_000, 1_000_000_000)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path / "home")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


def read(folder: Path) -> Tree:
    return read_tree(folder, deadline_s=30)


def clean(repository: Path) -> None:
    pass


def dirty(repository: Path) -> None:
    (repository / "a.txt").write_text("changed\n")


def staged(repository: Path) -> None:
    (repository / "a.txt").write_text("staged\n")
    (repository / "staged.txt").write_text("staged\n")
    git(repository, "add", "--all")


def staged_and_changed_again(repository: Path) -> None:
    staged(repository)
    (repository / "a.txt").write_text("changed again\n")


def staged_and_restored_in_the_worktree(repository: Path) -> None:
    (repository / "a.txt").write_text("staged\n")
    git(repository, "add", "--all")
    (repository / "a.txt").write_text("a\n")


def staged_removal_of_a_file_that_is_there(repository: Path) -> None:
    git(repository, "rm", "--quiet", "--cached", "a.txt")


def untracked(repository: Path) -> None:
    (repository / "new" / "deep").mkdir(parents=True)
    (repository / "new" / "deep" / "file").write_text("new\n")
    (repository / "empty").mkdir()


def ignored(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n/build/\n!kept.log\n")
    (repository / "build").mkdir()
    for name in ("x.log", "kept.log", "build/out"):
        (repository / name).write_text("x\n")


def tracked_though_ignored(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.txt\n")
    (repository / "a.txt").write_text("changed\n")


def intent_to_add(repository: Path) -> None:
    (repository / "intended.txt").write_text("x\n")
    (repository / "gone.txt").write_text("x\n")
    git(repository, "add", "--intent-to-add", "intended.txt", "gone.txt")
    (repository / "gone.txt").unlink()


def deleted(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "dir" / "c.txt").unlink()
    (repository / "dir").rmdir()


def file_mode(repository: Path) -> None:
    (repository / "a.txt").chmod(0o755)


def file_mode_not_trusted(repository: Path) -> None:
    git(repository, "config", "core.fileMode", "false")
    (repository / "a.txt").chmod(0o755)
    (repository / "new.sh").write_text("x\n")
    (repository / "new.sh").chmod(0o755)


def symbolic_links(repository: Path) -> None:
    (repository / "link").symlink_to("nowhere/at/all")
    (repository / "to-folder").symlink_to("dir")
    (repository / "outside").symlink_to("/etc")


def file_becomes_link(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").symlink_to("b.txt")


def file_becomes_folder(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").mkdir()
    (repository / "a.txt" / "inner").write_text("x\n")


def file_becomes_empty_folder(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").mkdir()


def file_becomes_repository(repository: Path) -> None:
    (repository / "a.txt").unlink()
    new_repository(repository / "a.txt")


def folder_becomes_file(repository: Path) -> None:
    (repository / "dir" / "c.txt").unlink()
    (repository / "dir").rmdir()
    (repository / "dir").write_text("x\n")


def folder_becomes_link_to_the_same(repository: Path) -> None:
    (repository / "dir").rename(repository / "moved")
    (repository / "dir").symlink_to("moved")


def folder_becomes_ignored_link(repository: Path) -> None:
    folder_becomes_link_to_the_same(repository)
    (repository / ".gitignore").write_text("/dir\n")


def strange_names(repository: Path) -> None:
    for name in (b"\xff\xfe", b"new\nline", b'"quoted"', b"back\\slash", b" ", "é".encode(), b"-x"):
        (repository / os.fsdecode(name)).write_text("x\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "names")
    (repository / os.fsdecode(b"\xff\xfe")).unlink()
    (repository / "new\nline").write_text("changed\n")
    (repository / os.fsdecode(b"\xfd\n\t")).write_text("x\n")


def automatic_line_ends(repository: Path) -> None:
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    commit_all(repository, "line ends of Windows in the repository")
    git(repository, "config", "core.autocrlf", "true")
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (repository / "a.txt").write_bytes(b"a\r\n")
    (repository / "new.txt").write_bytes(b"new\r\n")


def attributes_of_line_ends(repository: Path) -> None:
    (repository / ".gitattributes").write_text(
        "*.txt text eol=crlf\n*.u working-tree-encoding=UTF-16\n"
    )
    (repository / "a.txt").write_bytes(b"a\r\n")
    (repository / "x.u").write_bytes("text\n".encode("utf-16"))


def owners_filter(repository: Path) -> None:
    git(repository, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    (repository / ".gitattributes").write_text("*.txt filter=upper\n")
    (repository / "new.txt").write_text("new\n")


def touched(repository: Path) -> None:
    os.utime(repository / "a.txt", OLD)


def racily_clean(repository: Path) -> None:
    (repository / "a.txt").write_text("1\n")
    git(repository, "add", "--all")
    (repository / "a.txt").write_text("2\n")


def conflicted(repository: Path) -> None:
    _diverge(repository)
    attempt(repository, "git", "merge", "other")
    assert git(repository, "ls-files", "--unmerged")


def conflicted_and_removed(repository: Path) -> None:
    conflicted(repository)
    (repository / "a.txt").unlink()


def amid_a_rebase(repository: Path) -> None:
    _diverge(repository)
    attempt(repository, "git", "rebase", "other")
    assert (repository / ".git" / "rebase-merge").exists()


def detached(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    (repository / "a.txt").write_text("changed\n")


def sparse(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "--cone", "other")
    assert not (repository / "dir").exists()
    (repository / "a.txt").write_text("changed\n")


def sparse_index(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "other")
    (repository / "a.txt").write_text("changed\n")


def split_index(repository: Path) -> None:
    git(repository, "update-index", "--split-index")
    git(repository, "config", "core.splitIndex", "true")
    (repository / "a.txt").write_text("changed\n")
    git(repository, "add", "a.txt")
    (repository / "b.txt").write_text("changed\n")


def untracked_cache(repository: Path) -> None:
    git(repository, "update-index", "--force-untracked-cache")
    git(repository, "status")
    (repository / "new.txt").write_text("new\n")


def index_of_version_4(repository: Path) -> None:
    git(repository, "update-index", "--index-version", "4")
    (repository / "a.txt").write_text("changed\n")


def no_index(repository: Path) -> None:
    (repository / ".git" / "index").unlink()


def packed(repository: Path) -> None:
    git(repository, "gc", "--quiet")
    (repository / "a.txt").write_text("changed\n")


def submodule(repository: Path) -> None:
    new_repository(repository / "sub")
    git(repository, "add", "sub")
    git(repository, "commit", "--quiet", "--message", "submodule")


def submodule_at_another_commit(repository: Path) -> None:
    submodule(repository)
    (repository / "sub" / "a.txt").write_text("more\n")
    commit_all(repository / "sub", "more")


def submodule_not_checked_out(repository: Path) -> None:
    submodule(repository)
    (repository / "sub").rename(repository.parent / "away")
    (repository / "sub").mkdir()


def submodule_removed(repository: Path) -> None:
    submodule(repository)
    (repository / "sub").rename(repository.parent / "away")


def submodule_becomes_file(repository: Path) -> None:
    submodule_removed(repository)
    (repository / "sub").write_text("x\n")


def nested_repository(repository: Path) -> None:
    new_repository(repository / "nested" / "one")


def replaced_objects(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    (repository / "a.txt").write_text("second\n")
    second = commit_all(repository, "second")
    git(repository, "replace", second, first)


def hidden_file(repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text("*.tmp\n")
    (repository / "x.tmp").write_text("x\n")


def _diverge(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "a.txt").write_text("theirs\n")
    commit_all(repository, "theirs")
    git(repository, "checkout", "--quiet", "main")
    (repository / "a.txt").write_text("ours\n")
    (repository / "untracked-no-more.txt").write_text("x\n")
    commit_all(repository, "ours")


SITUATIONS = (
    clean,
    dirty,
    staged,
    staged_and_changed_again,
    staged_and_restored_in_the_worktree,
    staged_removal_of_a_file_that_is_there,
    untracked,
    ignored,
    tracked_though_ignored,
    intent_to_add,
    deleted,
    file_mode,
    file_mode_not_trusted,
    symbolic_links,
    file_becomes_link,
    file_becomes_folder,
    file_becomes_empty_folder,
    file_becomes_repository,
    folder_becomes_file,
    folder_becomes_link_to_the_same,
    folder_becomes_ignored_link,
    strange_names,
    automatic_line_ends,
    attributes_of_line_ends,
    owners_filter,
    touched,
    racily_clean,
    conflicted,
    conflicted_and_removed,
    amid_a_rebase,
    detached,
    sparse,
    sparse_index,
    split_index,
    untracked_cache,
    index_of_version_4,
    no_index,
    packed,
    submodule,
    submodule_at_another_commit,
    submodule_not_checked_out,
    submodule_removed,
    submodule_becomes_file,
    nested_repository,
    replaced_objects,
    hidden_file,
)


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
    (repository / "b.txt").unlink()

    tree = read(repository)

    assert [entry.path for entry in tree.changed] == ["a.txt"]
    (repository / "b.txt").write_text("b\n")
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
    submodule(repository / "..") if False else submodule(repository)
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
    "place", [".gitignore", ".gitattributes", ".git/info/exclude", ".git/config"]
)
def test_a_pipe_that_git_waits_for_ends_at_the_time_limit(repository: Path, place: str) -> None:
    (repository / place).parent.mkdir(exist_ok=True)
    (repository / place).unlink(missing_ok=True)
    os.mkfifo(repository / place)
    (repository / "new.txt").write_text("x\n")

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
