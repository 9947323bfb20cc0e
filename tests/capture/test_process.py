import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import command_line, measured, read, run

PYTHON = sys.executable

NOTING_SIGNALS = """
import os, signal, sys
def note(number, frame):
    os.write(1, signal.Signals(number).name.encode() + b"\\n")
    if number == signal.SIGUSR1:
        os._exit(9)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(number, note)
os.write(1, b"%d\\n" % os.getppid())
while True:
    signal.pause()
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def start(report: Path, *command: str, **more: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command_line(report, *command), **more)  # type: ignore[call-overload,no-any-return]


# What comes through


def test_both_streams_arrive_separately_and_are_recorded(report: Path) -> None:
    ran = run(report, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (ran.code, ran.stdout, ran.stderr) == (3, b"out\n", b"err\n")
    assert ran.recorded("stdout") == measured(b"out\n")
    assert ran.recorded("stderr") == measured(b"err\n")
    assert ran.exit["code"] == 3
    assert ran.exit["duration_ms"] >= 0


def test_output_that_is_no_text_is_passed_on_as_it_is(report: Path) -> None:
    ran = run(report, "printf", r"\377\000\r\n\303")
    assert ran.stdout == b"\xff\x00\r\n\xc3"
    assert ran.report["stdout"]["tail"] == "\\xff\x00\r\n\\xc3"


def test_the_digest_is_that_of_random_output_twenty_times(report: Path) -> None:
    for _ in range(20):
        ran = run(report, "head", "-c", "5000000", "/dev/urandom")
        assert len(ran.stdout) == 5_000_000
        assert ran.recorded("stdout") == measured(ran.stdout)


def test_a_line_is_seen_before_the_command_ends(report: Path) -> None:
    child = start(report, "sh", "-c", "printf x; read answer", stdin=-1, stdout=-1)
    assert child.stdout is not None
    assert child.stdout.read(1) == b"x"
    child.communicate(b"go on\n")
    assert child.returncode == 0


def test_300_megabytes_need_no_more_memory_than_a_few(report: Path) -> None:
    child = start(
        report, "head", "-c", str(300 * 1024 * 1024), "/dev/zero", stdout=subprocess.DEVNULL
    )
    assert child.wait(60) == 0
    recorded = read(report)
    assert recorded["stdout"]["length"] == 300 * 1024 * 1024
    assert recorded["stdout"]["kept"] == 8 * 1024 * 1024
    assert recorded["stdout"]["cut"] == 292 * 1024 * 1024
    assert recorded["peak_kib"] < 100 * 1024


def test_one_line_of_100_megabytes_is_redacted_in_little_memory(report: Path) -> None:
    source = f"import os; [os.write(1, b'a' * 1048576) for _ in range(100)]; {secret_at_the_end()}"
    command = command_line(report, PYTHON, "-c", source, options=("--redact", "secret-word"))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    assert child.wait(60) == 0
    recorded = read(report)
    assert recorded["stdout"]["redacted"]
    assert recorded["stdout"]["tail"].endswith("aa[REDACTED:test]")
    assert recorded["peak_kib"] < 100 * 1024


def secret_at_the_end() -> str:
    return "os.write(1, b'secret-'); os.write(1, b'word')"


def test_a_slow_reader_of_stdout_does_not_hold_up_stderr(report: Path) -> None:
    child = start(
        report, "sh", "-c", "head -c 4000000 /dev/zero & echo x >&2; wait", stdout=-1, stderr=-1
    )
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stderr.readline() == b"x\n"
    assert len(child.stdout.read()) == 4_000_000
    assert child.wait(30) == 0


def test_a_non_blocking_stdout_gets_everything(report: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    child = start(report, "head", "-c", "1000000", "/dev/zero", stdout=writing)
    os.close(writing)
    with open(reading, "rb") as output:
        assert len(output.read()) == 1_000_000
    assert child.wait(30) == 0


# What does not come to its end


def test_a_command_may_close_its_output_early(report: Path) -> None:
    ran = run(report, "sh", "-c", "echo x; exec >&- 2>&-; exit 5")
    assert (ran.code, ran.stdout, ran.exit["pipe_held"]) == (5, b"x\n", False)


def test_a_process_left_behind_does_not_hold_us(report: Path) -> None:
    ran = run(report, "sh", "-c", "sleep 600 & echo $!")
    os.kill(int(ran.stdout), signal.SIGKILL)
    assert ran.code == 0
    assert ran.exit["pipe_held"]
    assert ran.recorded("stdout") == measured(ran.stdout)


def test_a_process_left_behind_that_writes_for_ever_does_not_hold_us(report: Path) -> None:
    child = start(report, "sh", "-c", "yes & exit 4", stdout=subprocess.DEVNULL)
    assert child.wait(60) == 4
    assert read(report)["exit"]["pipe_held"]


def test_what_a_process_left_behind_writes_at_once_is_taken(report: Path) -> None:
    ran = run(report, "sh", "-c", "(trap '' HUP; head -c 300000 /dev/zero) & exit 0")
    assert len(ran.stdout) == 300_000
    assert not ran.exit["pipe_held"]


def test_a_slow_reader_still_gets_all_that_an_ended_command_wrote(report: Path) -> None:
    child = start(report, "sh", "-c", "head -c 900000 /dev/zero; echo >&2", stdout=-1, stderr=-1)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stderr.readline()
    assert len(child.stdout.read()) == 900_000
    assert child.wait(30) == 0
    assert read(report)["stdout"]["length"] == 900_000


def test_when_the_reader_goes_the_command_gets_its_sigpipe(report: Path) -> None:
    child = start(report, "yes", stdout=-1)
    assert child.stdout is not None
    assert child.stdout.readline() == b"y\n"
    child.stdout.close()
    assert child.wait(30) == 128 + signal.SIGPIPE
    assert read(report)["exit"]["signal"] == signal.SIGPIPE


@pytest.mark.skipif(sys.platform != "linux", reason="poll tells it on Linux")
def test_a_silent_command_can_see_that_the_reader_has_gone(report: Path) -> None:
    watching = "import select, sys; p = select.poll(); p.register(1, 0); print(flush=True); "
    child = start(report, PYTHON, "-c", watching + "p.poll(); sys.exit(7)", stdout=-1)
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(30) == 7


def test_with_stdout_closed_nothing_else_is_written_into(report: Path, tmp_path: Path) -> None:
    line = 'exec "$@" >&-'
    ended = subprocess.run(
        ["sh", "-c", line, "sh", *command_line(report, "sh", "-c", "echo x; echo y >&2")],
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert ended.stderr == b"y\n"
    assert read(report)["stdout"]["length"] == 2


# stdin


def test_stdin_is_the_commands_own(report: Path) -> None:
    assert run(report, "cat", stdin=b"a\n\xff\0").stdout == b"a\n\xff\0"


def test_what_the_command_does_not_read_is_left_for_the_next(report: Path) -> None:
    line = 'printf "a\\nb\\n" | { "$@"; cat; }'
    rest = subprocess.check_output(["sh", "-c", line, "sh", *command_line(report, "true")])
    assert rest == b"a\nb\n"


def test_a_closed_stdin_is_closed_for_the_command(report: Path) -> None:
    closed = "import os, sys\ntry: os.fstat(0)\nexcept OSError: sys.exit(8)"
    line = 'exec "$@" <&-'
    command = ["sh", "-c", line, "sh", *command_line(report, PYTHON, "-c", closed)]
    assert subprocess.run(command, timeout=60, check=False).returncode == 8


def test_other_inherited_descriptors_reach_the_command(report: Path) -> None:
    line = 'exec 5<<EOF\nfive\nEOF\nexec "$@"'
    command = ["sh", "-c", line, "sh", *command_line(report, "sh", "-c", "cat <&5")]
    assert subprocess.check_output(command) == b"five\n"


# Arguments and what cannot be started


def test_arguments_arrive_as_they_are(report: Path) -> None:
    shown = "import os, sys; os.write(1, repr([os.fsencode(a) for a in sys.argv[1:]]).encode())"
    odd = [b"", b" ", b"\xff\xfe", "é".encode(), b"-x", b"--", b"a\nb", b"'\"$`\\*"]
    ran = run(report, PYTHON, "-c", shown, *odd)
    assert ran.stdout == repr(odd).encode()


def test_ten_thousand_arguments_are_few(report: Path) -> None:
    ran = run(report, "sh", "-c", "echo $#", "sh", *map(str, range(10_000)))
    assert ran.stdout == b"10000\n"


@pytest.mark.parametrize(
    ("command", "code"), [("no-such-command", 127), ("./no-such", 127), ("", 127), ("/", 126)]
)
def test_what_cannot_be_started_has_the_code_of_a_shell(
    report: Path, command: str, code: int
) -> None:
    ran = run(report, command)
    assert ran.code == code
    assert ran.exit["refusal"]
    assert ran.report["stdout"]["length"] == 0


# Signals and time


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_sent_to_us_reaches_the_command_each_time(report: Path, number: int) -> None:
    child = start(report, PYTHON, "-c", NOTING_SIGNALS, stdout=-1, start_new_session=True)
    assert child.stdout is not None
    we = int(child.stdout.readline())
    for _ in range(2):
        os.kill(we, number)
        assert child.stdout.readline() == signal.Signals(number).name.encode() + b"\n"
    os.kill(we, signal.SIGUSR1)
    assert child.stdout.read() == b"SIGUSR1\n"
    assert child.wait(30) == 9


def test_a_command_ended_by_a_signal_is_recorded_so(report: Path) -> None:
    ran = run(report, "sh", "-c", "kill -SEGV $$")
    assert ran.code == 128 + signal.SIGSEGV
    assert ran.exit["signal"] == signal.SIGSEGV


def test_an_ignored_signal_stays_ignored(report: Path) -> None:
    line = """trap '' HUP; exec "$@" """
    command = command_line(report, "sh", "-c", "kill -HUP $$; echo alive")
    assert subprocess.check_output(["sh", "-c", line, "sh", *command]) == b"alive\n"


def test_a_blocked_sigchld_does_not_hang_us(report: Path) -> None:
    blocked = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD}); "
    command = [PYTHON, "-c", blocked + "os.execv(sys.argv[1], sys.argv[1:])"]
    ended = subprocess.run([*command, *command_line(report, "sh", "-c", "exit 6")], timeout=60)
    assert ended.returncode == 6


def test_a_signal_ends_us_when_nobody_reads_what_an_ended_command_wrote(report: Path) -> None:
    child = start(report, "head", "-c", "500000", "/dev/zero", stdout=-1)
    assert child.stdout is not None
    child.stdout.read(1)
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == 128 + signal.SIGTERM
    assert read(report)["exit"]["signal"] == signal.SIGTERM


def test_a_command_whose_time_is_over_is_ended(report: Path) -> None:
    ran = run(report, "sleep", "600", options=("--timeout", "0.2"))
    assert ran.code == 124
    assert ran.exit["timed_out"]
    assert ran.exit["signal"] == signal.SIGTERM


def test_a_command_that_ignores_sigterm_is_killed(report: Path) -> None:
    stubborn = "trap '' TERM; while :; do sleep 1; done"
    ran = run(report, "sh", "-c", stubborn, options=("--timeout", "0.2", "--kill-after", "0.2"))
    assert ran.code == 124
    assert ran.exit["signal"] == signal.SIGKILL


def test_a_stopped_command_is_ended_too(report: Path) -> None:
    ran = run(report, "sh", "-c", "kill -STOP $$", options=("--timeout", "0.2"))
    assert ran.code == 124
    assert ran.exit["signal"] == signal.SIGTERM


def test_a_reader_who_reads_nothing_does_not_outlast_the_time(report: Path) -> None:
    command = command_line(report, "yes", options=("--timeout", "0.2"))
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.wait(30) == 124
    assert read(report)["exit"]["pipe_held"]


def test_a_slow_reader_gets_all_from_a_command_that_crashed(report: Path) -> None:
    crash = "head -c 500000 /dev/zero; echo >&2; kill -SEGV $$"
    child = start(report, "sh", "-c", crash, stdout=-1, stderr=-1)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stderr.readline()
    assert len(child.stdout.read()) == 500_000
    assert child.wait(30) == 128 + signal.SIGSEGV


def test_a_command_that_ends_in_time_is_not_touched(report: Path) -> None:
    ran = run(report, "sh", "-c", "exit 2", options=("--timeout", "1e9"))
    assert (ran.code, ran.exit["timed_out"]) == (2, False)


def test_a_run_inside_a_run_is_two_runs(report: Path, tmp_path: Path) -> None:
    inner = command_line(tmp_path / "inner.json", "sh", "-c", "echo in; exit 4")
    ran = run(report, *inner)
    assert (ran.code, ran.stdout) == (4, b"in\n")
    assert read(tmp_path / "inner.json")["stdout"] == ran.report["stdout"]


# On a terminal


@pytest.fixture
def terminal() -> tuple[int, int]:
    return os.openpty()


LEADER = """
import fcntl, os, signal, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, lambda number, frame: None)
"""
LEADING = LEADER + "os.execv(sys.argv[1], sys.argv[1:])"
FOREGROUND = LEADER + "sys.exit(subprocess.run(sys.argv[1:]).returncode)"
BACKGROUND = LEADER + "sys.exit(subprocess.run(sys.argv[1:], process_group=0).returncode)"


def start_on(
    terminal: tuple[int, int], place: str, report: Path, *command: str
) -> "subprocess.Popen[bytes]":
    """Start a session whose terminal this is, with us at *place* in it."""
    return subprocess.Popen(
        [PYTHON, "-c", place, *command_line(report, *command)],
        stdin=terminal[1],
        stdout=-1,
        start_new_session=True,
    )


@pytest.mark.parametrize("place", [LEADING, FOREGROUND])
def test_ctrl_c_on_a_terminal_reaches_the_command_once(
    report: Path, terminal: tuple[int, int], place: str
) -> None:
    child = start_on(terminal, place, report, PYTHON, "-c", NOTING_SIGNALS)
    assert child.stdout is not None
    we = int(child.stdout.readline())
    for _ in range(2):
        os.write(terminal[0], b"\x03")
        assert child.stdout.readline() == b"SIGINT\n"
    os.kill(we, signal.SIGUSR1)
    assert child.stdout.read() == b"SIGUSR1\n"
    child.wait(30)


@pytest.mark.parametrize("place", [LEADING, FOREGROUND])
def test_a_hang_up_reaches_the_command_once(
    report: Path, terminal: tuple[int, int], place: str
) -> None:
    child = start_on(terminal, place, report, PYTHON, "-c", NOTING_SIGNALS)
    assert child.stdout is not None
    we = int(child.stdout.readline())
    os.close(terminal[0])
    assert child.stdout.readline() == b"SIGHUP\n"
    os.kill(we, signal.SIGUSR1)
    assert child.stdout.read() == b"SIGUSR1\n"
    child.wait(30)


def test_in_the_background_of_a_terminal_we_are_not_stopped(
    report: Path, terminal: tuple[int, int]
) -> None:
    child = start_on(terminal, BACKGROUND, report, "sh", "-c", "echo x; exit 3")
    assert child.communicate(timeout=30)[0] == b"x\n"
    assert child.returncode == 3
