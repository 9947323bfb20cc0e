r"""The command's streams where ours are all one terminal: a pseudo-terminal of its own.

Its line discipline does for the command what that of ours would have done: Ctrl-C, Ctrl-Z, Ctrl-D,
echo, raw mode. Ours is raw meanwhile; what is typed goes to the command's terminal, and what comes
out of that goes to ours and is recorded, as stdout: stdout and stderr are one stream there. The
record is of the bytes as they come out: ``\r\n`` where the command wrote ``\n``, and with the
echo of what was typed.

When the command is stopped so are we, by the same signal, with our terminal as it was: the shell
sees what it would have seen. Continued in the background, we leave our terminal alone, and the
command is in the background of its own: where it may not go on there, it is stopped, and so are we.
Started in the background, likewise.

Signals that came to us go to the process group of the command: where a shell sent them to all of
its job, that is who is left of it.
"""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, assert_never

from memprove.ledger.capture import launch
from memprove.ledger.capture.keys import Keys
from memprove.ledger.capture.leader import Continued, Ended, Leader, Order, Stopped
from memprove.ledger.capture.pump import Pumps
from memprove.ledger.capture.relay import Relay
from memprove.ledger.capture.streams import Sink
from memprove.ledger.capture.terminal import TERMINAL, Terminal

if TYPE_CHECKING:
    import subprocess

SETTLE_S: Final = 1.0
"""How long we wait, before we are stopped too, for all to be shown that the command wrote."""


class PseudoTerminal:
    """A command on the terminal with the two sides *pair*; *relay* takes ``FROM_TERMINALS`` too."""

    def __init__(self, pair: tuple[int, int], sink: Sink, relay: Relay) -> None:
        ours, theirs = pair
        self._ours: int | None = os.dup(ours)  # the other one is the pump's
        self._theirs: int | None = theirs
        os.set_blocking(ours, False)
        self._relay = relay
        self._terminal = Terminal()
        self._leader = Leader(relay)
        self._keys = Keys(self._ours, relay, self._leave_or_hang_up)
        self._foreground = False
        self._running = True
        self._status: int | None = None
        self.pumps = Pumps(relay.wake)
        self._pump = self.pumps.add(ours, 1, sink)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hang_up()
        self._close_theirs()
        self.pumps.close()
        self._leader.dismiss()

    def start(self, command: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        """Start *command* on its terminal. Raises what ``launch.start`` raises."""
        launch.require_folder(cwd)
        assert self._ours is not None
        assert self._theirs is not None
        env = _renamed(env, os.ttyname(TERMINAL), os.ttyname(self._theirs))

        def begin(first: Callable[[], None]) -> "subprocess.Popen[bytes]":
            return launch.start(
                command, cwd=cwd, env=env, stdin=None, stdout=1, stderr=2, first=first
            )

        self._foreground = self._terminal.is_foreground()
        self._terminal.lend(self._ours)
        self._terminal.fit(self._ours)
        held = (*self.pumps.descriptors, self._ours)
        self._leader.start(begin, self._theirs, foreground=self._foreground, held=held)
        self._close_theirs()
        self._take()
        self.pumps.start()
        self._relay.listen()

    def poll(self) -> int | None:
        """Return the exit code of the command, or minus the signal; None while it runs."""
        for news in self._leader.news():
            match news:
                case Stopped(number):
                    self._stop(number)
                case Continued():
                    self._running = True
                    if self._terminal.taken:
                        self._keys.listen()
                case Ended(status):
                    self._status = status
                case _:
                    assert_never(news)
        if self._pump.over:  # there is nobody to show anything to
            self._hang_up()
        return self._status

    def send(self, number: int) -> None:
        """Send signal *number* to the process group of the command."""
        self._leader.tell(number)

    def pass_on(self, number: int) -> None:
        """Do with signal *number*, which came to us, what it would have done without us."""
        match number:
            case signal.SIGWINCH:
                self._fit()
            case signal.SIGCONT:
                if self._take() and not self._foreground:
                    self._go_on(foreground=True)
            case signal.SIGHUP if self._terminal.is_gone():
                self._hang_up()
            case _:
                self._leader.tell(number)

    def finish(self) -> None:
        """Take what is there and come to an end: the command has ended."""
        self._keys.stop()
        self.pumps.finish()

    def _stop(self, number: int) -> None:
        """Be stopped by *number* as the command was, and go on with it when we are continued."""
        waits_for_us = number in (signal.SIGTTIN, signal.SIGTTOU)
        self._running = False
        self._keys.rest()
        if waits_for_us and self._take():  # brought to the foreground; nobody tells us when
            self._go_on(foreground=True)
            return
        self._pump.settle(SETTLE_S)
        self._release()
        was_stopped = self._relay.stop(number)
        self._go_on(foreground=self._take() or not was_stopped)

    def _go_on(self, *, foreground: bool) -> None:
        """Let the command go on, in the foreground of its terminal or in the background."""
        self._foreground = foreground
        self._leader.tell(Order.FOREGROUND if foreground else Order.BACKGROUND)

    def _take(self) -> bool:
        """Take our terminal if we are in its foreground; return whether it is taken."""
        if self._ours is None:
            return False
        if not self._terminal.take():
            self._keys.rest()
            return False
        if not self._foreground:  # what we saw from behind were the settings of the shell's prompt
            self._terminal.lend(self._ours)
        self._fit()
        if self._running:  # else a Ctrl-Z would be lost: SIGCONT takes back a stop that it meets
            self._keys.listen()
        return True

    def _release(self) -> None:
        self._keys.rest()
        self._terminal.release()

    def _fit(self) -> None:
        if self._ours is not None:
            self._terminal.fit(self._ours)

    def _leave_or_hang_up(self) -> None:
        if self._terminal.is_gone():
            self._hang_up()
        else:
            self._release()

    def _hang_up(self) -> None:
        """Close our side: the command's terminal hangs up once the pump's is closed too."""
        self._release()
        if self._ours is not None:
            self._keys.stop()
            os.close(self._ours)
            self._ours = None

    def _close_theirs(self) -> None:
        if self._theirs is not None:
            os.close(self._theirs)
            self._theirs = None


def _renamed(env: Mapping[str, str], ours: str, theirs: str) -> dict[str, str]:
    """Return *env* with the new name of the terminal where the old one was (GPG_TTY, SSH_TTY)."""
    return {name: theirs if value == ours else value for name, value in env.items()}
