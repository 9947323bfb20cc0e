"""The signals that reach us while a command runs, as bytes of one pipe.

The main thread alone waits there: for the end of the command (SIGCHLD), for signals that were meant
for the command, and for threads that call ``wake``. Nothing else happens in a signal handler, so
nothing is ever interrupted half way, and a process is never signalled after it was reaped.
"""

import errno
import os
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

from memprove.ledger.capture import descriptors

WAKE = 0
"""What ``wait`` returns among the signals when another thread called ``wake``."""

LONGEST_WAIT_S = 86_400.0

_ON_A_TERMINAL = (signal.SIGINT, signal.SIGQUIT) if os.name == "posix" else ()
PASSED_ON = (
    (*_ON_A_TERMINAL, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    if os.name == "posix"
    else ()
)
"""The signals that a command gets through us."""
FROM_TERMINALS = (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT) if os.name == "posix" else ()
"""Those that come with a terminal of the command's own; without one they are not our business."""
NEWS = frozenset((WAKE, getattr(signal, "SIGCHLD", WAKE)))
"""What a Relay tells that is no signal for the command."""


class Relay:
    """Take the signals in ``PASSED_ON`` and *more*, for a ``with`` block in the main thread.

    A signal that is ignored (``nohup``, a background job of a plain shell) stays ignored: by us,
    and by what we start.
    """

    def __init__(self, *more: int) -> None:
        self._numbers = (*PASSED_ON, *more)
        self._unread = b""
        self._watched: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._open = True
        self._incoming, self._outgoing = descriptors.pipe()
        os.set_blocking(self._incoming, False)
        os.set_blocking(self._outgoing, False)
        self._news = select.poll()
        self._news.register(self._incoming, select.POLLIN)

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._outgoing, warn_on_full_buffer=False)
        self._before = {
            number: signal.signal(number, _noted)
            for number in (signal.SIGCHLD, *self._numbers)
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN
        }
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self.close()

    def close(self) -> None:
        """Close the pipe of a Relay that is not waited for any more."""
        with self._lock:
            self._open = False
            os.close(self._incoming)
            os.close(self._outgoing)

    def listen(self) -> None:
        """Let SIGCHLD through even if we were started with it blocked. The command is started."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def wait(self, seconds: float | None) -> bytes:
        """Return the numbers of the signals that came, waiting for one at most *seconds*.

        What is watched is looked after meanwhile; then there may be none sooner.
        """
        if self._unread:
            came, self._unread = self._unread, b""
            return came
        limit = None if seconds is None else min(max(0.0, seconds), LONGEST_WAIT_S) * 1000
        for descriptor, _ in self._news.poll(limit):
            if descriptor in self._watched:
                self._watched[descriptor]()
        with suppress(BlockingIOError):
            return os.read(self._incoming, 4096)
        return b""

    def wake(self) -> None:
        """Make ``wait`` return. May be called by any thread, also when it is too late."""
        self.tell(WAKE)

    def tell(self, number: int) -> None:
        """Make ``wait`` return *number*. A process forked from this one may call it too."""
        with self._lock:
            if self._open:
                with suppress(BlockingIOError):  # full of news already
                    os.write(self._outgoing, bytes([number]))

    def watch(self, descriptor: int, events: int, call: Callable[[], None]) -> None:
        """Let ``wait`` call *call* whenever *descriptor* has one of the *events* of poll(2)."""
        self._watched[descriptor] = call
        self._news.register(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        """Watch *descriptor* no more, if it was watched."""
        if self._watched.pop(descriptor, None):
            self._news.unregister(descriptor)

    def stop(self, number: int) -> bool:
        """Stop by signal *number*, as the terminal stops a whole process group.

        Return, when continued, whether we were stopped: a group whose parents have gone is not.
        SIGCONT must be one of our signals.
        """
        handler = signal.getsignal(number)
        ours = handler is _noted
        if ours:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid() if number == signal.SIGSTOP else 0, number)
        if ours:
            signal.signal(number, handler)
        self._unread = self.wait(0)
        return signal.SIGCONT in self._unread


def came_to_the_command_too(number: int) -> bool:
    """Return whether the terminal sent signal *number* to our whole process group.

    It does so for its keys (SIGINT, SIGQUIT) if we are in its foreground. When it is gone, the
    session's leader alone gets SIGHUP first, and everybody in the foreground when the leader ends.
    """
    if number == signal.SIGHUP:
        return os.getsid(0) != os.getpid() and any(
            _foreground_group(descriptor) == -errno.EIO for descriptor in range(3)
        )
    if number in _ON_A_TERMINAL:
        return any(_foreground_group(descriptor) == os.getpgrp() for descriptor in range(3))
    return False


def _foreground_group(descriptor: int) -> int:
    """Return the foreground process group of the terminal *descriptor*, or minus the errno."""
    try:
        return os.tcgetpgrp(descriptor)
    except OSError as fault:
        return -(fault.errno or 0)


def _noted(number: int, frame: FrameType | None) -> None:
    """Do nothing: the number of the signal is in the pipe already."""
