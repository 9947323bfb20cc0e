"""Links, pipes, folders, other owners and other modes in the way of the local files."""

import os
import stat
from pathlib import Path

import pytest

from memprove.ledger import problems
from memprove.ledger.workspace import files

AS_ROOT = os.geteuid() == 0
UNSAFE = r"^path_unsafe: "


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    files.ensure_folder(folder)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "shell.json").write_bytes(b"secret")
    return folder


def leftovers(worktree: Path) -> list[str]:
    return [path.name for path in worktree.rglob("*.tmp")]


def test_what_was_written_is_read(worktree: Path) -> None:
    files.write_local(worktree, "context/shell.json", b"{}")
    files.write_local(worktree, "context/shell.json", b"[]")
    assert files.read_local(worktree, "context/shell.json") == b"[]"
    assert leftovers(worktree) == []


def test_an_absent_file_or_folder_is_none(tmp_path: Path, worktree: Path) -> None:
    assert files.read_local(worktree, "workspace") is None
    assert files.read_local(worktree, "context/shell.json") is None
    assert files.read_local(tmp_path, "workspace") is None


def test_reading_makes_nothing(tmp_path: Path) -> None:
    files.read_local(tmp_path, "context/shell.json")
    assert list(tmp_path.iterdir()) == []


def test_a_worktree_that_went_away_is_told(tmp_path: Path) -> None:
    with pytest.raises(problems.Problem, match=r"^workspace_gone: "):
        files.read_local(tmp_path / "gone", "workspace")
    with pytest.raises(problems.Problem, match=r"^workspace_gone: "):
        files.write_local(tmp_path / "gone", "workspace", b"")


def test_context_and_spool_are_private_and_the_rest_is_not(worktree: Path) -> None:
    os.umask(previous := os.umask(0o022))
    for name, mode in (("context/a", 0o600), ("spool/a", 0o600), ("workspace", 0o644)):
        files.write_local(worktree, name, b"")
        found = stat.S_IMODE(os.stat(worktree / ".memprove" / name).st_mode)
        assert found == mode & ~previous


def test_the_first_write_in_a_worktree_makes_the_folder_that_git_ignores(tmp_path: Path) -> None:
    files.write_local(tmp_path, "context/shell.json", b"{}")
    lines = (tmp_path / ".memprove" / ".gitignore").read_text().splitlines()
    assert lines[1:] == [
        "*",
        "!/config.toml",
        "!/trust",
        "!/head",
        "!/bundles/",
        "!/bundles/*.bundle",
    ]


def test_a_second_ensure_changes_nothing(worktree: Path) -> None:
    ignore = worktree / ".memprove" / ".gitignore"
    ignore.write_text("mine\n")
    before = ignore.stat()
    files.ensure_folder(worktree)
    assert (ignore.read_text(), ignore.stat()) == ("mine\n", before)


def test_a_worktree_seen_through_a_link_is_the_same(tmp_path: Path, worktree: Path) -> None:
    (tmp_path / "link").symlink_to(worktree)
    files.write_local(tmp_path / "link", "workspace", b"id")
    assert files.read_local(worktree, "workspace") == b"id"


# What is in the way


def test_a_linked_folder_is_never_followed(worktree: Path, outside: Path) -> None:
    (worktree / ".memprove" / "context").symlink_to(outside)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "context/shell.json")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, "context/shell.json", b"new")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.set_aside(worktree, "context/shell.json")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.remove_local(worktree, "context/shell.json")
    assert [path.name for path in outside.iterdir()] == ["shell.json"]
    assert (outside / "shell.json").read_bytes() == b"secret"


def test_a_linked_dot_memprove_is_never_followed(tmp_path: Path, outside: Path) -> None:
    (tmp_path / ".memprove").symlink_to(outside)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(tmp_path, "shell.json")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.ensure_folder(tmp_path)
    assert [path.name for path in outside.iterdir()] == ["shell.json"]


def test_a_linked_file_is_neither_read_nor_replaced(worktree: Path, outside: Path) -> None:
    link = worktree / ".memprove" / "workspace"
    link.symlink_to(outside / "shell.json")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, "workspace", b"new")
    assert link.is_symlink()
    assert (outside / "shell.json").read_bytes() == b"secret"


def test_a_pipe_does_not_hang(worktree: Path) -> None:
    os.mkfifo(worktree / ".memprove" / "workspace")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, "workspace", b"new")


def test_a_pipe_for_a_folder_does_not_hang(worktree: Path) -> None:
    os.mkfifo(worktree / ".memprove" / "context")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "context/shell.json")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, "context/shell.json", b"new")


def test_a_folder_where_a_file_belongs_is_unsafe_and_leaks_no_descriptor(worktree: Path) -> None:
    (worktree / ".memprove" / "workspace").mkdir()
    before = os.dup(0)
    os.close(before)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, "workspace", b"new")
    after = os.dup(0)
    os.close(after)
    assert (after, leftovers(worktree)) == (before, [])


