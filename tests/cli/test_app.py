"""The command line as a whole: usage, exit codes, one line for a Problem, streams and locales."""

import json
import os
import pty
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from support.command_line import MEMPROVE, Desk
from support.snapshots import snapshot

from memprove.cli import app, version

ROOT = Path(__file__).resolve().parent.parent.parent


def helps() -> list[str]:
    """Return each verb, and each verb below it, as the words after ``memprove``."""
    group: Any = typer.main.get_command(app.app)
    found = [""]
    for name in app.VERBS:
        verb = group.get_command(None, name)
        found += [name, *(f"{name} {below}" for below in getattr(verb, "commands", {}))]
    return found


@pytest.mark.parametrize("verb", helps())
def test_the_help_of_each_verb(
    verb: str, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    assert app.run([*verb.split(), "--help"]) == 0
    text = capsysbinary.readouterr().out.decode("ascii")
    assert text == snapshot(f"help/{verb.replace(' ', '-') or 'memprove'}.txt", text)
    is_group = "Commands:" in text
    assert is_group or "Examples:\n    memprove " in text or "    echo" in text


def test_the_version_is_that_of_the_project(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == version.VERSION
    assert app.run(["--version"]) == 0
    assert capsysbinary.readouterr().out == f"memprove {version.VERSION}\n".encode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["--nosuch"],
        ["-C", "/nowhere/at/all", "tasks"],
        ["tasks", "--limit", "many"],
        ["tasks", "--status", "lost"],
        ["checkpoint", "--nosuch"],
        ["begin", "one", "two"],
        ["end", "--session", "0"],
        ["decide", "title"],
        ["task"],
        ["show"],
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_line(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(arguments) == app.USAGE
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("memprove: usage: ")
    assert err.endswith("--help`\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["--nosuch", "--", "true"], ["--kind", "x", "true"]])
def test_wrong_usage_of_run_is_exit_code_125(arguments: list[str]) -> None:
    assert app.run(["run", *arguments]) == app.RUN_REFUSED


def test_without_a_word_the_help_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run([]) == 0
    assert capfd.readouterr().out.startswith("Usage: memprove")


def test_a_fault_of_our_own_is_one_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memprove.cli.invocation.here", lambda: 1 / 0)
    monkeypatch.delenv("MEMPROVE_DEBUG", raising=False)
    assert app.run(["tasks"]) == app.FAILED
    assert capfd.readouterr().err.startswith("memprove: internal: ")
    monkeypatch.setenv("MEMPROVE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        app.run(["tasks"])


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("memprove.cli.invocation.here", interrupted)
    assert app.run(["tasks"]) == app.INTERRUPTED


def test_arguments_are_escaped_in_problems_and_usage(desk: Desk) -> None:
    nasty = "\x1b[2J\u202e\n::error::x"
    usage = desk.memprove(nasty)
    problem = desk.memprove("show", nasty)
    raw = desk.memprove("show", b"r\xff\x1b")
    for done in (usage, problem, raw):
        assert done.code in (1, 2)
        assert "\x1b" not in done.err
        assert "\u202e" not in done.err
        assert done.err.count("\n") == 1
    assert "\\x1b[2J\\u202e" in problem.err


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252", "PYTHONWARNINGS": "always"},
    ],
)
def test_answers_are_utf_8_whatever_the_locale_is(desk: Desk, locale: dict[str, str]) -> None:
    done = desk.memprove("begin", "日本 — ü", env=locale)
    assert "“日本 — ü”".encode() in done.stdout
    told = desk.memprove("resume", "--json", env=locale)
    assert "日本 — ü" in told.json["pack"]
    assert (done.code, told.code, done.err, told.err) == (0, 0, "", "")


def test_a_title_that_is_not_unicode_is_refused(desk: Desk) -> None:
    assert desk.memprove("begin", b"half \xff of it").problem == "text_invalid"


def test_a_reader_who_leaves_is_no_failure(desk: Desk) -> None:
    desk.begin()
    done = desk.shell("memprove log | true; echo ${PIPESTATUS[0]}")
    assert (done.out, done.err) == ("0\n", "")


def test_closed_streams_stop_nothing(desk: Desk) -> None:
    done = desk.shell("memprove begin quietly >&- 2>&- <&-; echo $?")
    assert done.out == "0\n"
    assert "quietly" in desk.memprove("tasks").out
    assert desk.memprove("verify").code == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_is_told(desk: Desk) -> None:
    done = desk.shell("memprove tasks > /dev/full; echo $?")
    assert done.out == "1\n"
    assert done.err.startswith("memprove: output_unwritable: ")
    assert done.err.count("\n") == 1


def test_completion_of_a_verb(desk: Desk) -> None:
    env = {
        "_MEMPROVE_COMPLETE": "complete_bash",
        "COMP_WORDS": "memprove che",
        "COMP_CWORD": "1",
    }
    assert desk.memprove(env=env).out.split() == ["checkpoint"]


def test_json_is_one_document_that_has_the_sequence_number(desk: Desk) -> None:
    begun = desk.memprove("begin", "one", "--json")
    assert begun.stdout.count(b"\n") == 1
    assert begun.json["seq"] > 0
    assert list(begun.json) == sorted(begun.json)
    assert desk.memprove("--config-dir", str(desk.config), "tasks", "--json").json["tasks"]


def test_dash_c_works_in_another_folder(desk: Desk, tmp_path: Path) -> None:
    deep = desk.folder / "dir"
    done = desk.memprove("-C", str(deep), "begin", "there", "--json", cwd=tmp_path)
    assert done.json["task"] == 1
    ran = desk.memprove("-C", str(deep), "run", "pwd", cwd=tmp_path)
    assert ran.out == f"{deep}\n"


def on_a_terminal(desk: Desk, *arguments: str, env: dict[str, str]) -> str:
    """Return what *arguments* print on a terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(desk.folder)
        os.execve(sys.executable, [*MEMPROVE, *arguments], {**desk.env, **env})
    printed = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        printed += piece
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, printed
    return printed.decode()


def test_a_terminal_gets_colour_unless_it_wants_none(desk: Desk) -> None:
    assert desk.memprove("begin", "[red]x[/red] \x1b]0;title\x07").code == 0
    coloured = on_a_terminal(desk, "tasks", env={"TERM": "xterm-256color"})
    plain = on_a_terminal(desk, "tasks", env={"TERM": "xterm-256color", "NO_COLOR": "1"})
    dumb = on_a_terminal(desk, "tasks", env={"TERM": "dumb"})
    assert "\x1b[36min_progress" in coloured
    assert "\x1b[36m" not in plain
    assert "\x1b" not in dumb
    for printed in (coloured, plain, dumb):
        assert "[red]x[/red] \\x1b]0;title\\x07" in printed


def test_verify_shows_progress_on_a_terminal_and_clears_it(desk: Desk) -> None:
    printed = on_a_terminal(desk, "verify", env={"TERM": "xterm"})
    assert "events verified" in printed
    assert json.loads(desk.memprove("verify", "--json").stdout)["ok"]
