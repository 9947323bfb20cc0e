import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support.command_line import MEMPROVE, desk_with_ledger
from support.commands import command_line, measured, read
from support.screen import Screen, on_screen

PYTHON = sys.executable
RUN = (*MEMPROVE, "run", "-q", "--")
INTERRUPTED = 128 + signal.SIGINT

Start = Callable[..., AbstractContextManager[Screen]]
"""``start(*command)``: run the command as the leader of a session on a new screen."""

NOTING_SIGNALS = """
import os, signal, sys
def note(number, frame):
    os.write(2, signal.Signals(number).name.encode() + b"!")
    if number == signal.SIGUSR1:
        os._exit(9)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(number, note)
os.write(2, b"ready %d." % os.getpid())
while True:
    signal.pause()
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    names = ("PATH", "HOME")
    more = {"LANG": "C.UTF-8", "TERM": "xterm", "MEMPROVE_CONFIG_DIR": str(tmp_path / "config")}
    return {**{name: os.environ[name] for name in names}, **more}


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Start:
    def on_new_screen(*command: str | Path) -> AbstractContextManager[Screen]:
        return on_screen(command, cwd=tmp_path, env=environment)

    return on_new_screen


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


# What the command meets


def test_all_three_streams_of_the_command_are_its_controlling_terminal(start: Start) -> None:
    asked = (
        "import os; names = {os.ttyname(stream) for stream in range(3)}; "
        "own = os.open('/dev/tty', os.O_RDWR); "
        "print(len(names), os.tcgetpgrp(own) == os.getpgrp(), os.get_terminal_size(own))"
    )
    with start(*RUN, PYTHON, "-c", asked) as screen:
        screen.until(r"1 True os.terminal_size\(columns=80, lines=24\)\r\n")
        assert screen.end() == 0


@pytest.mark.parametrize("redirected", ["</dev/null", "2>/dev/null", "|cat", ">file; cat file"])
def test_with_one_stream_elsewhere_no_stream_is_changed(start: Start, redirected: str) -> None:
    line = 'for n in 0 1 2; do test -t $n && echo -n "$n "; done; echo .'
    with start("sh", "-c", f'"$@" {redirected}', "sh", *RUN, "sh", "-c", line) as screen:
        kept = {"</dev/null": "", "2>/dev/null": "0 ", "|cat": "0 ", ">file; cat file": "0 "}
        screen.until(rf"(?m)^{kept[redirected]}\.\r\n")
        assert screen.end() == 0


def test_two_terminals_are_not_one(start: Start) -> None:
    other, side = os.openpty()
    line = f'exec "$@" 2>{os.ttyname(side)}'
    with start("sh", "-c", line, "sh", *RUN, "sh", "-c", "test -t 1 || echo a pipe") as screen:
        screen.until("a pipe")
        assert screen.end() == 0
    os.close(side)
    os.close(other)


def test_variables_that_name_our_terminal_name_that_of_the_command(start: Start) -> None:
    line = 'GPG_TTY=$(tty) exec "$@"'
    command = (*RUN, "sh", "-c", 'test "$GPG_TTY" = "$(tty)" && echo the same')
    with start("sh", "-c", line, "sh", *command) as screen:
        screen.until("the same")


def test_the_size_of_the_window_follows_ours(start: Start) -> None:
    sized = (
        "import os, signal\n"
        "def show(*_): os.write(1, b'%d %d\\n' % os.get_terminal_size())\n"
        "signal.signal(signal.SIGWINCH, show); show()\n"
        "while True: signal.pause()"
    )
    with start(*RUN, PYTHON, "-c", sized) as screen:
        screen.until("80 24\r\n")
        screen.resize(50, 132)
        screen.until("132 50\r\n")


# Keys


def test_ctrl_c_reaches_the_command_each_time_and_once(start: Start) -> None:
    with start(*RUN, PYTHON, "-c", NOTING_SIGNALS) as screen:
        command = int(screen.until(r"ready (\d+)\.").group(1))
        for keys, name in ((b"\x03", "SIGINT"), (b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT")):
            screen.type(keys)
            screen.until(name + "!")
        os.kill(command, signal.SIGUSR1)
        assert screen.end() == 9
        assert screen.shown.count(b"SIGINT!") == 2
        assert screen.is_as_before()


def test_ctrl_c_ends_the_command_and_we_say_so(start: Start) -> None:
    with start(*RUN, "sh", "-c", "echo ready; exec sleep 600") as screen:
        screen.until("ready")
        screen.type(b"\x03")
        assert screen.end() == INTERRUPTED
        assert screen.is_as_before()


def test_ctrl_d_is_the_end_of_what_is_typed(start: Start) -> None:
    with start(*RUN, "cat") as screen:
        screen.type(b"line\r")
        screen.until("line\r\nline\r\n")
        screen.type(b"\x04")
        assert screen.end() == 0


def test_a_password_is_not_shown(start: Start) -> None:
    asked = "import getpass; print('it was', getpass.getpass('Password: ')[::-1])"
    with start(*RUN, PYTHON, "-c", asked) as screen:
        screen.until("Password: ")
        screen.type(b"secret\r")
        screen.until("it was terces")
        assert screen.end() == 0
        assert b"secret" not in screen.shown


def test_a_full_screen_program_gets_each_key(start: Start) -> None:
    raw = (
        "import os, tty; tty.setraw(0); os.write(1, b'ready')\n"
        "while (key := os.read(0, 1)) != b'q': os.write(1, b'<%d>' % key[0])"
    )
    with start(*RUN, PYTHON, "-c", raw) as screen:
        screen.until("ready")
        screen.type(b"\x03\x1a\x04\x11\r\n\x1b\xff")
        screen.until("<3><26><4><17><13><10><27><255>")
        screen.type(b"q")
        assert screen.end() == 0
        assert screen.is_as_before()


def test_much_that_is_typed_arrives(start: Start) -> None:
    with start(*RUN, "sh", "-c", "stty -echo; echo ready; wc -c") as screen:
        screen.until("ready")
        for _ in range(200):
            screen.type(b"0123456789" * 50 + b"\r")
        screen.type(b"\x04")
        screen.until("100200\r\n")


def test_what_is_typed_for_nobody_does_not_hold_up_what_is_shown(
    start: Start, tmp_path: Path
) -> None:
    line = "stty -icanon -echo; echo ready; until test -e go; do sleep 0.1; done; seq 30000"
    with start(*RUN, "sh", "-c", line) as screen:
        screen.until("ready")
        screen.type_what_fits(b"0123456789" * 50_000)
        (tmp_path / "go").touch()
        screen.until("30000\r\n")
        assert screen.end() == 0


# What is recorded


def test_what_came_out_of_the_terminal_is_recorded_as_stdout(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    desk = desk_with_ledger(tmp_path)
    command = (*MEMPROVE, "run", "--", "sh", "-c", "echo out; echo err >&2")
    with on_screen(command, cwd=desk.folder, env={**environment, **desk.env}) as screen:
        screen.until(r"^out\r\nerr\r\nmemprove: w1 passed")
        assert screen.end() == 0
    run = desk.memprove("show", "w1", "--json").json["run"]
    length, digest = measured(b"out\r\nerr\r\n")
    assert (run["ended"]["stdout"]["length"], run["ended"]["stdout"]["sha256"]) == (length, digest)
    assert run["ended"]["stderr"]["length"] == 0
    assert run["ended"]["notes"] == ["stdout and stderr were one terminal"]


def test_counts_of_tests_are_read_from_a_terminal(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    desk = desk_with_ledger(tmp_path)
    (desk.folder / "test_it.py").write_text("def test_it():\n    pass\n")
    more = ("-p", "no:cacheprovider", "--color=yes")
    command = (*MEMPROVE, "run", "--", PYTHON, "-m", "pytest", *more, "test_it.py")
    with on_screen(command, cwd=desk.folder, env={**environment, **desk.env}) as screen:
        screen.until(r"memprove: w1 passed")
    counts = desk.memprove("show", "w1", "--json").json["run"]["ended"]["counts"]
    assert (counts["runner"], counts["passed"]) == ("pytest", 1)


def test_the_digest_is_that_of_what_was_shown(start: Start, report: Path) -> None:
    for _ in range(3):
        with start(*command_line(report, "head", "-c", "2000000", "/dev/urandom")) as screen:
            assert screen.end() == 0
        assert read(report)["exit"]["one_terminal"]
        recorded = read(report)["stdout"]
        assert (recorded["length"], recorded["sha256"]) == measured(screen.shown)


def test_the_last_line_is_shown_when_the_command_has_ended(start: Start) -> None:
    for _ in range(3):
        with start(*RUN, "seq", "30000") as screen:
            assert screen.end() == 0
            screen.until(r"\n29999\r\n30000\r\n")


# How it ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_us_ends_the_command_and_restores_the_terminal(
    start: Start, number: int
) -> None:
    with start(*RUN, "sh", "-c", "echo ready; sleep 600") as screen:
        screen.until("ready")
        assert screen.is_raw()
        os.kill(screen.pid, number)
        assert screen.end() == 128 + number
        assert screen.is_as_before()


def test_a_time_out_restores_the_terminal(start: Start, report: Path) -> None:
    options = ("--timeout", "0.5", "--kill-after", "0.2")
    stubborn = "trap '' TERM; while :; do sleep 1; done"
    with start(*command_line(report, "sh", "-c", stubborn, options=options)) as screen:
        assert screen.end() == 124
        assert screen.is_as_before()
    assert read(report)["exit"]["signal"] == signal.SIGKILL


def test_a_fault_of_ours_restores_the_terminal_and_hangs_up(start: Start, tmp_path: Path) -> None:
    faulty = (
        "import os, signal, sys\n"
        "sys.excepthook = lambda kind, error, _: print(f'{kind.__name__}: {error}')\n"
        "from memprove.ledger.capture import process\n"
        "from memprove.ledger.capture.streams import Sink\n"
        "def fail(*_): raise RuntimeError('a fault of ours')\n"
        "signal.signal(signal.SIGALRM, fail)\n"
        "env = {**os.environ, 'WE': str(os.getpid())}\n"
        "process.run_child(sys.argv[1:], env=env, stdout=Sink(), stderr=Sink())"
    )
    waiting = "trap 'echo hung up >noted; exit' HUP; kill -ALRM $WE; while :; do sleep 0.1; done"
    with start(PYTHON, "-c", faulty, "sh", "-c", waiting) as screen:
        screen.until("RuntimeError: a fault of ours")
        assert screen.end() == 1
        assert screen.is_as_before()
    _wait_for(tmp_path / "noted", "hung up\n")


def test_when_we_are_killed_the_terminal_of_the_command_hangs_up(
    start: Start, tmp_path: Path
) -> None:
    waiting = "trap 'echo hung up >noted; exit' HUP; echo ready; while :; do sleep 0.1; done"
    with start(*RUN, "sh", "-c", waiting) as screen:
        screen.until("ready")
        os.kill(screen.pid, signal.SIGKILL)
        _wait_for(tmp_path / "noted", "hung up\n")


def test_when_our_terminal_hangs_up_so_does_that_of_the_command(
    start: Start, tmp_path: Path
) -> None:
    waiting = "trap 'echo hung up >>noted; exit 7' HUP; echo ready; while :; do sleep 0.1; done"
    with start(*RUN, "sh", "-c", waiting) as screen:
        screen.until("ready")
        screen.hang_up()
        assert screen.end() == 7
    assert (tmp_path / "noted").read_text() == "hung up\n"


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), ("/", 126)])
def test_what_cannot_be_started_leaves_the_terminal_as_it_was(
    start: Start, command: str, code: int
) -> None:
    with start(*RUN, command) as screen:
        assert screen.end() == code
        assert screen.is_as_before()


def test_a_crash_is_seen_as_one(start: Start, report: Path) -> None:
    with start(*command_line(report, "sh", "-c", "kill -SEGV $$")) as screen:
        assert screen.end() == 128 + signal.SIGSEGV
    assert read(report)["exit"]["signal"] == signal.SIGSEGV


def test_a_command_that_closes_its_streams_goes_on(start: Start) -> None:
    with start(*RUN, "sh", "-c", "echo x; exec <&- >&- 2>&-; sleep 0.2; exit 5") as screen:
        assert screen.end() == 5


def test_a_process_left_behind_neither_holds_us_nor_hangs_up(
    start: Start, report: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "go")
    left_behind = "(read line <go; echo still there >noted) & echo ready"
    with start(*command_line(report, "sh", "-c", left_behind)) as screen:
        assert screen.end() == 0
    assert read(report)["exit"]["pipe_held"]
    subprocess.run(["sh", "-c", "echo >go"], cwd=tmp_path, timeout=60, check=True)
    _wait_for(tmp_path / "noted", "still there\n")


def test_all_is_shown_although_a_process_left_behind_has_the_terminal(start: Start) -> None:
    with start(*RUN, "sh", "-c", "sleep 600 & echo left $!; seq 30000") as screen:
        left = int(screen.until(r"left (\d+)\r\n").group(1))
        assert screen.end() == 0
        screen.until(r"\n29999\r\n30000\r\n")
    os.kill(left, signal.SIGKILL)


# One in another


def test_a_run_in_a_run_has_a_terminal_too(start: Start) -> None:
    with start(*RUN, *RUN, PYTHON, "-c", NOTING_SIGNALS) as screen:
        command = int(screen.until(r"ready (\d+)\.").group(1))
        screen.type(b"\x03")
        screen.until("SIGINT!")
        os.kill(command, signal.SIGUSR1)
        assert screen.end() == 9
        assert screen.shown.count(b"SIGINT!") == 1
        assert screen.is_as_before()


def test_a_run_behind_a_pipe_in_a_run_has_pipes(start: Start) -> None:
    line = """"$@" sh -c 'test -t 1 || echo a pipe' | cat"""
    with start(*RUN, "sh", "-c", line, "sh", *RUN) as screen:
        screen.until("a pipe")
        assert screen.end() == 0


def _wait_for(path: Path, content: str) -> None:
    """Wait until another process has written *content* to *path*."""
    subprocess.run(
        ["sh", "-c", f"until grep -qx {content.strip()!r} {path} 2>&-; do sleep 0.05; done"],
        timeout=60,
        check=True,
    )