def test_a_file_where_the_folder_belongs_is_unsafe(tmp_path: Path) -> None:
    (tmp_path / ".memprove").write_bytes(b"")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.ensure_folder(tmp_path)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(tmp_path, "workspace")


def test_a_file_at_the_cap_is_read_and_one_over_it_is_not(worktree: Path) -> None:
    files.write_local(worktree, "workspace", b"x" * 10)
    assert files.read_local(worktree, "workspace", cap=10) == b"x" * 10
    with pytest.raises(problems.Problem, match=UNSAFE + r".*over 9 bytes"):
        files.read_local(worktree, "workspace", cap=9)


def test_a_huge_sparse_file_is_not_read_into_memory(worktree: Path) -> None:
    with open(worktree / ".memprove" / "workspace", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")


@pytest.mark.skipif(not AS_ROOT, reason="only root can give a file away")
def test_a_file_of_another_user_is_unsafe(worktree: Path) -> None:
    files.write_local(worktree, "workspace", b"id")
    os.chown(worktree / ".memprove" / "workspace", 12345, -1)
    with pytest.raises(problems.Problem, match=UNSAFE + r".*another user"):
        files.read_local(worktree, "workspace")
    with pytest.raises(problems.Problem, match=UNSAFE + r".*another user"):
        files.write_local(worktree, "workspace", b"new")


@pytest.mark.skipif(not AS_ROOT, reason="only root can give a file away")
def test_a_hard_link_to_a_file_of_another_user_is_unsafe(worktree: Path, outside: Path) -> None:
    os.link(outside / "shell.json", worktree / ".memprove" / "workspace")
    os.chown(outside / "shell.json", 12345, -1)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")


def test_a_hard_link_is_replaced_and_never_written_through(worktree: Path, outside: Path) -> None:
    os.link(outside / "shell.json", worktree / ".memprove" / "workspace")
    files.write_local(worktree, "workspace", b"new")
    assert (outside / "shell.json").read_bytes() == b"secret"


@pytest.mark.skipif(AS_ROOT, reason="root may read and write everything")
def test_modes_that_forbid_are_told(worktree: Path) -> None:
    files.write_local(worktree, "workspace", b"id")
    (worktree / ".memprove" / "workspace").chmod(0)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, "workspace")
    (worktree / ".memprove").chmod(0o500)
    with pytest.raises(problems.Problem, match=r"^workspace_unwritable: "):
        files.write_local(worktree, "workspace", b"new")
    with pytest.raises(problems.Problem, match=r"^workspace_unwritable: "):
        files.set_aside(worktree, "workspace")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "..", "../x", "a/../x", "./x", "a//b", "a\0b"])
def test_a_name_cannot_leave_the_folder(worktree: Path, name: str) -> None:
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, name)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, name, b"")


def test_a_failed_write_leaves_the_old_file_and_no_other(worktree: Path) -> None:
    files.write_local(worktree, "workspace", b"old")
    with pytest.raises(TypeError):
        files.write_local(worktree, "workspace", "text")  # type: ignore[arg-type]
    assert files.read_local(worktree, "workspace") == b"old"
    assert leftovers(worktree) == []


# Moving aside


def test_files_are_set_aside_under_new_names(worktree: Path) -> None:
    names = []
    for content in (b"1", b"2", b"3"):
        files.write_local(worktree, "context/a.json", content)
        names.append(files.set_aside(worktree, "context/a.json"))
    assert names == [
        "context/a.json.unreadable",
        "context/a.json.unreadable-2",
        "context/a.json.unreadable-3",
    ]
    assert [files.read_local(worktree, name) for name in names] == [b"1", b"2", b"3"]
    assert files.read_local(worktree, "context/a.json") is None


def test_a_link_is_set_aside_itself(worktree: Path, outside: Path) -> None:
    (worktree / ".memprove" / "workspace").symlink_to(outside / "shell.json")
    files.set_aside(worktree, "workspace")
    assert (worktree / ".memprove" / "workspace.unreadable").is_symlink()
    assert (outside / "shell.json").exists()


def test_removing_is_done_once_and_again(worktree: Path) -> None:
    files.write_local(worktree, "context/a.json", b"")
    files.remove_local(worktree, "context/a.json")
    files.remove_local(worktree, "context/a.json")
    files.remove_local(worktree, "spool/a")
    assert files.read_local(worktree, "context/a.json") is None


# Where a folder cannot be an anchor


@pytest.mark.parametrize("target", ["context", "shell.json"])
def test_without_anchors_links_are_not_followed_either(
    worktree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(files, "_ANCHORED", False)
    files.write_local(worktree, "context/a.json", b"{}")
    assert files.read_local(worktree, "context/a.json") == b"{}"
    (worktree / ".memprove" / "spool").symlink_to(outside)
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.read_local(worktree, f"spool/{target}")
    with pytest.raises(problems.Problem, match=UNSAFE):
        files.write_local(worktree, f"spool/{target}", b"new")
    assert (outside / "shell.json").read_bytes() == b"secret"
