"""The tree of a folder that is no repository."""

import os
import socket
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from support.command_line import without_root_rights
from support.git_repository import attempt, git, isolate

from memprove.ledger.workspace import manifest
from memprove.ledger.workspace.changes import Changes, changes
from memprove.ledger.workspace.manifest import read_manifest
from memprove.ledger.workspace.tree import Entry, Tree, is_manifest, read_tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    (root / "dir").mkdir(parents=True)
    (root / "a.txt").write_text("a\n")
    (root / "dir" / "b.sh").write_text("b\n")
    (root / "dir" / "b.sh").chmod(0o755)
    (root / "link").symlink_to("dir")
    return root


def read(root: Path) -> Tree:
    return read_manifest(root, deadline_s=30)


def paths(root: Path) -> list[str]:
    tree = read(root)
    assert (tree.id is not None, tree.changed_known) == (True, True), tree.reason
    return [entry.path for entry in tree.changed]


def test_every_file_is_a_row_and_the_id_is_the_hash_of_the_rows(folder: Path) -> None:
    tree = read(folder)

    a, b, target = (sha256(content).hexdigest() for content in (b"a\n", b"b\n", b"dir"))
    assert tree.changed == (
        Entry("a.txt", 0o100644, a, False),
        Entry("dir/b.sh", 0o100755, b, False),
        Entry("link", 0o120000, target, False),
    )
    rows = f"100644 {a}\ta.txt\x00100755 {b}\tdir/b.sh\x00120000 {target}\tlink\x00"
    assert tree.id == "m" + sha256(rows.encode()).hexdigest()
    assert is_manifest(tree.id)
    assert (tree.base, tree.branch, tree.hidden, tree.reason) == (None, None, 0, "")
    assert tree.changed_known


def test_the_same_content_elsewhere_is_the_same_tree(folder: Path, tmp_path: Path) -> None:
    before = read(folder)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    (folder / "empty").mkdir()
    folder.rename(tmp_path / "elsewhere")

    assert read(tmp_path / "elsewhere") == before


def edit(root: Path) -> str:
    (root / "a.txt").write_text("b\n")
    return "a.txt"


def edit_and_restore_the_time(root: Path) -> str:
    before = (root / "a.txt").stat()
    (root / "a.txt").write_text("b\n")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    return "a.txt"


def make_executable(root: Path) -> str:
    (root / "a.txt").chmod(0o744)
    return "a.txt"


def remove(root: Path) -> str:
    (root / "a.txt").unlink()
    return "a.txt"


def add(root: Path) -> str:
    (root / "dir" / "new").touch()
    return "dir/new"


def point_elsewhere(root: Path) -> str:
    (root / "link").unlink()
    (root / "link").symlink_to("a.txt")
    return "link"


def turn_into_a_link(root: Path) -> str:
    (root / "a.txt").rename(root.parent / "a.txt")
    (root / "a.txt").symlink_to("../a.txt")
    return "a.txt"


def strange_name(root: Path) -> str:
    (root / os.fsdecode(b"\xff\n\\\xc3\xa9")).touch()
    return "\\xff\n\\\\é"


def pipe(root: Path) -> str:
    os.mkfifo(root / "pipe")
    return "pipe"


