"""The terminal that we were started on: whose foreground it is, its size, its raw mode.

While it is taken, nothing is done to what is typed or shown (termios(3), "raw mode"): the command's
own terminal does that. From the background it is never touched.
"""

import errno
import os
from contextlib import suppress

TERMINAL = 0
"""Our standard input stands for all three streams."""


def found() -> bool:
    """Return whether our three standard streams are one terminal, the one that controls us."""
    if os.name != "posix" or not all(map(os.isatty, range(3))):
        return False
    try:
        same = len({os.fstat(descriptor).st_rdev for descriptor in range(3)}) == 1
        return same and os.tcgetpgrp(TERMINAL) > 0  # 0: of another process namespace
    except OSError:  # not our controlling terminal: no job control there
        return False


class Terminal:
    """Our terminal; ``taken`` while it is raw and what is typed is ours."""

    def __init__(self) -> None:
        import termios  # late: for commands on a terminal only, and not on Windows
        import tty

        self._termios, self._make_raw = termios, tty.setraw
        self._before = self._raw = termios.tcgetattr(TERMINAL)
        self.taken = False

    def is_foreground(self) -> bool:
        """Return whether our process group is the one that the terminal listens to."""
        try:
            return os.tcgetpgrp(TERMINAL) == os.getpgrp()
        except OSError:
            return False

    def is_gone(self) -> bool:
        """Return whether the terminal has hung up."""
        try:
            os.tcgetpgrp(TERMINAL)
        except OSError as fault:
            return fault.errno == errno.EIO
        return False

    def take(self) -> bool:
        """Make it raw if we are in its foreground; return whether it is taken."""
        self.taken = self.is_foreground()
        if self.taken:
            now = self._termios.tcgetattr(TERMINAL)
            if now != self._raw:  # a shell may continue us with the raw mode it found
                self._before = now
            self._make_raw(TERMINAL, self._termios.TCSANOW)
            self._raw = self._termios.tcgetattr(TERMINAL)
        return self.taken

    def release(self) -> None:
        """Make it again what it was before it was taken."""
        if self.taken and self.is_foreground():
            self._termios.tcsetattr(TERMINAL, self._termios.TCSANOW, self._before)
        self.taken = False

    def lend(self, terminal: int) -> None:
        """Give *terminal* the settings that ours has when it is not taken."""
        settings = self._before if self.taken else self._termios.tcgetattr(TERMINAL)
        with suppress(self._termios.error):  # the command has ended and closed it
            self._termios.tcsetattr(terminal, self._termios.TCSANOW, settings)

    def fit(self, terminal: int) -> None:
        """Give *terminal* the size of ours."""
        with suppress(self._termios.error):
            self._termios.tcsetwinsize(terminal, self._termios.tcgetwinsize(TERMINAL))
