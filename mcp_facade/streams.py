"""The three standard streams, claimed for the protocol before anybody else can write to them.

Descriptor 0 becomes empty, 1 and 2 lead nowhere: what a library prints, a warning, a traceback or a
child's output reaches neither the client nor its log. We keep copies of our own. Nothing here
blocks: a client that stops reading halts its answers, not the server's end.
"""

import fcntl
import os
import select
from typing import Final

_SOME: Final = 1 << 16
_STUCK_S: Final = 1.0
_HUNG_UP: Final = getattr(select, "POLLRDHUP", 0)


class ClientGone(Exception):
    """Nobody reads what we write."""


class Streams:
    """Our own copies of the standard streams. *quiet*: descriptor 2 too leads nowhere."""

    def __init__(self, *, quiet: bool = True) -> None:
        self._in, self._out, self._err = map(_copied, (0, 1, 2))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2) if quiet else (0, 1):
            os.dup2(nowhere, descriptor)
        if nowhere > 2:
            os.close(nowhere)

    async def read(self) -> bytes:
        """Return some bytes of what the client wrote; none if that was all."""
        if self._in is None:
            return b""
        if not _ready(self._in, select.POLLIN):
            import anyio  # late here and below: what it prints must find the streams claimed

            await anyio.wait_readable(self._in)
        try:
            return os.read(self._in, _SOME)
        except OSError:  # the terminal or the other end is gone
            return b""

    async def write(self, data: bytes) -> None:
        """Write all of *data*; raise ClientGone if that can never be."""
        rest = memoryview(data)
        while rest:
            if self._out is None:
                raise ClientGone
            if not _ready(self._out, select.POLLOUT):
                await self._wait()
                continue
            try:
                # As much as certainly goes in without blocking.
                rest = rest[os.write(self._out, rest[: select.PIPE_BUF]) :]
            except OSError:
                raise ClientGone from None

    def tell(self, line: str) -> None:
        """Write one line to the log of the client, unless that would block."""
        if self._err is None or not _ready(self._err, select.POLLOUT):
            return
        data = f"memprove: {line}".encode("utf-8", "replace")[: select.PIPE_BUF - 1]
        try:
            os.write(self._err, data.replace(b"\n", b" ") + b"\n")
        except OSError:
            self._err = None

    async def _wait(self) -> None:
        import anyio

        assert self._out is not None
        with anyio.move_on_after(_STUCK_S) as waited:
            await anyio.wait_writable(self._out)
        if waited.cancelled_caught and self._hung_up():
            raise ClientGone  # it neither reads nor writes any more

    def _hung_up(self) -> bool:
        if self._in is None:
            return True
        seen = _poll(self._in, _HUNG_UP)
        return bool(seen & (select.POLLHUP | select.POLLERR | _HUNG_UP))


def _copied(descriptor: int) -> int | None:
    """Return a copy that children do not inherit; None if there is no such stream."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        return None


def _ready(descriptor: int, event: int) -> bool:
    return bool(_poll(descriptor, event))


def _poll(descriptor: int, events: int) -> int:
    poll = select.poll()
    poll.register(descriptor, events)
    seen = poll.poll(0)
    return seen[0][1] if seen else 0
