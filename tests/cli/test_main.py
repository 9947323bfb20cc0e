"""Before anything is imported, what others put on the path is dropped."""

import os
import sys
import sysconfig
from pathlib import Path

import pytest
from support.command_line import Desk

from memprove.cli import main

SCRIPT = (sys.executable, "-c", "import sys; from memprove.cli.main import main; main()")
"""What the installed ``memprove`` script does."""
HOSTILE = (
    *("json", "typing", "enum", "subprocess", "inspect", "tempfile", "tomllib", "platform"),
    *("typer", "rich", "click", "msgspec", "apsw", "cryptography", "platformdirs", "pathspec"),
    *("cli", "ledger", "hooks", "shellingham", "zlib", "hashlib", "uuid", "textwrap", "difflib"),
)
VERBS = (
    "init",
    "begin again",
    "run -- true",
    "checkpoint --fact so --open this",
    "decide t --choice c --rationale r",
    "decisions accept d1",
    "decisions list",
    "claims",
    "resume --pack",
    "context",
    "tasks",
    "task add more",
    "task show",
    "task set 2 blocked",
    "log",
    "show c1",
    "verify",
    "rerun r1",
    "token list --json",
    "workspace list",
    "complete",
    "end",
    "--help",
    "--version",
    "nosuch",
)


def plant(folder: Path) -> Path:
    """Put modules into *folder* that leave a mark when they are imported; return the mark."""
    mark = folder.parent / "fired"
    for name in HOSTILE:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"open({str(mark)!r}, 'a').write(__name__)\n")
    return mark


def test_modules_in_the_workspace_are_imported_by_no_verb(desk: Desk) -> None:
    desk.begin()
    inner = desk.folder / "inner"
    inner.mkdir()
    mark = plant(desk.folder)
    env = {"PYTHONPATH": f".:{desk.folder}:..", "PYTHONSAFEPATH": ""}
    control = (sys.executable, "-c", "import typer")
    desk.memprove(env=env, cwd=inner, command=control)
    assert mark.exists(), "the tripwire is live"
    mark.unlink()
    for verb in VERBS:
        done = desk.memprove(*verb.split(), env=env, cwd=inner, command=SCRIPT)
        assert "internal" not in done.err
        assert not mark.exists(), f"{verb} imported {mark.read_text()}"


def test_modules_in_the_folder_of_dash_c_are_not_imported(desk: Desk, tmp_path: Path) -> None:
    mark = plant(desk.folder)
    env = {"PYTHONPATH": str(desk.folder)}
    done = desk.memprove("-C", str(desk.folder), "tasks", env=env, cwd=tmp_path, command=SCRIPT)
    assert (done.code, done.err) == (0, "")
    assert not mark.exists()


def test_python_dash_m_works(desk: Desk) -> None:
    done = desk.memprove("--version", command=(sys.executable, "-m", "memprove.cli"))
    assert done.out.startswith("memprove ")


@pytest.mark.parametrize("entry", ["", ".", "src", "../elsewhere"])
def test_an_entry_that_is_not_absolute_is_dropped(entry: str) -> None:
    assert main.trusted([entry], [os.sep + "nowhere"]) == []


def test_an_entry_in_the_workspace_above_the_working_directory_is_dropped(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    (root / ".git").mkdir()
    outside = tmp_path / "other"
    entries = [str(root), str(root / "src"), str(deep), str(outside), str(tmp_path)]
    assert main.trusted(entries, [str(deep)]) == [str(outside), str(tmp_path)]


def test_a_folder_that_only_begins_alike_stays(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    alike = str(tmp_path / "workshop")
    assert main.trusted([alike], [str(tmp_path / "work")]) == [alike]


def test_a_link_into_the_workspace_is_dropped(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    assert main.trusted([str(tmp_path / "link")], [str(root)]) == []


def test_pythons_own_libraries_stay_even_inside_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = tmp_path / ".venv"
    packages = str(venv / "lib" / "python3" / "site-packages")
    monkeypatch.setattr(sys, "prefix", str(venv))
    standard = sysconfig.get_path("stdlib")
    kept = main.trusted([packages, standard, str(venv)], [str(tmp_path)])
    assert kept == [packages, standard]


def test_a_way_round_through_the_libraries_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    entry = str(tmp_path / ".venv" / "lib" / ".." / ".." / "evil")
    assert main.trusted([entry], [str(tmp_path)]) == []
