"""Two processes: one works, the other waits for its answer and leaves in time.

Whatever the first hangs in (git, SQLite, a dead disk, a regular expression), the client gets its
exit code 0 at the deadline. The one that works has neither stdout nor stderr of ours, so nothing of
it can reach the client but its answer; and the system itself ends it, by an alarm.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

MOST = 64 * 1024
"""Bytes of an answer: far more than any client takes."""


def open_standard_streams() -> None:
    """See to it that the descriptors 0, 1 and 2 are taken, or a file would become our stdout."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def answer(work: Callable[[], bytes], until: float, at_most: float) -> None:
    """Write what *work* returns to stdout, if it does before *until* (of the monotonic clock).

    It may go on until *at_most* all the same, when nobody waits for it any more.
    """
    if not hasattr(os, "fork"):
        _beside_a_timer(work, until)
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, writing, at_most)
    os.close(writing)
    written = _read(reading, until)
    if written is None:
        return
    os.waitpid(child, 0)  # it is gone, and somebody must say so where nobody else does
    if written.endswith(b"\n"):  # whole: the line feed comes last
        with suppress(OSError):
            _write(1, written)


def tell(error: BaseException) -> None:
    """Say on stderr what went wrong, for people who look for it with MEMPROVE_DEBUG=1."""
    if os.environ.get("MEMPROVE_DEBUG") == "1":
        from memprove.ledger.domain import printing  # late: hardly ever

        text = printing.escape(f"memprove hook: {str(error) or type(error).__name__}")
        with suppress(OSError):
            _write(2, f"{text}\n".encode("utf-8", "replace"))


def _work(work: Callable[[], bytes], writing: int, at_most: float) -> NoReturn:
    try:
        os.setsid()  # a terminal that closes now must not end it half-way
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, max(at_most - time.monotonic(), 0.001))
        _let_go(1)
        if os.environ.get("MEMPROVE_DEBUG") != "1":
            _let_go(2)
        _write(writing, work())
    except BaseException as error:
        with suppress(BaseException):
            tell(error)
    os._exit(0)


def _let_go(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _read(descriptor: int, until: float) -> bytes | None:
    """Return what is written before the other end closes; None if that takes too long."""
    data = b""
    while select.select([descriptor], [], [], max(until - time.monotonic(), 0.0))[0]:
        chunk = os.read(descriptor, MOST)
        if not chunk:
            return data
        data += chunk
    return None


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _beside_a_timer(work: Callable[[], bytes], until: float) -> None:
    """Do as `answer` in one process (Windows): a thread ends it at the deadline."""
    from threading import Timer

    timer = Timer(max(until - time.monotonic(), 0.0), os._exit, (0,))
    timer.daemon = True
    timer.start()
    stdout = os.dup(1)
    _let_go(1)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    _write(stdout, work())
