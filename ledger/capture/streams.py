"""One output stream of a command as it is recorded: digest, length, and what is kept of it.

A Sink is fed the bytes as they come and needs the same memory for any number of them. What it
records is the *redacted* stream: length, digest, kept bytes and tail are all of that one, and
``redacted`` says whether it differs from what the command wrote.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from memprove.ledger.capture.pieces import Pieces

KEPT_HEAD = 4 * 1024 * 1024
KEPT_TAIL = 4 * 1024 * 1024
ENDING = 64 * 1024
TAIL_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """What is recorded of one stream.

    ``kept`` is zlib-compressed: the first 4 MiB and the last 4 MiB of the stream. Between them,
    ``cut`` bytes are left out; with ``cut`` 0 it is the whole stream.
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
        self._redact = redact
        self._pieces = Pieces(redact) if redact else None
        self._digest = hashlib.sha256()
        self._length = 0
        self._redacted = False
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, chunk: bytes | memoryview) -> None:
        """Take the next bytes of the stream; nothing of *chunk* is referred to afterwards."""
        if self._pieces is None:
            self._store(chunk)
            return
        for piece in self._pieces.feed(chunk):
            self._store(self._redacted_form(piece))

    def record(self) -> StreamRecord:
        """Return the record of the stream, which has ended."""
        self._flush()
        last = self._tail[-KEPT_TAIL:]
        return StreamRecord(
            length=self._length,
            sha256=self._digest.hexdigest(),
            redacted=self._redacted,
            tail=_text(self.ending()),
            kept=_compressed(self._head, last),
            cut=self._length - len(self._head) - len(last),
        )

    def ending(self) -> bytes:
        """Return the last 64 KiB of the stream, which has ended, for reports to be read from."""
        self._flush()
        short = ENDING - len(self._tail)
        return bytes(self._head[-short:] + self._tail if short > 0 else self._tail[-ENDING:])

    def _flush(self) -> None:
        if self._pieces is not None:
            self._store(self._redacted_form(self._pieces.rest()))

    def _redacted_form(self, piece: bytes) -> bytes:
        assert self._redact is not None
        redacted = self._redact(piece)
        self._redacted = self._redacted or redacted != piece
        return redacted

    def _store(self, chunk: bytes | memoryview) -> None:
        self._digest.update(chunk)
        self._length += len(chunk)
        room = KEPT_HEAD - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * KEPT_TAIL:
            del self._tail[:-KEPT_TAIL]


def _compressed(head: bytearray, tail: bytearray) -> bytes:
    pressing = zlib.compressobj()
    return pressing.compress(head) + pressing.compress(tail) + pressing.flush()


def _text(ending: bytes) -> str:
    """Return the last characters of *ending*, which may begin within a character."""
    window = ending[-4 * TAIL_CHARACTERS :]
    if len(window) < len(ending):
        window = window.lstrip(bytes(range(0x80, 0xC0)))
    return window.decode("utf-8", "backslashreplace")[-TAIL_CHARACTERS:]
