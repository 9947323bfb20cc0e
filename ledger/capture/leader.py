"""The process that leads the session of a command which has a terminal of its own.

A terminal stops and continues process groups whose parents are in its session (POSIX.1-2017, base
definitions 11.1): so the command is a group of its own with this leader above it, as it would have
a shell above it. The leader tells us when the command is stopped or has ended, and passes on what
we tell it. While the command runs it holds the terminal open. It leaves when we dismiss it, after
all output is copied: with the leader of its session a terminal loses what was not read yet.
"""

import os
import signal
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from memprove.ledger.capture import descriptors
from memprove.ledger.capture.launch import NOT_EXECUTABLE, NotStarted
from memprove.ledger.capture.relay import FROM_TERMINALS, NEWS, Relay

if TYPE_CHECKING:
    import subprocess

Start = Callable[[Callable[[], None]], "subprocess.Popen[bytes]"]
"""Start the command on the standard streams, calling the argument in its process first."""


class Order(IntEnum):
    """What the leader does beside sending signals; the numbers are above those of all signals."""

    FOREGROUND = 200
    """Let the command go on in the foreground of its terminal."""
    BACKGROUND = 201
    LEAVE = 202


LOOK_AFTER_S: Final = 1.0
"""How often a leader that waits to be dismissed looks whether we are still there."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The command was stopped by *signal*."""

    signal: int


@dataclass(frozen=True, slots=True)
class Continued:
    """The command goes on, as was ordered."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The command has ended with its own exit code, or minus the signal."""

    status: int


class Leader:
    """A leader as the process that started it sees it; *relay* is woken when there is news."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._orders = Relay(*FROM_TERMINALS)
        self._news, self._telling = descriptors.pipe()
        self._unread = b""
        self._lines: list[str] = []
        self._pid = 0

    def start(
        self, start: Start, terminal: int, *, foreground: bool, held: Collection[int]
    ) -> None:
        """Make a session on *terminal* and *start* the command in it. Raises NotStarted.

        Nothing of *held* stays open in the leader.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:  # a signal must not come to the leader before it is ready for it
            parent = os.getpid()
            self._pid = os.fork()
            if self._pid == 0:
                try:
                    for descriptor in (*held, self._news):
                        os.close(descriptor)
                    session = _Session(self._orders, self._tell, parent)
                    session.lead(start, terminal, foreground, before)
                finally:
                    os._exit(0)
        except OSError as fault:
            raise NotStarted(NOT_EXECUTABLE, os.strerror(fault.errno or 0).lower()) from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(self._telling)
        self._hear()
        os.set_blocking(self._news, False)
        word, _, rest = self._lines.pop(0).partition(" ")
        if word == "refused":
            code, _, reason = rest.partition(" ")
            raise NotStarted(int(code), reason)

    def tell(self, number: int) -> None:
        """Have signal *number* sent to the command's process group, or give an Order."""
        self._orders.tell(number)

    def news(self) -> list[Stopped | Continued | Ended]:
        """Return what happened to the command since the last call."""
        self._hear()
        lines, self._lines = self._lines, []
        return list(map(_news, lines))

    def dismiss(self) -> None:
        """Let the leader leave: its session is over."""
        if self._pid:
            self.tell(Order.LEAVE)
            os.waitpid(self._pid, 0)
        else:
            os.close(self._telling)
        os.close(self._news)
        self._orders.close()

    def _hear(self) -> None:
        """Read what the leader wrote; if it is gone, so is the command's terminal."""
        try:
            told = os.read(self._news, 4096)
        except BlockingIOError:
            return
        *lines, self._unread = (self._unread + told).split(b"\n")
        self._lines += [line.decode() for line in lines] if told else [f"ended {-signal.SIGHUP}"]

    def _tell(self, what: str) -> None:
        """Write one line of news. Called by the leader."""
        os.write(self._telling, what.encode() + b"\n")
        self._relay.wake()


@dataclass(frozen=True, slots=True)
class _Session:
    """What the leader does."""

    orders: Relay
    tell: Callable[[str], None]
    parent: int

    def lead(self, start: Start, terminal: int, foreground: bool, mask: set[int]) -> None:
        """Take *terminal*, start the command, and see it to its end."""
        _take(terminal)
        with self.orders:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            try:
                command = start(lambda: _become_a_group(foreground))
            except NotStarted as refused:
                self.tell(f"refused {refused.code} {refused.reason}")
                return
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # we give the terminal from behind
            self.orders.listen()
            self.tell("started ")
            status = self._see_to_its_end(command.pid)
            if status is None:
                return
            _leave_the_terminal()
            self.tell(f"ended {status}")
            while Order.LEAVE not in self.orders.wait(LOOK_AFTER_S) and self._has_its_parent():
                pass

    def _see_to_its_end(self, command: int) -> int | None:
        """Return the exit code of *command* or minus the signal; None if we are to leave."""
        while True:
            found, status = os.waitpid(command, os.WNOHANG | os.WUNTRACED)
            if found and not os.WIFSTOPPED(status):
                return os.waitstatus_to_exitcode(status)
            if found:
                self.tell(f"stopped {os.WSTOPSIG(status)}")
                continue
            for number in self.orders.wait(None):
                if number == Order.LEAVE or not self._has_its_parent():
                    return None
                _obey(number, command)
                if number in tuple(Order):
                    self.tell("continued")

    def _has_its_parent(self) -> bool:
        return os.getppid() == self.parent


def _news(line: str) -> Stopped | Continued | Ended:
    match line.split():
        case ["stopped", number]:
            return Stopped(int(number))
        case ["ended", status]:
            return Ended(int(status))
        case _:
            return Continued()


def _take(terminal: int) -> None:
    """Become the leader of a new session that *terminal* controls."""
    import fcntl  # late: not on Windows
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(terminal, stream)
    os.close(terminal)


def _become_a_group(foreground: bool) -> None:
    """Make the calling process a group of its own, the one that the terminal listens to."""
    os.setpgid(0, 0)
    if foreground:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        os.tcsetpgrp(0, os.getpid())
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _obey(number: int, command: int) -> None:
    if number in tuple(Order):
        with suppress(OSError):  # it has hung up
            os.tcsetpgrp(0, command if number == Order.FOREGROUND else os.getpgrp())
        number = signal.SIGCONT
    if number not in NEWS:
        with suppress(OSError):  # the command is another user's
            os.killpg(command, number)


def _leave_the_terminal() -> None:
    """Close it; what the command left behind is in its background, where our end does not hurt."""
    with suppress(OSError):  # it has hung up
        os.tcsetpgrp(0, os.getpgrp())
    for stream in range(3):
        os.close(stream)
