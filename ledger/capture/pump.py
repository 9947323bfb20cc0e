"""Copying an output of a command to one of our own descriptors while a Sink looks on.

One thread a stream: reading, writing and hashing release the interpreter's lock, so the streams
run beside each other, and a reader who is slow on one blocks only that one, as without us. (One
loop for both would have to make our own descriptors non-blocking, and those are shared with other
processes.)

A source is the reading end of a pipe, or our side of a pseudo-terminal.

After the command has ended, its pipe may still be held by processes it left behind. What is in the
pipe then is always taken; after that a pump stays only while more keeps coming, and not for long.
"""

import errno
import os
import select
import threading
import time
from collections.abc import Callable
from typing import Protocol

from memprove.ledger.capture import descriptors

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
    """Copy *source* to *target* until its end; then close it and call *done*.

    *ended* is a pipe whose other end is closed after ``finish``. When *target* takes no more,
    *source* is closed: the command gets the SIGPIPE that it would have got without us. An observer
    that fails is left out from there on (``fault``); the copy goes on. What the target said when it
    took no more is kept (``refusal``).
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
        self.refusal: OSError | None = None
        self.source = source
        self._target = target
        self._observer = observer
        self._ended = ended
        self._done = done
        self._given_up = False
        self._quiet = threading.Event()
        self._owed = PIPE_SIZE + CHUNK
        self._last_call: float | None = None
        self._events = select.poll()
        self._events.register(source, select.POLLIN)
        self._events.register(ended, select.POLLIN)
        self._events.register(target, 0)  # tells when the reader has gone

    def finish(self) -> None:
        """Take what is in the pipe: the command has ended. Called by another thread."""
        self._last_call = time.monotonic() + GRACE_S

    def settle(self, seconds: float) -> None:
        """Wait until what was written is copied, at most *seconds*. Called by another thread."""
        until = time.monotonic() + seconds
        readable = select.poll()
        readable.register(self.source, select.POLLIN)
        while not self.over and (left := until - time.monotonic()) > 0:
            if not readable.poll(0) and self._quiet.wait(left):
                return

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
            except OSError as fault:
                if fault.errno == errno.EIO:  # a terminal's way to say that all have closed it
                    return 0
                raise

    def _wait(self) -> bool:
        """Wait for something to read; return whether there is."""
        while True:
            self._quiet.set()
            events = dict(self._events.poll(None if self._last_call is None else IDLE_MS))
            self._quiet.clear()  # before anything is read: what is not quiet holds what was read
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
            except OSError as refusal:
                self.refusal = refusal
                return False
        return True


class Pumps:
    """The pumps of one command, which come to their end together; *done* is called by each."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._ended, self._running = descriptors.pipe()
        self._pumps: list[Pump] = []
        self._open = {self._ended, self._running}

    def add(self, source: int, target: int, observer: Observer) -> Pump:
        """Return a new pump that copies *source*, which is ours to close from now on."""
        pump = Pump(source, target, observer, ended=self._ended, done=self._done)
        self._pumps.append(pump)
        self._open.add(source)
        return pump

    @property
    def descriptors(self) -> frozenset[int]:
        """Return what is open and no pump's own yet."""
        return frozenset(self._open)

    def start(self) -> None:
        """Copy."""
        for pump in self._pumps:
            self._open.discard(pump.source)  # which the pump closes
            pump.start()

    def finish(self) -> None:
        """Take what is there and come to an end: the command has ended."""
        for pump in self._pumps:
            pump.finish()
        self._close(self._running)

    def give_up(self) -> None:
        """Leave a pump that cannot write."""
        self._open.discard(self._ended)  # such a pump may look at it yet
        for pump in self._pumps:
            pump.give_up()

    def close(self) -> None:
        """Close what is still open."""
        self._close(*self._open)

    @property
    def fault(self) -> Exception | None:
        """Return what kept an observer from seeing everything."""
        return next((pump.fault for pump in self._pumps if pump.fault), None)

    @property
    def undelivered(self) -> str:
        """Return why output could not be passed on, other than to a reader who has gone."""
        refusals = [pump.refusal for pump in self._pumps if pump.refusal is not None]
        lost = (each for each in refusals if each.errno != errno.EPIPE)
        return next((os.strerror(each.errno or 0) for each in lost), "")

    @property
    def held(self) -> bool:
        """Return whether a source was still held when its pump stopped reading."""
        return any(pump.held for pump in self._pumps)

    @property
    def over(self) -> bool:
        """Return whether nothing is being copied any more."""
        return all(pump.over for pump in self._pumps)

    def _close(self, *ends: int) -> None:
        for end in ends:
            self._open.discard(end)
            os.close(end)
