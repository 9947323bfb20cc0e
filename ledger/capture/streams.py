"""One output stream of a command as it is recorded: digest, length, and what is kept of it.

A Sink is fed the bytes as they come, at the speed of SHA-256, and needs the same memory for any
number of them. Secrets are cut when the stream has ended, out of what is kept of it. A stream of up
to 8 MiB is kept whole, and everything recorded is of its redacted form. Of a longer one the first
and last 4 MiB are kept, each redacted together with 64 KiB of what follows or precedes it, so that
a secret at the edge is seen whole.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass

KEPT_HEAD = 4 * 1024 * 1024
KEPT_TAIL = 4 * 1024 * 1024
EDGE = 64 * 1024
ENDING = 1024 * 1024
TAIL_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """What is recorded of one stream.

    ``kept`` is zlib-compressed. With ``cut`` 0 it is the whole stream; else that many bytes are
    left out of its middle. ``sha256`` is of the whole stream, in its redacted form where
    ``redacted``; only where ``redacted`` and ``cut`` meet, it is of the kept bytes alone, since a
    digest of the rest would be one of the secret too.
    """

    length: int
    sha256: str
    redacted: bool
    tail: str
    kept: bytes
    cut: int


class Sink:
    """Observe one stream. One thread feeds it; *redact* is pure and None leaves all as it is."""

    def __init__(self, redact: Callable[[bytes], bytes] | None = None) -> None:
        self._redact = redact or _unchanged
        self._digest = hashlib.sha256()
        self._length = 0
        self._head = bytearray()
        self._tail = Last(KEPT_TAIL + EDGE)

    def feed(self, chunk: bytes | memoryview) -> None:
        """Take the next bytes of the stream; nothing of *chunk* is referred to afterwards."""
        self._digest.update(chunk)
        self._length += len(chunk)
        room = KEPT_HEAD + EDGE - len(self._head)
        self._head += chunk[:room]
        self._tail.add(chunk[room:])

    def record(self) -> StreamRecord:
        """Return the record of the stream, which has ended."""
        last = self._tail.joined()
        if self._length == len(self._head) + len(last):
            return self._record_whole(b"".join((self._head, last)))
        first = bytes(self._head)
        head, tail = self._redact(first), self._redact(last)
        kept = b"".join((memoryview(head)[:KEPT_HEAD], memoryview(tail)[-KEPT_TAIL:]))
        redacted = (head, tail) != (first, last)
        del first, last, head, tail  # some megabytes, before compressing takes as many
        digest = hashlib.sha256(kept) if redacted else self._digest
        return _record(self._length, digest.hexdigest(), redacted, kept)

    def ending(self) -> bytes:
        """Return the last 1 MiB of the stream, which has ended, for reports to be read from."""
        last = self._tail.joined()[-ENDING:]
        short = ENDING - len(last)
        return bytes(self._head[-short:]) + last if short else last

    def _record_whole(self, output: bytes) -> StreamRecord:
        stream = self._redact(output)
        digest = hashlib.sha256(stream).hexdigest()
        fits = len(stream) <= KEPT_HEAD + KEPT_TAIL
        kept = stream if fits else stream[:KEPT_HEAD] + stream[-KEPT_TAIL:]
        return _record(len(stream), digest, stream != output, kept)


class Last:
    """The last *size* bytes of what was added, in a ring: no byte is moved a second time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._ring = bytearray()
        self._oldest = 0

    def add(self, chunk: bytes | memoryview) -> None:
        """Add *chunk* after what was added before."""
        newest = chunk[-self._size :]
        room = self._size - len(self._ring)
        self._ring += newest[:room]
        turn = room + self._size - self._oldest  # what goes on at the beginning of the ring again
        self._overwrite(newest[room:turn])
        self._overwrite(newest[turn:])

    def joined(self) -> bytes:
        """Return the bytes that are left, the oldest first."""
        with memoryview(self._ring) as ring:
            return b"".join((ring[self._oldest :], ring[: self._oldest]))

    def _overwrite(self, part: bytes | memoryview) -> None:
        self._ring[self._oldest : self._oldest + len(part)] = part
        self._oldest = (self._oldest + len(part)) % self._size


def _unchanged(output: bytes) -> bytes:
    return output


def _record(length: int, digest: str, redacted: bool, kept: bytes) -> StreamRecord:
    return StreamRecord(
        length=length,
        sha256=digest,
        redacted=redacted,
        tail=_text(kept),
        kept=zlib.compress(kept),
        cut=length - len(kept),
    )


def _text(kept: bytes) -> str:
    """Return the last characters of *kept*; the first of them may begin within a character."""
    window = kept[-4 * TAIL_CHARACTERS :]
    if len(window) < len(kept):
        window = window.lstrip(bytes(range(0x80, 0xC0)))
    return window.decode("utf-8", "backslashreplace")[-TAIL_CHARACTERS:]
