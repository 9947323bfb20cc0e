"""The main verbs wherever they are called from: locale, home, mask, name, temporary folder."""

import json
import os
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import Desk, Done, desk_with_ledger, new_desk, without_root_rights
from support.hooked import told
from support.wire import initialize, line

C_LOCALE = {
    "MEMPROVE_HOOK_SECONDS": "10",
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}
NO_TEMPORARY_FOLDER = {"TMPDIR": "/nowhere", "TEMP": "/nowhere", "TMP": "/nowhere"}
OWN_FOLDERS = ("MEMPROVE_CONFIG_DIR", "MEMPROVE_DATA_DIR", "MEMPROVE_STATE_DIR")
NO_TEXT = b"gr\xf6\xdfe"
NOBODY = 54_321
"""A user that no password file knows, so that nothing but HOME tells its home."""


def without(desk: Desk, *names: str, **more: str) -> Desk:
    """Return the desk of somebody who lacks the variables *names*, and has *more*."""
    left = {name: value for name, value in desk.env.items() if name not in names}
    return replace(desk, env={**left, **more})


def masked(mask: str) -> tuple[str, ...]:
    """Return the program that makes new files as *mask* says."""
    return ("sh", "-c", f'umask {mask}; exec "$@"', "sh")


def tell_a_story(desk: Desk, before: tuple[str, ...] = (), cwd: Path | None = None) -> None:
    """Use every main verb once; check that each does what it is for."""

    def memprove(*arguments: str, stdin: bytes = b"") -> Done:
        done = desk.memprove(*arguments, stdin=stdin, before=before, cwd=cwd)
        assert (done.code, done.err) == (0, ""), done
        return done

    assert b"Workspace 1 registered" in memprove("init").stdout
    assert "“größe — 日本”" in memprove("begin", "größe — 日本").out
    ran = desk.memprove("run", "--strict", "--", "printf", "grün", before=before, cwd=cwd)
    assert (ran.code, ran.stdout) == (0, "grün".encode())
    assert ran.err.startswith("memprove: r1 passed ")
    assert "c1 recorded" in memprove("checkpoint", "--fact", "größer [r1]", "--next", "weiter").out
    assert "Proven (1)\n  c1 r1 " in memprove("resume").out
    assert "remembered 1–" in memprove("verify").out
    answered = memprove("mcp", "serve", stdin=line(initialize()))
    assert json.loads(answered.stdout)["result"]["serverInfo"]["name"] == "memprove"
    document = b'{"session_id":"x","hook_event_name":"SessionStart","source":"startup"}'
    assert "“größe — 日本”" in told(memprove("hook", "SessionStart", stdin=document))


def test_the_c_locale_without_home_or_temporary_folder_and_files_for_everybody(
    tmp_path: Path,
) -> None:
    desk = without(new_desk(tmp_path), "HOME", **C_LOCALE, **NO_TEMPORARY_FOLDER)
    tell_a_story(desk, masked("000"))
    check_private(desk)


def test_a_folder_whose_name_is_no_text_and_files_for_nobody_else(tmp_path: Path) -> None:
    desk = without(new_desk(tmp_path), MEMPROVE_HOOK_SECONDS="10")
    folder = desk.folder / os.fsdecode(NO_TEXT)
    folder.mkdir()
    tell_a_story(desk, masked("077"), folder)
    check_private(desk)


def test_a_root_whose_name_is_no_text_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    desk = new_desk(tmp_path)
    root = desk.folder.rename(tmp_path / os.fsdecode(NO_TEXT))
    refused = desk.memprove("init", cwd=root)
    assert refused.problem == "text_invalid"
    assert {path.name for path in tmp_path.iterdir()} == {root.name}
    assert ours(root) == []


