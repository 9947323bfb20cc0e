"""`memprove run` as a job of an interactive shell: stopped, continued, in the background."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import MEMPROVE
from support.screen import Screen, on_screen

PYTHON = sys.executable

WAITING = f"{PYTHON} waiting"
"""Not a shell: one that is just starting a program can be held up by its own stopped child."""
READING = "sh -c 'echo ready; read line; echo it was $line'"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Screen]:
    """Return a shell that tells at once when a job changes, in which mp is `memprove run`."""
    env = {name: os.environ[name] for name in ("PATH", "HOME")}
    env |= {"PS1": "$ ", "LC_ALL": "C", "MEMPROVE_CONFIG_DIR": str(tmp_path / "config")}
    (tmp_path / "mp").write_text(f'#!/bin/sh\nexec {" ".join(MEMPROVE)} run -q -- "$@"\n')
    (tmp_path / "mp").chmod(0o755)
    (tmp_path / "waiting").write_text(
        "import sys\nprint('ready', sys.stdout.isatty(), flush=True)\n"
        "open('go').read()\nprint('it went on')\n"
    )
    os.mkfifo(tmp_path / "go")
    command = ("bash", "--norc", "--noprofile", "--noediting", "-b", "-i")
    with on_screen(command, cwd=tmp_path, env=env) as screen:
        screen.until(r"\$ ")
        yield screen


def enter(shell: Screen, line: str) -> None:
    """Type *line* at the prompt, and see it shown."""
    shell.type(line.encode() + b"\r")
    shell.until(r"\r\n")


def code(shell: Screen) -> int:
    """Return the exit code of what ended last."""
    shell.until(r"\$ ")
    enter(shell, "echo =$?")
    return int(shell.until(r"=(\d+)\r\n").group(1))


def bring_back(shell: Screen) -> None:
    """Continue what is stopped, in the foreground, and wait until it has the terminal again."""
    enter(shell, "fg")
    shell.until(r"mp .*\r\n")
    shell.until_it_is_raw()


def stop(shell: Screen) -> None:
    """Stop what is in the foreground with Ctrl-Z."""
    shell.type(b"\x1a")
    shell.until(r"Stopped")
    shell.until(r"\$ ")


def test_ctrl_z_stops_us_and_fg_continues(shell: Screen) -> None:
    enter(shell, f"./mp {READING}")
    shell.until("ready")
    stop(shell)
    assert shell.is_as_before()
    bring_back(shell)
    shell.type(b"one\r")
    shell.until("one\r\nit was one\r\n")
    assert code(shell) == 0
    assert shell.is_as_before()


def test_stopped_and_continued_twice_ctrl_c_still_ends_it(shell: Screen) -> None:
    enter(shell, "./mp sh -c 'echo ready; exec sleep 600'")
    shell.until("ready")
    for _ in range(2):
        stop(shell)
        assert shell.is_as_before()
        bring_back(shell)
    shell.type(b"\x03")
    assert code(shell) == 128 + signal.SIGINT
    assert shell.is_as_before()


def test_what_a_command_shows_when_it_is_stopped_comes_before_the_prompt(
    shell: Screen, tmp_path: Path
) -> None:
    (tmp_path / "editor").write_text(
        "import os, signal, tty\n"
        "def leave(*_):\n"
        "    os.write(1, b'.' * 20000 + b'left the screen')\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    os.write(1, b'back on the screen')\n"
        "signal.signal(signal.SIGTSTP, leave)\n"
        "tty.setcbreak(0)\n"
        "os.write(1, b'ready')\n"
        "while (key := os.read(0, 1)) != b'q': os.write(1, b'<%s>' % key)\n"
    )
    enter(shell, f"./mp {PYTHON} editor")
    shell.until("ready")
    shell.type(b"\x1a")
    shell.until(r"\.left the screen[^.]*Stopped")
    shell.until(r"\$ ")
    enter(shell, "fg")
    shell.until("back on the screen")
    shell.type(b"x")
    shell.until("<x>")
    shell.type(b"q")
    assert code(shell) == 0


def test_continued_in_the_background_it_leaves_the_terminal_alone(
    shell: Screen, tmp_path: Path
) -> None:
    enter(shell, f"./mp {WAITING}")
    shell.until("ready")
    stop(shell)
    enter(shell, "bg")
    shell.until(r"\$ ")
    enter(shell, "echo still $((1 + 1)) talk")
    shell.until("still 2 talk")
    assert shell.is_as_before()
    (tmp_path / "go").write_text("go")
    shell.until("it went on")
    shell.until("Done")
    assert shell.is_as_before()


def test_in_the_background_it_is_stopped_when_it_reads(shell: Screen) -> None:
    enter(shell, f"./mp {READING}")
    shell.until("ready")
    stop(shell)
    enter(shell, "bg")
    shell.until(r"Stopped")
    bring_back(shell)
    shell.type(b"two\r")
    shell.until("two\r\nit was two\r\n")
    assert code(shell) == 0


def test_started_in_the_background_it_has_a_terminal_and_leaves_ours_alone(
    shell: Screen, tmp_path: Path
) -> None:
    enter(shell, f"./mp {WAITING} &")
    shell.until("ready True")
    assert shell.is_as_before()
    enter(shell, "echo still $((1 + 1)) talk")
    shell.until("still 2 talk")
    (tmp_path / "go").write_text("go")
    shell.until("it went on")
    shell.until("Done")


def test_started_in_the_background_it_is_stopped_when_it_reads(shell: Screen) -> None:
    enter(shell, f"./mp {READING} &")
    shell.until("Stopped")
    assert shell.is_as_before()
    bring_back(shell)
    shell.type(b"three\r")
    shell.until("three\r\nit was three\r\n")
    assert code(shell) == 0


@pytest.mark.parametrize("keys", [b"\x03", b"\x1a"])
def test_brought_to_the_foreground_while_it_runs_it_obeys_the_keys(
    shell: Screen, keys: bytes
) -> None:
    enter(shell, "./mp sh -c 'echo ready; exec sleep 600' &")
    shell.until("ready")
    enter(shell, "fg")
    shell.until_a_job_has_it()
    shell.type(keys)
    assert code(shell) == 128 + (signal.SIGINT if keys == b"\x03" else signal.SIGTSTP)


@pytest.mark.parametrize("name", ["TSTP", "STOP"])
def test_a_job_stopped_by_kill_goes_on_with_fg(shell: Screen, tmp_path: Path, name: str) -> None:
    enter(shell, f"./mp {WAITING} &")
    shell.until("ready")
    enter(shell, f"kill -{name} %1")
    shell.until("Stopped")
    bring_back(shell)
    (tmp_path / "go").write_text("go")
    shell.until("it went on\r\n")
    assert code(shell) == 0
    assert shell.is_as_before()


def test_stopped_by_what_nobody_can_catch_the_terminal_is_taken_again(shell: Screen) -> None:
    enter(shell, f"./mp {READING}")
    shell.until("ready")
    (we,) = [int(pid) for pid in _children(shell.pid)]
    os.kill(we, signal.SIGSTOP)
    shell.until(r"Stopped")
    shell.until(r"\r\n\$ ")
    bring_back(shell)
    shell.type(b"five\r")
    shell.until("five\r\nit was five\r\n")
    assert code(shell) == 0
    assert shell.is_as_before()


def test_a_command_that_stops_itself_stops_us(shell: Screen) -> None:
    enter(shell, "./mp sh -c 'kill -STOP $$; echo it went on'")
    shell.until(r"Stopped")
    assert shell.is_as_before()
    enter(shell, "fg")
    shell.until("it went on\r\n")
    assert code(shell) == 0


def test_kill_ends_a_job_in_the_background(shell: Screen) -> None:
    enter(shell, "./mp sh -c 'echo ready; sleep 600' &")
    shell.until("ready")
    enter(shell, "kill %1")
    shell.until(f"Exit {128 + signal.SIGTERM}")


def test_ctrl_z_stops_the_script_that_we_are_in(shell: Screen) -> None:
    enter(shell, f'sh -c "./mp {READING[:6]} \\"echo ready; read line; echo got it\\"; echo after"')
    shell.until("ready")
    stop(shell)
    bring_back(shell)
    shell.type(b"six\r")
    shell.until("six\r\ngot it\r\n")
    shell.until("after\r\n")
    assert code(shell) == 0


def test_a_shell_in_it_controls_its_own_jobs(shell: Screen) -> None:
    enter(shell, "./mp env PS1='inner: ' bash --norc --noprofile --noediting -i")
    shell.until("inner: ")
    enter(shell, "sh -c 'echo ready; exec cat'")
    shell.until("ready")
    shell.type(b"\x1a")
    shell.until(r"Stopped")
    shell.until("inner: ")
    enter(shell, "fg")
    shell.type(b"seven\r")
    shell.until(r"seven\r\n(.*\r\n)?seven\r\n")
    shell.type(b"\x03")
    shell.until("inner: ")
    enter(shell, "echo =$?")
    shell.until("=130\r\n")
    enter(shell, "suspend")
    shell.until(r"Stopped.*mp")
    assert shell.is_as_before()
    bring_back(shell)
    enter(shell, "echo still $((1 + 1)) here")
    shell.until("still 2 here")
    enter(shell, "exit 3")
    assert code(shell) == 3


def _children(parent: int) -> list[str]:
    return Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
