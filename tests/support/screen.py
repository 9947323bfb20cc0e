"""A terminal with somebody at it, who types keys and reads what is shown."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_S = 60
"""How long anything may take on a machine with other things to do."""


@dataclass
class Screen:
    """A terminal, and the process that leads the session on it."""

    pid: int
    terminal: int
    side: int
    shown: bytes = b""
    seen: int = 0
    status: int | None = None
    settings: list[object] = field(default_factory=list)

    def type(self, keys: bytes) -> None:
        """Type *keys*."""
        os.write(self.terminal, keys)

    def type_what_fits(self, keys: bytes) -> None:
        """Type *keys* until nobody takes them any more."""
        os.set_blocking(self.terminal, False)
        with suppress(BlockingIOError):
            while keys:
                keys = keys[os.write(self.terminal, keys) :]
        os.set_blocking(self.terminal, True)

    def until(self, expected: str) -> "re.Match[bytes]":
        """Read on until the pattern *expected* is shown after what was expected before."""
        limit = time.monotonic() + LIMIT_S
        while (found := re.compile(expected.encode()).search(self.shown, self.seen)) is None:
            if not self._read(limit):
                raise AssertionError(f"no {expected!r} in {self.shown[self.seen :]!r}")
        self.seen = found.end()
        return found

    def end(self) -> int:
        """Read to the end; return the exit code of the leader, or minus the signal."""
        limit = time.monotonic() + LIMIT_S
        while self.status is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > limit:
                raise AssertionError(f"it does not end: {self.shown[self.seen :]!r}")
            self._read(time.monotonic() + 0.05)
        while self._read(time.monotonic()):
            pass
        return self.status

    def resize(self, rows: int, columns: int) -> None:
        """Make the window another size."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def is_raw(self) -> bool:
        """Return whether keys are handed on unprocessed, without echo."""
        modes = termios.tcgetattr(self.side)
        return not modes[3] & (termios.ECHO | termios.ICANON | termios.ISIG)

    def until_it_is_raw(self) -> None:
        """Wait until somebody has made it raw; nothing is shown then."""
        self._wait_until(self.is_raw)

    def until_a_job_has_it(self) -> None:
        """Wait until another process group than the leader's is in the foreground."""
        self._wait_until(lambda: os.tcgetpgrp(self.terminal) != self.pid)

    def is_as_before(self) -> bool:
        """Return whether the terminal has the settings that it had at first."""
        return termios.tcgetattr(self.side) == self.settings

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.side)
        os.close(self.terminal)
        self.terminal = -1

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        limit = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < limit, f"it does not come: {self.shown[self.seen :]!r}"
            self._read(time.monotonic() + 0.01)

    def _read(self, limit: float) -> bool:
        """Read what is shown by *limit*; return whether there was any."""
        if self.terminal < 0:
            return False
        ready, _, _ = select.select([self.terminal], [], [], max(0.0, limit - time.monotonic()))
        if ready:
            self.shown += os.read(self.terminal, 65536)
        return bool(ready)


@contextmanager
def on_screen(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]
) -> Iterator[Screen]:
    """Start *command* as the leader of a session on a new terminal, all streams of it."""
    terminal, side = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            fcntl.ioctl(side, termios.TIOCSCTTY, 0)
            for stream in range(3):
                os.dup2(side, stream)
            os.chdir(cwd)
            os.execvpe(command[0], [os.fspath(word) for word in command], dict(env))
        finally:
            os._exit(127)
    screen = Screen(pid, terminal, side, settings=termios.tcgetattr(side))
    try:
        yield screen
    finally:
        if screen.terminal >= 0:
            screen.hang_up()
        if screen.status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
