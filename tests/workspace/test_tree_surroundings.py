"""The tree amid what else uses the repository: filters, work trees, locks, garbage collection."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.git_repository import (
    commit_all,
    fingerprint,
    git,
    new_repository,
    tree_by_add,
)
from support.git_situations import dirty, untracked

from memprove.ledger.workspace import scratch
from memprove.ledger.workspace.changes import Changes, changes
from memprove.ledger.workspace.tree import Snapshot, Tree, read_tree

pytestmark = pytest.mark.usefixtures("home")


def read(folder: Path) -> Tree:
    return read_tree(folder, deadline_s=30)


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="needs git-lfs")
@pytest.mark.parametrize("process", [True, False])
def test_large_files_count_by_their_pointers_and_are_not_stored(
    repository: Path, process: bool
) -> None:
    git(repository, "config", "--global", "filter.lfs.clean", "git-lfs clean -- %f")
    git(repository, "config", "--global", "filter.lfs.smudge", "git-lfs smudge -- %f")
    if process:
        git(repository, "config", "--global", "filter.lfs.process", "git-lfs filter-process")
    git(repository, "config", "--global", "filter.lfs.required", "true")
    (repository / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (repository / "old.bin").write_bytes(b"old")
    commit_all(repository, "large files")
    (repository / "old.bin").write_bytes(b"changed")
    (repository / "new.bin").write_bytes(b"new")
    before = fingerprint(repository)

    tree = read(repository)

    assert fingerprint(repository) == before
    assert [entry.path for entry in tree.changed] == ["new.bin", "old.bin"]
    assert tree.id == tree_by_add(repository)


def test_another_work_tree_of_the_repository_is_no_part_of_this_one(repository: Path) -> None:
    before = read(repository)
    place = repository / ".claude" / "worktrees" / "x"
    git(repository, "worktree", "add", "--quiet", "-b", "x", str(place))
    git(repository, "worktree", "add", "--quiet", "-b", "y", str(place / "deeper"))
    clean = read(repository)
    (place / "a.txt").write_text("changed\n")
    (place / "new.txt").write_text("new\n")

    assert clean == before
    assert read(repository) == before
    assert [entry.path for entry in read(place).changed] == ["a.txt", "new.txt"]


def test_a_work_tree_of_another_repository_is_looked_at(repository: Path, tmp_path: Path) -> None:
    other = new_repository(tmp_path / "other")
    git(other, "worktree", "add", "--quiet", "-b", "x", str(repository / "x"))
    assert [entry.path for entry in read(repository).changed] == ["x"]
    (repository / "x" / "a.txt").write_text("changed\n")

    assert read(repository).reason == "submodule_dirty: x"


@pytest.mark.parametrize("pointer", ["../../.git", "../../.git/worktrees/x"])
def test_a_folder_that_only_says_it_is_a_work_tree_of_the_repository_is_not_left_out(
    repository: Path, tmp_path: Path, pointer: str
) -> None:
    git(repository, "worktree", "add", "--quiet", "-b", "x", str(tmp_path / "x"))
    (repository / "dir" / "forged").mkdir()
    (repository / "dir" / "forged" / ".git").write_text(f"gitdir: {pointer}\n")
    (repository / "dir" / "forged" / "code.py").write_text("")

    assert read(repository).reason.startswith("submodule_")


def test_a_work_tree_of_a_bare_repository_has_a_tree(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "work"), "main")
    dirty(tmp_path / "work")
    dirty(repository)

    assert read(tmp_path / "work").id == tree_by_add(repository)


def test_objects_of_another_repository_are_found(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--shared", str(repository), "shared")
    dirty(tmp_path / "shared")
    dirty(repository)

    assert read(tmp_path / "shared").id == tree_by_add(repository)


def test_an_index_that_the_environment_names_is_not_taken(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dirty(repository)
    untracked(repository)
    expected = tree_by_add(repository)
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))

    assert read(repository).id == expected
    assert not (tmp_path / "other-index").exists()


def test_while_another_git_holds_the_index_there_is_a_tree(repository: Path) -> None:
    dirty(repository)
    command = ("git", "update-index", "--stdin")
    with subprocess.Popen(command, cwd=repository, stdin=subprocess.PIPE) as holding:
        while not (repository / ".git" / "index.lock").exists():
            assert holding.poll() is None
        tree = read(repository)
        assert (repository / ".git" / "index.lock").exists()

    assert tree.id == tree_by_add(repository)


def test_while_git_collects_garbage_the_tree_stays_the_same(repository: Path) -> None:
    for number in range(30):
        (repository / "a.txt").write_text(f"{number}\n" * 2000)
        commit_all(repository, str(number))
    dirty(repository)
    seen = [read(repository)]

    command = ("git", "gc", "--quiet", "--aggressive", "--prune=now")
    with subprocess.Popen(command, cwd=repository) as collecting:
        while collecting.poll() is None:
            seen.append(read(repository))

    assert len(seen) > 1
    assert set(seen) == {read(repository)}
    assert seen[0].id == tree_by_add(repository)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another owner")
def test_a_repository_of_another_owner_counts_where_the_user_calls_it_safe(
    repository: Path,
) -> None:
    expected = read(repository)
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert read(repository).reason == "not_owned"
    git(repository, "config", "--global", "safe.directory", str(repository))

    assert read(repository) == expected


@pytest.fixture
def promised(repository: Path, tmp_path: Path) -> Path:
    """Return a clone that has one folder only, and a remote that tells if it is asked for more."""
    git(repository, "config", "uploadpack.allowFilter", "true")
    (repository / "dir" / "c.txt").write_text("second\n")
    commit_all(repository, "second")
    options = ("--filter=blob:none", "--sparse")
    git(tmp_path, "clone", "--quiet", *options, f"file://{repository}", "partial")
    asked = tmp_path / "asked"
    git(tmp_path / "partial", "config", "remote.origin.uploadpack", f"touch '{asked}'; false")
    return tmp_path / "partial"


def test_nothing_is_fetched_for_the_tree_of_a_partial_clone(
    promised: Path, repository: Path, tmp_path: Path
) -> None:
    dirty(promised)
    dirty(repository)

    assert not (promised / "dir").exists()
    assert read(promised).id == tree_by_add(repository)
    assert not (tmp_path / "asked").exists()


def test_nothing_is_fetched_to_name_changes_in_a_partial_clone(
    promised: Path, repository: Path, tmp_path: Path
) -> None:
    first = git(repository, "rev-parse", "HEAD~")
    tree = git(repository, "rev-parse", "HEAD~^{tree}")
    after = read(promised).snapshot
    named = changes(promised, Snapshot(tree, first, (), True), after, deadline_s=30)
    missing = Snapshot("1" * 40, "2" * 40, (), True)

    assert named == Changes(True, ("dir/c.txt",))
    assert changes(promised, missing, after, deadline_s=30) == Changes(False, ())
    assert not (tmp_path / "asked").exists()


def test_without_its_promised_folders_a_clone_has_no_tree_and_nothing_is_fetched(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    options = ("--filter=tree:0", "--no-checkout")
    git(tmp_path, "clone", "--quiet", *options, f"file://{repository}", "treeless")
    git(
        tmp_path / "treeless",
        *("config", "remote.origin.uploadpack", f"touch '{tmp_path / 'asked'}'; false"),
    )

    assert read(tmp_path / "treeless").id is None
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("ignored", ["true", "false"])
def test_a_name_that_differs_in_letter_case_only_is_seen(repository: Path, ignored: str) -> None:
    if (repository / "A.TXT").exists():
        pytest.skip("one file here")
    git(repository, "config", "core.ignoreCase", ignored)
    (repository / "a.txt").rename(repository / "A.TXT")
    (repository / "B.txt").write_text("beside b.txt\n")
    (repository / "Dir").mkdir()
    (repository / "Dir" / "new.txt").write_text("new\n")

    tree = read(repository)

    git(repository, "config", "core.ignoreCase", "false")
    assert [e.path for e in tree.changed] == ["A.TXT", "B.txt", "Dir/new.txt", "a.txt"]
    assert tree.id == tree_by_add(repository)


def test_ten_thousand_and_one_changed_paths_are_too_many_to_name(repository: Path) -> None:
    for number in range(10_000):
        (repository / "dir" / str(number)).touch()
    assert len(read(repository).changed) == 10_000
    (repository / "dir" / "one more").touch()

    tree = read(repository)

    assert (tree.changed, tree.changed_known) == ((), False)
    assert tree.id is not None


@pytest.mark.parametrize("memory", ["missing", "of one user"])
def test_without_a_folder_in_memory_the_scratch_files_are_on_disk(
    repository: Path, tmp_path: Path, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of one user").mkdir(mode=0o700)
    monkeypatch.setattr(scratch, "MEMORY", str(tmp_path / memory))
    dirty(repository)

    assert read(repository).id == tree_by_add(repository)


def test_what_a_killed_process_left_in_memory_goes_once_nobody_can_be_at_work_there(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    memory.chmod(0o1777)
    monkeypatch.setattr(scratch, "MEMORY", str(memory))
    old, new, another = (memory / f"memprove-{name}" for name in ("0" * 16, "1" * 16, "mine"))
    for folder in (old, new, another):
        (folder / "objects").mkdir(parents=True)
    for folder in (old, another):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    read(repository)
    assert sorted(memory.iterdir()) == [new, another]


@pytest.mark.skipif(not os.access(scratch.MEMORY, os.W_OK), reason="no folder in memory here")
def test_a_repository_in_memory_has_its_scratch_files_elsewhere(tmp_path: Path) -> None:
    with TemporaryDirectory(dir=scratch.MEMORY) as name:
        repository = new_repository(Path(name, "repository"))
        untracked(repository)

        assert read(repository).id == tree_by_add(repository)
