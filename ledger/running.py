"""Running the command of a Run whatever we meet: too few descriptors, threads, memory; signals.

The command and its exit code come first. Where it cannot be run with somebody looking on, it is
run as a plain shell would: with our own streams, and nothing of its output is recorded.
"""

import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from memprove.ledger.capture.launch import NOT_EXECUTABLE, NOT_FOUND
from memprove.ledger.capture.process import Exit, run_child
from memprove.ledger.capture.pump import CHUNK
from memprove.ledger.capture.relay import PASSED_ON, came_to_the_command_too
from memprove.ledger.capture.streams import Sink
from memprove.ledger.problems import Problem

_OUR_LIMITS: Final = frozenset(
    os.strerror(number).lower()
    for number in (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
)
"""Why a command did not start, where that is for want of something of ours."""

_PIPES: Final = 6
"""As many as there are at once while a command is started."""


def run(
    command: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    timeout_s: float | None,
    stdout: Sink,
    stderr: Sink,
) -> Exit:
    """Run *command* as ``run_child`` does, or else as ``run_plainly`` does.

    Raises what ``run_child`` raises only where the command has ended and its exit code is lost.
    """
    ended_before = _ended_children()
    try:
        _rehearse()
        ended = run_child(
            command, cwd=cwd, env=env, timeout_s=timeout_s, stdout=stdout, stderr=stderr
        )
    except Problem:
        raise
    except Exception as fault:
        if (status := _status_of_a_child()) is not None:
            return _exit(status, fault)
        if _ended_children() != ended_before:
            raise
        return run_plainly(command, cwd=cwd, env=env, fault=fault)
    if ended.refusal in _OUR_LIMITS:
        return run_plainly(command, cwd=cwd, env=env, fault=OSError(ended.refusal))
    return ended


def run_plainly(
    command: Sequence[str], *, cwd: str | None, env: Mapping[str, str], fault: Exception
) -> Exit:
    """Run *command* on our own streams and without looking on, because of *fault*.

    It needs no descriptor and no thread. Where there can be no further process either, it takes
    the place of this one. A time limit is not kept.
    """
    began, heeded = time.monotonic(), _heeded()
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, heeded)  # until both know what to do
    try:
        child = os.fork()
    except OSError:
        child = 0
    if child == 0:
        for number in (*heeded, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores the last two
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        _become(command, cwd, env)
    before = {number: signal.signal(number, _passing_to(child)) for number in heeded}
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return _exit(status, fault, int((time.monotonic() - began) * 1000))


@contextmanager
def held_signals() -> Iterator[Callable[[], None]]:
    """Let none of the signals that the command gets through us end us before it is recorded.

    The function that is yielded makes them ignored, also by the programs that recording needs (a
    terminal's keys reach those too): call it when the command has ended.
    """
    before = {number: signal.signal(number, _let_pass) for number in _heeded()}

    def ignore() -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)

    try:
        yield ignore
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded() -> list[int]:
    """Return the signals of ``PASSED_ON`` that are not ignored, as ``nohup`` has it."""
    kept = (signal.SIG_IGN, None)
    return [number for number in PASSED_ON if signal.getsignal(number) not in kept]


def _let_pass(number: int, frame: object) -> None:
    """Do nothing; not SIG_IGN, which the command would inherit."""


def _passing_to(child: int) -> Callable[[int, object], None]:
    def send(number: int, frame: object) -> None:
        if not came_to_the_command_too(number):
            os.kill(child, number)

    return send


def _rehearse() -> None:
    """Raise OSError, RuntimeError or MemoryError if there cannot be what a command needs.

    Later it would be too late: with the command started, its output would be lost.
    """
    over, ends = threading.Event(), list[int]()
    threads = [threading.Thread(target=over.wait, daemon=True) for _ in range(2)]
    try:
        for _ in range(_PIPES):
            ends += os.pipe()
        for thread in threads:
            thread.start()
        bytearray(4 * CHUNK)
    finally:
        over.set()
        for end in ends:
            os.close(end)
    for thread in threads:
        thread.join()


def _become(command: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
    """Become *command*; end with the code of a shell that cannot run it."""
    code = NOT_EXECUTABLE
    try:
        if cwd is not None:
            os.chdir(cwd)
        os.execvpe(command[0], list(command), dict(env))
    except (FileNotFoundError, NotADirectoryError):
        code = NOT_FOUND
    finally:
        sys.stderr.flush()
        os._exit(code)


def _ended_children() -> tuple[float, ...]:
    """Return what changes whenever a child of ours has ended and was waited for."""
    import resource  # late: not on Windows

    return tuple(resource.getrusage(resource.RUSAGE_CHILDREN))


def _status_of_a_child() -> int | None:
    """Wait for a child that is left; return its status, None if there is none."""
    try:
        return os.waitpid(-1, 0)[1]
    except ChildProcessError:
        return None


def _exit(status: int, fault: Exception, duration_ms: int = 0) -> Exit:
    code = os.waitstatus_to_exitcode(status)
    number = -code if code < 0 else None
    return Exit(128 + number if number else code, duration_ms, number, fault=fault)