def local_socket(root: Path) -> str:
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(root, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    return "socket"


@pytest.mark.parametrize(
    "change",
    [
        edit,
        edit_and_restore_the_time,
        make_executable,
        remove,
        add,
        point_elsewhere,
        turn_into_a_link,
        strange_name,
        pipe,
        pytest.param(
            local_socket,
            marks=pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc"),
        ),
    ],
)
def test_a_change_makes_another_tree_and_is_named(
    folder: Path, change: Callable[[Path], str]
) -> None:
    before = read(folder)
    named = change(folder)
    after = read(folder)

    assert after.id not in (None, before.id)
    for one, other in ((before, after), (after, before)):
        assert changes(folder, one.snapshot, other.snapshot, deadline_s=1) == Changes(
            True, (named,)
        )


def test_no_link_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(folder)
    before = read(folder)
    (tmp_path / "outside" / "file").touch()

    assert read(folder) == before


def test_what_tools_make_and_our_folder_are_left_out(folder: Path) -> None:
    before = read(folder)
    for name in (*manifest.LEFT_OUT, b".memprove"):
        (folder / os.fsdecode(name)).mkdir()
        (folder / os.fsdecode(name) / "file").touch()
    (folder / "dir" / ".coverage").touch()
    same = read(folder)
    (folder / "dir" / ".memprove").touch()

    assert same == before
    assert "dir/.memprove" in paths(folder)


def test_a_repository_further_down_counts_with_its_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    git(folder, "init", "--quiet", "inner")
    (folder / "inner" / "file").touch()

    assert paths(folder) == ["a.txt", "dir/b.sh", "inner/file", "link"]


IGNORE_FILES = {
    ".gitignore": "*.log\nbuild/\n/top\n!kept.log\n",
    "dir/.gitignore": "!again.log\n/top\ndeep/**/x\n",
    "build/.gitignore": "!*\n",
}
FILES = (
    *("x.log", "kept.log", "top", "build/out", "dir/again.log", "dir/y.log", "dir/top"),
    *("dir/sub/top", "dir/deep/x", "dir/deep/er/x", "dir/deep/y", "dir/build/out", "sub/build"),
)


def test_what_gitignore_files_say_is_left_out_as_git_does(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    for name, text in (*IGNORE_FILES.items(), *((name, "") for name in FILES)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = paths(folder)

    git(folder, "init", "--quiet")
    assert found == [entry.path for entry in read_tree(folder, deadline_s=30).changed]


def test_a_gitignore_counts_even_if_it_ignores_itself(folder: Path) -> None:
    (folder / "dir" / ".gitignore").write_text("*\n")

    assert paths(folder) == ["a.txt", "dir/.gitignore", "link"]


def test_where_everything_is_ignored_the_tree_is_unknown(folder: Path) -> None:
    (folder / ".gitignore").write_text("*\n")

    assert read(folder) == Tree(None, "all_ignored", None, None, (), False, 0)


def test_an_empty_folder_has_a_tree(tmp_path: Path) -> None:
    assert read(tmp_path).id is not None


def test_a_link_or_folder_named_gitignore_says_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("*\n")
    (folder / ".gitignore").symlink_to(tmp_path / "elsewhere")
    (folder / "dir" / ".gitignore").mkdir()

    assert paths(folder) == [".gitignore", "a.txt", "dir/b.sh", "link"]


def test_a_pipe_named_gitignore_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / ".gitignore")

    assert paths(folder) == [".gitignore", "a.txt", "dir/b.sh", "link"]


def test_an_endless_gitignore_makes_the_tree_unknown(folder: Path) -> None:
    (folder / ".gitignore").write_bytes(b"x\n" * manifest.IGNORE_LIMIT)

    assert read(folder).reason == "unreadable: .gitignore (over 65536 bytes)"


@pytest.mark.parametrize(
    ("limit", "most"), [("MOST_FILES", 3), ("MOST_BYTES", 3), ("MOST_FILES", 0)]
)
def test_a_folder_beyond_the_limits_has_no_tree(
    folder: Path, limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, limit, most)

    assert read(folder).reason == "too_large"


def test_too_many_rows_are_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(folder)
    monkeypatch.setattr(manifest, "MOST_ROWS", 2)

    tree = read(folder)

    assert (tree.id, tree.changed, tree.changed_known) == (before.id, (), False)


def test_a_folder_that_takes_too_long_has_no_tree(folder: Path) -> None:
    assert read_manifest(folder, deadline_s=0).reason == "timeout"


def test_a_folder_that_is_gone_has_no_tree(tmp_path: Path) -> None:
    assert read(tmp_path / "gone").reason == "unreadable: ."


@pytest.mark.parametrize(("name", "mode"), [("a.txt", 0), ("dir", 0)])
def test_what_cannot_be_read_is_named(folder: Path, name: str, mode: int) -> None:
    (folder / name).chmod(mode)
    script = (
        "import sys, pathlib; from memprove.ledger.workspace.manifest import read_manifest as read;"
        "print(read(pathlib.Path(sys.argv[1]), deadline_s=30).reason)"
    )

    done = attempt(folder.parent, *without_root_rights(), sys.executable, "-c", script, str(folder))

    assert done.stdout.decode() == f"unreadable: {name}\n", done.stderr


def test_a_folder_that_became_a_repository_has_no_change_to_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    before = read(folder).snapshot
    git(folder, "init", "--quiet")
    after = read_tree(folder, deadline_s=30).snapshot

    assert after.base is None
    assert changes(folder, before, after, deadline_s=30) == Changes(False, ())
    assert changes(folder, after, before, deadline_s=30) == Changes(False, ())
