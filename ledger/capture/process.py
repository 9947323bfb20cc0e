"""Running one command as if we were not there, while Sinks see what it writes.

The command stays in our process group, so Ctrl-C, Ctrl-Z and the terminal's rules for background
jobs meet it as they would without us. It inherits our stdin untouched. Signals that reach only us
are passed on, and we wait for its end however it takes them. ``run_child`` must be called in the
main thread, with our own output flushed.

The caller chooses the environment, and leaves MEMPROVE_TOKEN out of it.
"""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memprove.ledger.capture import descriptors, launch
from memprove.ledger.capture.pump import PIPE_SIZE, Pump
from memprove.ledger.capture.relay import WAKE, Relay, came_to_the_command_too
from memprove.ledger.capture.streams import Sink

if TYPE_CHECKING:
    import subprocess

TIMED_OUT = 124
KILL_AFTER_S = 5.0
"""How long a command that timed out may take to end after SIGTERM."""
GIVE_UP_AFTER_S = 1.0
"""How long we go on writing what an ended command left, after we were asked to end."""
NEWS = frozenset((WAKE, getattr(signal, "SIGCHLD", WAKE)))
"""What a Relay tells that is no signal for the command."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended.

    ``code`` is what a shell would show: its own, 126 not executable, 127 not found, 128 and
    ``signal``, 124 timed out. ``refusal`` says why it did not start (empty: it started).
    ``pipe_held``: processes it left behind still held its output when we stopped reading, so more
    may have been written.
    ``fault``: what kept a Sink from seeing everything; its record must not be used.
    """

    code: int
    duration_ms: int
    signal: int | None = None
    timed_out: bool = False
    refusal: str = ""
    pipe_held: bool = False
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
    """Run *command* to its end; copy its output to descriptors 1 and 2 and show it to the Sinks.

    A command that cannot be started is an Exit as well. On time-out it gets SIGTERM, after five
    more seconds SIGKILL; processes that it started are its own to end. Raises Problem
    ``command_gone`` if *cwd* is no directory.
    """
    began = time.monotonic()
    with Relay() as relay, _Pipes(stdout, stderr, relay) as streams:
        try:
            child = launch.start(
                command,
                cwd=cwd,
                env=env,
                stdin=streams.stdin,
                stdout=streams.stdout,
                stderr=streams.stderr,
            )
        except launch.NotStarted as refused:
            return Exit(refused.code, _since(began), refusal=refused.reason)
        streams.start()
        relay.listen()
        ended, asked_by = _attend(child, relay, began, timeout_s)
        streams.finish()
        return _take_the_rest(ended, asked_by, streams, relay)


def _attend(
    child: "subprocess.Popen[bytes]", relay: Relay, began: float, timeout_s: float | None
) -> tuple[Exit, int | None]:
    """Pass signals on to *child* until it ends, and end it when its time is over.

    Return how it ended, and the signal that ended it or came when it had just ended by itself.
    """
    until = None if timeout_s is None else began + timeout_s
    ending = [signal.SIGKILL, signal.SIGTERM]
    came, passed = [], set()
    while (status := child.poll()) is None:
        came = [number for number in relay.wait(_left(until)) if number not in NEWS]
        passed.update(came)
        for number in came:
            if not came_to_the_command_too(number):
                child.send_signal(number)
        if until is not None and time.monotonic() >= until and child.poll() is None:
            child.send_signal(ending.pop())
            child.send_signal(signal.SIGCONT)  # a stopped process takes no other signal
            until = time.monotonic() + KILL_AFTER_S if ending else None
    by_signal = -status if status < 0 else None
    timed_out = len(ending) < 2
    code = TIMED_OUT if timed_out else 128 + by_signal if by_signal else status
    asked_by = came[-1] if came else by_signal if by_signal in passed else None
    return Exit(code, _since(began), by_signal, timed_out), asked_by


def _take_the_rest(ended: Exit, asked_by: int | None, streams: "_Pipes", relay: Relay) -> Exit:
    """Wait for the pumps, though not for ever on a reader who reads nothing when asked to end.

    A signal that made us give up is how the command would have ended without us: still writing.
    """
    until = time.monotonic() + GIVE_UP_AFTER_S if asked_by or ended.timed_out else None
    while streams.are_busy():
        for number in relay.wait(_left(until)):
            if number not in NEWS:
                asked_by, until = number, until or time.monotonic() + GIVE_UP_AFTER_S
        if until is not None and time.monotonic() >= until:
            streams.give_up()
            if asked_by and not ended.timed_out:
                ended = replace(ended, code=128 + asked_by, signal=asked_by)
            return replace(ended, pipe_held=True, fault=streams.fault())
    held = any(pump.held for pump in streams.pumps)
    return replace(ended, pipe_held=held, fault=streams.fault())


def _left(until: float | None) -> float | None:
    return None if until is None else until - time.monotonic()


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)


class _Pipes:
    """The command's streams: our stdin, and a pipe with its pump for each of the other two.

    A terminal in their place is another class with these members: what the command gets, ``start``
    once it has them, ``finish`` once it has ended.
    """

    def __init__(self, stdout: Sink, stderr: Sink, relay: Relay) -> None:
        self.stdin: int | None = None
        from_stdout, self.stdout = descriptors.pipe()
        from_stderr, self.stderr = descriptors.pipe()
        self._ended, self._running = descriptors.pipe()
        self._open = {
            from_stdout,
            self.stdout,
            from_stderr,
            self.stderr,
            self._ended,
            self._running,
        }
        self.pumps = [
            self._pump(from_stdout, 1, stdout, relay),
            self._pump(from_stderr, 2, stderr, relay),
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close(*self._open)

    def start(self) -> None:
        """Copy: the command has its ends."""
        self._close(self.stdout, self.stderr)
        for pump in self.pumps:
            self._open.discard(pump.source)  # which the pump closes
            pump.start()

    def finish(self) -> None:
        """Take what is there and come to an end: the command has ended."""
        for pump in self.pumps:
            pump.finish()
        self._close(self._running)

    def give_up(self) -> None:
        """Leave a pump that cannot write."""
        self._open.discard(self._ended)  # such a pump may look at it yet
        for pump in self.pumps:
            pump.give_up()

    def fault(self) -> Exception | None:
        """Return what kept a Sink from seeing everything."""
        return next((pump.fault for pump in self.pumps if pump.fault), None)

    def are_busy(self) -> bool:
        """Return whether something is still being copied."""
        return not all(pump.over for pump in self.pumps)

    def _pump(self, source: int, target: int, sink: Sink, relay: Relay) -> Pump:
        descriptors.widen(source, PIPE_SIZE)
        return Pump(source, target, sink, ended=self._ended, done=relay.wake)

    def _close(self, *ends: int) -> None:
        for end in ends:
            self._open.discard(end)
            os.close(end)
