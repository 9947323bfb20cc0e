"""What is typed on our terminal, on its way to the terminal of the command."""

import os
import select
from collections.abc import Callable
from typing import Final

from memprove.ledger.capture.relay import Relay
from memprove.ledger.capture.terminal import TERMINAL

TYPED: Final = 4096


class Keys:
    """Copy what is typed to *target*, which takes it without blocking, while *relay* waits.

    *stuck* is called when nothing can be read: the terminal has hung up, or is not ours just now.
    """

    def __init__(self, target: int, relay: Relay, stuck: Callable[[], None]) -> None:
        self._target = target
        self._relay = relay
        self._stuck = stuck
        self._typed = b""
        self._listening = False

    def listen(self) -> None:
        """Read what is typed from now on."""
        self._listening = True
        if not self._typed:
            self._relay.watch(TERMINAL, select.POLLIN, self._read)

    def rest(self) -> None:
        """Leave what is typed to others."""
        self._listening = False
        self._relay.unwatch(TERMINAL)

    def stop(self) -> None:
        """Leave it to others for ever, and what nobody took yet."""
        self.rest()
        self._relay.unwatch(self._target)

    def _read(self) -> None:
        try:
            self._typed = os.read(TERMINAL, TYPED)
        except BlockingIOError:  # someone who shares the terminal was quicker
            return
        except OSError:
            self._typed = b""
        if self._typed:
            self._write()
        else:
            self._stuck()

    def _write(self) -> None:
        """Write what was typed; a command that reads nothing must not make us wait."""
        try:
            self._typed = self._typed[os.write(self._target, self._typed) :]
        except BlockingIOError:
            pass
        except OSError:  # nobody can read it any more
            self._typed = b""
        if self._typed:
            self._relay.unwatch(TERMINAL)
            self._relay.watch(self._target, select.POLLOUT, self._write)
        else:
            self._relay.unwatch(self._target)
            if self._listening:
                self.listen()