def check_private(desk: Desk) -> None:
    """Check that nobody else can read what is in our folders: files 0600, folders 0700."""
    ours = [desk.config, desk.data, desk.base / "state", desk.folder / ".memprove" / "context"]
    found = [path for folder in ours for path in (folder, *folder.rglob("*"))]
    assert {"token", "owner-token", "trust", "1.key", "ledger.db"} <= {path.name for path in found}
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in found}
    wrong = {
        path: oct(mode)
        for path, mode in modes.items()
        if mode != (0o700 if path.is_dir() else 0o600)
    }
    assert wrong == {}


# Homes that are none


def homeless(desk: Desk) -> tuple[str, ...]:
    """Return the program that makes us a user of whom no home is known, with files of its own."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root becomes somebody else")
    for path in (desk.base, *desk.base.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    reads = "+dac_override,+dac_read_search"  # this Python may lie in somebody's home
    somebody = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return ("setpriv", *somebody, f"--inh-caps={reads}", f"--ambient-caps={reads}")


@pytest.mark.parametrize("home", [None, "relative/home"])
@pytest.mark.parametrize("verb", ["init", "tasks"])
def test_where_no_home_is_known_a_problem_says_what_to_set(
    tmp_path: Path, home: str | None, verb: str
) -> None:
    desk = without(new_desk(tmp_path), "HOME", *OWN_FOLDERS)
    if home is not None:
        desk.env["HOME"] = home
    before = homeless(desk)
    done = desk.memprove(verb, before=before)
    assert done.problem == "config_unreadable"
    assert "MEMPROVE_CONFIG_DIR" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"project"}
    assert ours(desk.folder) == []


def ours(folder: Path) -> list[str]:
    """Return what is in *folder* beside what a new repository has."""
    return sorted({path.name for path in folder.iterdir()} - {".git", "a.txt", "b.txt", "dir"})


@pytest.mark.parametrize("home", [None, "", "relative/home"])
def test_without_a_home_what_was_seen_is_remembered_beside_the_configuration(
    tmp_path: Path, home: str | None
) -> None:
    desk = desk_with_ledger(tmp_path)
    somebody = without(desk, "HOME", "MEMPROVE_STATE_DIR")
    if home is not None:
        somebody.env["HOME"] = home
    before = homeless(desk)
    added = somebody.memprove("task", "add", "remember this", before=before)
    assert (added.code, added.err) == (0, "")
    assert list((desk.config / "state" / "remembered").iterdir())
    assert ours(desk.folder) == [".memprove"]


def test_a_home_that_cannot_be_written_is_told_or_not_needed(tmp_path: Path) -> None:
    before = without_root_rights()
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    desk = new_desk(tmp_path)
    refused = without(desk, *OWN_FOLDERS, HOME=str(home)).memprove("init", before=before)
    assert refused.problem == "config_unreadable"
    assert str(home) in refused.err
    tell_a_story(without(desk, HOME=str(home), MEMPROVE_HOOK_SECONDS="10"), before)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("MEMPROVE_CONFIG_DIR", "config_unreadable"),
        ("MEMPROVE_DATA_DIR", "data_dir_unreadable"),
        ("MEMPROVE_STATE_DIR", "config_unreadable"),
        ("MEMPROVE_TOKEN_FILE", "token_unreadable"),
    ],
)
def test_a_tilde_where_no_home_is_known_is_told(
    tmp_path: Path, variable: str, problem: str
) -> None:
    desk = desk_with_ledger(tmp_path)
    without_home = without(desk, "HOME", **{variable: "~/elsewhere"})
    assert without_home.memprove("tasks", before=homeless(desk)).problem == problem


SCRATCH = """
import resource, sys
from pathlib import Path
from memprove.ledger.observation import Observation
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(Observation(Path(sys.argv[1])).state()[0].reason)
"""


def test_where_no_scratch_file_can_be_made_the_tree_is_unknown(tmp_path: Path) -> None:
    desk = new_desk(tmp_path)
    command = (sys.executable, "-P", "-c", SCRATCH, str(desk.folder))
    done = desk.memprove(command=command, env=NO_TEMPORARY_FOLDER)
    assert (done.out, done.err) == ("no_scratch\n", "")
