"""Copying one pipe of a command to one of our own descriptors while a Sink looks on.

One thread a stream: reading, writing and hashing release the interpreter's lock, so the streams
run beside each other, and a reader who is slow on one blocks only that one, as without us. (One
loop for both would have to make our own descriptors non-blocking, and those are shared with other
processes.)

After the command has ended, its pipe may still be held by processes it left behind. What is in the
pipe then is always taken; after that a pump stays only while more keeps coming, and not for long.
"""

import os
import select
import threading
import time
from collections.abc import Callable
from typing import Protocol

CHUNK = 256 * 1024
PIPE_SIZE = 1024 * 1024
IDLE_MS = 250
"""How long a pump waits for more when the command has ended and the pipe is still held."""
GRACE_S = 2.0
"""How long it goes on then even though more keeps coming."""


class Observer(Protocol):
    """What sees the bytes go by; it may keep nothing of the view it is given."""

    def feed(self, chunk: memoryview, /) -> None:
        """Look at the next bytes."""


class Pump(threading.Thread):
    """Copy *source*, a pipe, to *target* until its end; then close it and call *done*.

    *ended* is a pipe whose other end is closed after ``finish``. When *target* takes no more,
    *source* is closed: the command gets the SIGPIPE that it would have got without us. An observer
    that fails is left out from there on (``fault``); the copy goes on.
    """

    def __init__(
        self,
        source: int,
        target: int,
        observer: Observer,
        *,
        ended: int,
        done: Callable[[], None],
    ) -> None:
        super().__init__(daemon=True)  # blocked by a reader who never reads, it must not hold us
        self.over = False
        self.held = False
        self.fault: Exception | None = None
        self.source = source
        self._target = target
        self._observer = observer
        self._ended = ended
        self._done = done
        self._given_up = False
        self._owed = PIPE_SIZE + CHUNK
        self._last_call: float | None = None
        self._events = select.poll()
        self._events.register(source, select.POLLIN)
        self._events.register(ended, select.POLLIN)
        self._events.register(target, 0)  # tells when the reader has gone

    def finish(self) -> None:
        """Take what is in the pipe: the command has ended. Called by another thread."""
        self._last_call = time.monotonic() + GRACE_S

    def give_up(self) -> None:
        """Show nothing more to the observer, even if the reader wakes up. By another thread."""
        self._given_up = True

    def run(self) -> None:
        """Copy to the end."""
        try:
            self._copy()
        finally:
            os.close(self.source)
            self.over = True
            self._done()

    def _copy(self) -> None:
        os.set_blocking(self.source, False)
        buffer = memoryview(bytearray(CHUNK))
        while count := self._read(buffer):
            self._observe(buffer[:count])
            if not self._write(buffer[:count]) or self._given_up or self._is_overdue(count):
                return

    def _read(self, buffer: memoryview) -> int:
        """Return how many bytes were read; 0 at the end, or when no more are waited for."""
        while True:
            finishing = self._last_call is not None
            try:
                return os.readv(self.source, [buffer])
            except BlockingIOError:
                if finishing:
                    self._owed = 0
                if not self._wait():
                    return 0

    def _wait(self) -> bool:
        """Wait for something to read; return whether there is."""
        while True:
            events = dict(self._events.poll(None if self._last_call is None else IDLE_MS))
            if self.source in events:
                return True
            if not events:
                self.held = True
                return False
            if self._ended in events:
                self._events.unregister(self._ended)
            elif events[self._target] & (select.POLLERR | select.POLLHUP):
                return False
            else:
                self._events.unregister(self._target)

    def _is_overdue(self, count: int) -> bool:
        """Return whether to stop in the middle of a flow that the command left behind."""
        if self._last_call is None:
            return False
        self._owed -= count  # at most this much was in the pipe when the command ended
        self.held = self._owed < 0 and time.monotonic() > self._last_call
        return self.held

    def _observe(self, chunk: memoryview) -> None:
        if self.fault is None and not self._given_up:
            try:
                self._observer.feed(chunk)
            except Exception as fault:
                self.fault = fault

    def _write(self, chunk: memoryview) -> bool:
        """Write all of *chunk*; return False if the target takes no more."""
        while chunk:
            try:
                chunk = chunk[os.write(self._target, chunk) :]
            except BlockingIOError:  # someone who shares the descriptor made it non-blocking
                writable = select.poll()
                writable.register(self._target, select.POLLOUT)
                writable.poll()
            except OSError:
                return False
        return True
