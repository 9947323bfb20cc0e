"""How a server ends: at the end of input, at a signal, when nobody reads, when it is killed."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.command_line import Desk
from support.wire import EXECUTABLE, Wire, call, initialize, line, modern, request, served


def test_what_is_in_flight_at_the_end_of_input_is_answered(timed: Wire) -> None:
    timed.send(*(call(number, "hold", {"text": str(number)}) for number in range(3)))
    for number in range(3):
        timed.await_file(f"begun-{number}")
    timed.go()
    ended = timed.end()
    assert ended.code == 0
    assert {message["id"] for message in ended.messages} == {0, 1, 2}


def test_requests_and_the_end_of_input_may_come_together(tmp_path: Path) -> None:
    requests = b"".join(map(line, [initialize(0), *(request(n, "ping") for n in range(1, 300))]))
    done = subprocess.run(EXECUTABLE, input=requests, capture_output=True, check=True, cwd=tmp_path)
    assert len(done.stdout.splitlines()) == 300
    assert done.stderr == b""


def test_requests_may_come_from_a_file_and_answers_go_to_one(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(line(modern(1, "tools/list")) + line(request(2, "ping")))
    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as told:
        subprocess.run(EXECUTABLE, stdin=given, stdout=told, check=True, cwd=tmp_path)
    assert len((tmp_path / "out").read_bytes().splitlines()) == 2


def test_what_does_not_end_is_not_waited_for_long(timed: Wire) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    ended = timed.end()
    assert (ended.code, ended.messages) == (0, [])


ENDING = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_it_like_the_end_of_input(timed: Wire, number: int) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    timed.process.send_signal(number)
    timed.go()
    assert timed.read()["id"] == 1
    assert timed.end(number).code == 0


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_while_nothing_is_asked_ends_it(real: Wire, number: int) -> None:
    real.open()
    assert real.lives()
    ended = real.end(number)
    assert (ended.code, ended.messages, ended.log) == (0, [], [])


READING = """
import os, sys, anyio
from memprove.mcp_facade import loop, server, streams
class Signalled(streams.Streams):
    async def read(self):
        os.kill(os.getpid(), {number})
        await anyio.sleep_forever()
async def run():
    built = server.build_server((), lambda: None, version="0")
    await loop.Loop(built, Signalled()).run()
anyio.run(run)
"""


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_is_taken_before_anything_is_read(number: int) -> None:
    program = READING.format(number=int(number))
    assert subprocess.run((sys.executable, "-P", "-c", program), check=False).returncode == 0


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_while_it_starts_ends_it_quietly(tmp_path: Path, number: int) -> None:
    (tmp_path / "library").mkdir()
    slow = f"import os, time\nos.kill(os.getpid(), {int(number)})\ntime.sleep(60)\n"
    (tmp_path / "library" / "mcp_types.py").write_text(slow)
    done = subprocess.run(
        EXECUTABLE,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path / "library" / "..",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "library")},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_standard_streams_are_no_fault(tmp_path: Path) -> None:
    ping = line(request(1, "ping"))
    for closed in ("<&-", "2>&-", ">&-"):
        command = f'"$@" {closed}'
        done = subprocess.run(
            ("sh", "-c", command, "sh", *EXECUTABLE), input=ping, capture_output=True, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_client_that_goes_away_ends_the_server(timed: Wire) -> None:
    assert timed.process.stdout
    timed.process.stdout.close()
    timed.send(*(request(number, "tools/list") for number in range(3)))
    assert timed.process.wait(60) == 0


def test_a_client_that_does_not_read_makes_it_wait_and_take_no_memory(timed: Wire) -> None:
    text = {"text": "x" * 1000, "times": 1000}
    requests = b"".join(line(call(number, "echo", text)) for number in range(2000))
    writing = os.fork()
    if writing == 0:  # whoever writes is blocked, for the server stops reading too
        timed.write(requests)
        os._exit(0)
    try:
        before = None
        while before != (before := (resident(timed), timed.process.poll())):
            time.sleep(0.5)
        assert resident(timed) < 500 << 20
        assert os.waitpid(writing, os.WNOHANG) == (0, 0), "it has not read everything"
    finally:
        os.kill(writing, signal.SIGKILL)
        os.waitpid(writing, 0)
    timed.process.send_signal(signal.SIGTERM)
    assert timed.process.wait(60) == 0


def resident(wire: Wire) -> int:
    """Return how much memory the server has, in bytes."""
    pages = int(Path(f"/proc/{wire.process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_a_client_that_closes_its_end_and_does_not_read_does_not_hang_the_exit(
    timed: Wire,
) -> None:
    text = {"text": "x" * 1000, "times": 1000}
    timed.send(*(call(number, "echo", text) for number in range(20)))
    assert timed.process.stdin
    timed.process.stdin.close()
    assert timed.process.wait(60) == 0
    timed.process.stdin = None


def test_a_log_that_nobody_reads_halts_nothing(timed: Wire) -> None:
    for _ in range(3000):
        assert timed.ask(b"{")["error"]["code"] == -32700
    assert timed.lives()


def test_warnings_at_the_start_reach_nobody(tmp_path: Path) -> None:
    with served(tmp_path, EXECUTABLE, {"PYTHONWARNINGS": "always"}) as wire:
        assert wire.lives()
        assert wire.end().log == []


def test_a_call_that_waits_for_git_leaves_neither_it_nor_its_files(
    desk: Desk, tmp_path: Path
) -> None:
    desk.begin()
    (tmp_path / "scratch").mkdir()
    os.mkfifo(tmp_path / "told")
    env = {**desk.env, "TMPDIR": str(tmp_path / "scratch"), "PATH": _with_a_slow_git(tmp_path)}
    with served(desk.folder, EXECUTABLE, env) as wire:
        wire.send(modern(1, "tools/call", {"name": "pack"}))
        with (tmp_path / "told").open() as told:
            assert told.readline() == "at work\n"
            assert (wire.end().code, told.read()) == (0, "")
    assert list((tmp_path / "scratch").iterdir()) == []


def _with_a_slow_git(folder: Path) -> str:
    """Return a PATH whose git tells into the pipe *folder*/told that it takes a minute."""
    program = folder / "slow" / "git"
    program.parent.mkdir()
    slow = f"(echo at work; sleep 60; echo still there) > '{folder}/told'"
    plain = f'exec {shutil.which("git")} "$@"'
    program.write_text(f'#!/bin/sh\ncase "$*" in *ls-files*) {slow};; esac\n{plain}\n')
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"
