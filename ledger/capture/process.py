"""Running one command as if we were not there, while Sinks see what it writes.

If our three standard streams are one terminal, the command gets a terminal of its own, on which
stdout and stderr are one stream; otherwise it inherits our stdin and has a pipe for each output.
Signals that reach only us are passed on, and we wait for its end however it takes them.
``run_child`` must be called in the main thread, with our own output flushed.

The caller chooses the environment, and leaves MEMPROVE_TOKEN out of it.
"""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from memprove.ledger.capture import launch, terminal
from memprove.ledger.capture.pipes import Pipes
from memprove.ledger.capture.pump import Pumps
from memprove.ledger.capture.relay import FROM_TERMINALS, NEWS, PASSED_ON, Relay
from memprove.ledger.capture.streams import Sink

TIMED_OUT = 124
KILL_AFTER_S = 5.0
"""How long a command that timed out may take to end after SIGTERM."""
GIVE_UP_AFTER_S = 1.0
"""How long we go on writing what an ended command left, after we were asked to end."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended.

    ``code`` is what a shell would show: its own, 126 not executable, 127 not found, 128 and
    ``signal``, 124 timed out. ``refusal`` says why it did not start (empty: it started).
    ``pipe_held``: processes it left behind still held its output when we stopped reading, so more
    may have been written.
    ``one_terminal``: stdout and stderr were one terminal, whose output the first Sink has seen.
    ``undelivered``: why our own stdout or stderr did not take all of its output, say a full disk.
    ``fault``: what kept a Sink from seeing everything; its record must not be used.
    """

    code: int
    duration_ms: int
    signal: int | None = None
    timed_out: bool = False
    refusal: str = ""
    pipe_held: bool = False
    one_terminal: bool = False
    undelivered: str = ""
    fault: Exception | None = None


def run_child(
    command: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str],
    timeout_s: float | None = None,
    stdout: Sink,
    stderr: Sink,
) -> Exit:
    r"""Run *command* to its end; copy its output to descriptors 1 and 2 and show it to the Sinks.

    On a terminal all of it comes to the Sink *stdout*, as it comes out of the command's terminal:
    with ``\r\n`` for a ``\n``, and with the echo of what was typed.

    A command that cannot be started is an Exit as well. On time-out it gets SIGTERM, after five
    more seconds SIGKILL; processes that it started are its own to end. Raises Problem
    ``command_gone`` if *cwd* is no directory.
    """
    began = time.monotonic()
    pair = _pair_of_terminals()
    with (
        Relay(*(FROM_TERMINALS if pair else ())) as relay,
        _streams(pair, stdout, stderr, relay) as streams,
    ):
        try:
            streams.start(command, cwd, env)
        except launch.NotStarted as refused:
            ended = Exit(refused.code, _since(began), refusal=refused.reason)
        else:
            ended, asked_by = _attend(streams, relay, began, timeout_s)
            streams.finish()
            ended = _take_the_rest(ended, asked_by, streams, relay)
    return replace(ended, one_terminal=pair is not None)


class _Streams(Protocol):
    """A command and its streams; for a ``with`` block, left when its output has been taken."""

    pumps: Pumps

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def start(self, command: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        """Start *command* and copy what it writes. Raises what ``launch.start`` raises."""

    def poll(self) -> int | None:
        """Return the exit code of the command, or minus the signal; None while it runs."""

    def send(self, number: int) -> None:
        """Send signal *number* to the command."""

    def pass_on(self, number: int) -> None:
        """Do with signal *number*, which came to us, what it would have done without us."""

    def finish(self) -> None:
        """Take what is there and come to an end: the command has ended."""


def _pair_of_terminals() -> tuple[int, int] | None:
    """Return our side and the command's side of a new terminal, if it is to have one."""
    try:
        return os.openpty() if terminal.found() else None
    except OSError:  # there are too many
        return None


def _streams(pair: tuple[int, int] | None, stdout: Sink, stderr: Sink, relay: Relay) -> _Streams:
    if pair is None:
        return Pipes(stdout, stderr, relay)
    from memprove.ledger.capture.pseudo_terminal import PseudoTerminal  # late: rarely used

    return PseudoTerminal(pair, stdout, relay)


def _attend(
    streams: _Streams, relay: Relay, began: float, timeout_s: float | None
) -> tuple[Exit, int | None]:
    """Pass signals on to the command until it ends, and end it when its time is over.

    Return how it ended, and the signal that ended it or came when it had just ended by itself.
    """
    until = None if timeout_s is None else began + timeout_s
    ending = [signal.SIGKILL, signal.SIGTERM]
    came, passed = [], set()
    while (status := streams.poll()) is None:
        heard = [number for number in relay.wait(_left(until)) if number not in NEWS]
        for number in heard:
            streams.pass_on(number)
        came = [number for number in heard if number in PASSED_ON]
        passed.update(came)
        if until is not None and time.monotonic() >= until and streams.poll() is None:
            streams.send(ending.pop())
            streams.send(signal.SIGCONT)  # a stopped process takes no other signal
            until = time.monotonic() + KILL_AFTER_S if ending else None
    by_signal = -status if status < 0 else None
    timed_out = len(ending) < 2
    code = TIMED_OUT if timed_out else 128 + by_signal if by_signal else status
    asked_by = came[-1] if came else by_signal if by_signal in passed else None
    return Exit(code, _since(began), by_signal, timed_out), asked_by


def _take_the_rest(ended: Exit, asked_by: int | None, streams: _Streams, relay: Relay) -> Exit:
    """Wait for the pumps, though not for ever on a reader who reads nothing when asked to end.

    A signal that made us give up is how the command would have ended without us: still writing.
    """
    until = time.monotonic() + GIVE_UP_AFTER_S if asked_by or ended.timed_out else None
    while not streams.pumps.over:
        for number in relay.wait(_left(until)):
            if number in PASSED_ON:
                asked_by, until = number, until or time.monotonic() + GIVE_UP_AFTER_S
        if until is not None and time.monotonic() >= until:
            streams.pumps.give_up()
            if asked_by and not ended.timed_out:
                ended = replace(ended, code=128 + asked_by, signal=asked_by)
            return replace(ended, pipe_held=True, fault=streams.pumps.fault)
    pumps = streams.pumps
    return replace(ended, pipe_held=pumps.held, fault=pumps.fault, undelivered=pumps.undelivered)


def _left(until: float | None) -> float | None:
    return None if until is None else until - time.monotonic()


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
