"""The command's streams where they are not all one terminal: our stdin, and a pipe for each output.

The command stays in our process group, so Ctrl-C, Ctrl-Z and the terminal's rules for background
jobs meet it as they would without us. It inherits our stdin untouched.
"""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memprove.ledger.capture import descriptors, launch
from memprove.ledger.capture.pump import PIPE_SIZE, Pumps
from memprove.ledger.capture.relay import Relay, came_to_the_command_too
from memprove.ledger.capture.streams import Sink

if TYPE_CHECKING:
    import subprocess


class Pipes:
    """A command with a pipe and its pump for stdout, and for stderr."""

    def __init__(self, stdout: Sink, stderr: Sink, relay: Relay) -> None:
        self._relay = relay
        self.pumps = Pumps(relay.wake)
        self._child: subprocess.Popen[bytes] | None = None
        self._ends: list[int] = []
        for target, sink in ((1, stdout), (2, stderr)):
            source, end = descriptors.pipe()
            descriptors.widen(source, PIPE_SIZE)
            self.pumps.add(source, target, sink)
            self._ends.append(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close_ends()
        self.pumps.close()

    def start(self, command: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        """Start *command* and copy what it writes. Raises what ``launch.start`` raises."""
        stdout, stderr = self._ends
        self._child = launch.start(
            command, cwd=cwd, env=env, stdin=None, stdout=stdout, stderr=stderr
        )
        self._close_ends()
        self.pumps.start()
        self._relay.listen()

    def poll(self) -> int | None:
        """Return the exit code of the command, or minus the signal; None while it runs."""
        return self._child.poll() if self._child else None

    def send(self, number: int) -> None:
        """Send signal *number* to the command."""
        if self._child:
            self._child.send_signal(number)

    def pass_on(self, number: int) -> None:
        """Do with signal *number*, which came to us, what it would have done without us."""
        if not came_to_the_command_too(number):
            self.send(number)

    def finish(self) -> None:
        """Take what is there and come to an end: the command has ended."""
        self.pumps.finish()

    def _close_ends(self) -> None:
        while self._ends:
            os.close(self._ends.pop())
