import shlex
import signal
from pathlib import Path

import pytest
from support.command_line import MEMPROVE, Desk, desk_with_ledger
from support.commands import measured

RUN = shlex.join([*MEMPROVE, "run", "-q", "--"])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_with_ledger(tmp_path)


def stdout_of(desk: Desk, label: str) -> tuple[int, str]:
    """Return the recorded length and digest of what the Run *label* wrote."""
    stdout = desk.memprove("show", label, "--json").json["run"]["ended"]["stdout"]
    return stdout["length"], stdout["sha256"]


def test_who_writes_to_a_command_that_reads_no_more_gets_its_sigpipe(desk: Desk) -> None:
    done = desk.shell(f"yes | {RUN} head -n 3; echo ${{PIPESTATUS[*]}}")
    assert done.out == f"y\ny\ny\n{128 + signal.SIGPIPE} 0\n"
    assert stdout_of(desk, "w1") == measured(b"y\ny\ny\n")


def test_who_reads_no_more_ends_the_command_as_without_us(desk: Desk) -> None:
    done = desk.shell(f"{RUN} yes | head -n 3; echo ${{PIPESTATUS[*]}}")
    assert done.out == f"y\ny\ny\n{128 + signal.SIGPIPE} 0\n"


def test_ten_thousand_arguments_are_run_and_recorded(desk: Desk) -> None:
    arguments = [str(number) for number in range(10_000)]
    done = desk.memprove("run", "-q", "--", "sh", "-c", "echo $#", "sh", *arguments)
    assert (done.code, done.stdout) == (0, b"10000\n")
    run = desk.memprove("show", "w1", "--json").json["run"]
    assert run["started"]["argv"][4:] == arguments


def test_a_run_inside_a_run_is_recorded_as_two(desk: Desk) -> None:
    done = desk.shell(f"{RUN} {RUN} sh -c 'echo in; echo err >&2; exit 4'")
    assert (done.code, done.stdout, done.stderr) == (4, b"in\n", b"err\n")
    assert stdout_of(desk, "w1") == stdout_of(desk, "w2") == measured(b"in\n")


def test_a_job_in_the_background_of_the_command_does_not_hold_us(desk: Desk) -> None:
    done = desk.shell(f"{RUN} bash -mc 'sleep 600 & kill -0 $! && echo $!; exit 5'")
    assert done.code == 5
    desk.shell(f"kill -KILL {done.out}")
    notes = desk.memprove("show", "w1", "--json").json["run"]["ended"]["notes"]
    assert notes == ["a process it left behind held its output open"]
