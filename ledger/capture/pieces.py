"""Cutting a stream into pieces that can be redacted one by one.

A redaction is a pure function of bytes, and it sees a secret only if it is given the whole of it.
So a stream is cut where a cut hides nothing: the bytes around it, redacted as a whole, read as
the two halves do. That covers what spans lines (a PEM block) as well as lines that never end, and
the cuts depend on the content alone, never on the chunks in which it came.

A secret longer than ``REACH`` may go unseen where it crosses a cut.
"""

from collections.abc import Callable, Iterator

BLOCK = 512 * 1024
"""Bytes that are gathered before a piece is cut off."""

REACH = 16 * 1024
"""Bytes that are looked at on each side of a cut."""

STEP = 4 * 1024
"""How far apart the places are at which a cut is tried."""


class Pieces:
    """Gather chunks, and give them back in pieces that *redact* may see one by one."""

    def __init__(
        self,
        redact: Callable[[bytes], bytes],
        *,
        block: int = BLOCK,
        reach: int = REACH,
        step: int = STEP,
    ) -> None:
        self._redact = redact
        self._block, self._reach, self._step = block, reach, step
        self._pending = bytearray()

    def feed(self, chunk: bytes | memoryview) -> Iterator[bytes]:
        """Take *chunk*; yield the pieces that are complete with it."""
        for start in range(0, len(chunk), self._block):  # one huge chunk is not held twice
            self._pending += chunk[start : start + self._block]
            while len(self._pending) >= self._block:
                block = bytes(self._pending[: self._block])
                cut = self._cut(block)
                del self._pending[:cut]
                yield block[:cut]

    def rest(self) -> bytes:
        """Return what is left at the end of the stream: the last piece."""
        left = bytes(self._pending)
        self._pending.clear()
        return left

    def _cut(self, block: bytes) -> int:
        places = list(self._places(block))
        return next((place for place in places if self._is_safe(block, place)), places[0])

    def _is_safe(self, block: bytes, place: int) -> bool:
        left, right = block[place - self._reach : place], block[place : place + self._reach]
        return self._redact(left + right) == self._redact(left) + self._redact(right)

    def _places(self, block: bytes) -> Iterator[int]:
        """Yield where *block* may be cut: at a line end where there is one, the latest first."""
        for latest in range(len(block) - self._reach, len(block) // 2, -self._step):
            line_end = block.rfind(b"\n", latest - self._step, latest)
            yield line_end + 1 if line_end >= 0 else latest
