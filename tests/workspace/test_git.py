"""How git is called."""

import os
from pathlib import Path

import pytest

from memprove.ledger.workspace.git import Git, Unknown, failure

pytestmark = pytest.mark.usefixtures("home")


def _printer(folder: Path, script: str) -> None:
    """Put a program named git into *folder*."""
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)


def test_git_is_an_absolute_path(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f":.:bin:{os.environ['PATH']}:")

    git = Git.find(repository, deadline_s=9)

    assert os.path.isabs(git.program)
    assert all(os.path.isabs(folder) for folder in git.path.split(os.pathsep))


def test_what_is_no_program_is_passed_over(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one" / "git").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "git").write_text("no program")
    monkeypatch.setenv("PATH", f"{tmp_path}/one:{tmp_path}/two")

    with pytest.raises(Unknown, match=r"^no_git$"):
        Git.find(repository, deadline_s=9)


def test_the_environment_is_ours(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _printer(tmp_path / "bin", "env")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}:{repository}")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_OPTIONAL_LOCKS", "1")
    monkeypatch.setenv("MEMPROVE_TOKEN", "secret")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.delenv("LC_CTYPE", raising=False)  # Python sets it where no locale is set

    lines = Git.find(repository, deadline_s=9).read("anything").decode().splitlines()

    assert sorted(line for line in lines if line.startswith(("GIT_", "MEMPROVE_", "LC_"))) == [
        "GIT_ALLOW_PROTOCOL=",
        "GIT_GRAFT_FILE=/dev/null",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
        "LC_ALL=C",
    ]
    assert not any(line.startswith("PATH=") and str(repository) in line for line in lines)


def test_standard_input_is_empty_or_given(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _printer(tmp_path / "bin", "exec cat")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    git = Git.find(repository, deadline_s=9)

    assert git.read("anything") == b""
    assert git.read("anything", stdin=b"\0\xff" * 100_000) == b"\0\xff" * 100_000


def test_the_settings_hold_against_the_repository(repository: Path) -> None:
    git = Git.find(repository, deadline_s=9)

    assert git.read("config", "core.hooksPath") == b"/dev/null\n"
    assert git.read("config", "safe.bareRepository") == b"explicit\n"


def test_output_is_bytes_and_failure_is_said(repository: Path) -> None:
    git = Git.find(repository, deadline_s=9)

    assert git.read("rev-parse", "--show-prefix") == b"\n"
    with pytest.raises(Unknown, match=r"^git_failed: cat-file: Not a valid object name nothing$"):
        git.read("cat-file", "-p", "nothing")


def test_at_the_time_limit_the_whole_group_is_killed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "alive")
    _printer(tmp_path / "bin", f"exec 3<>{tmp_path}/alive\nsleep 1000 &\necho started >&3\nwait")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    with pytest.raises(Unknown, match=r"^timeout$"):
        Git.find(repository, deadline_s=1).read("anything")

    os.set_blocking(reader, True)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"started\n"  # ends only when nobody holds the other end


def test_a_call_after_the_deadline_is_late(repository: Path) -> None:
    git = Git.find(repository, deadline_s=-1)

    with pytest.raises(Unknown, match=r"^timeout$"):
        git.read("cat-file", "--batch")


def test_a_folder_that_is_gone_is_no_crash(tmp_path: Path) -> None:
    with pytest.raises(Unknown, match=r"^git_failed: rev-parse: FileNotFoundError$"):
        Git.find(tmp_path / "gone", deadline_s=9).read("rev-parse")


def test_what_git_says_is_told_in_printable_ascii() -> None:
    said = failure("ls-files", b"warning: x\nfatal: bad \x1b[2J \xff name " + b"y" * 500)

    assert str(said).startswith("git_failed: ls-files: bad ?[2J ? name yyy")
    assert len(str(said)) < 200
