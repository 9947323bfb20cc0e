"""The writers' lock: one advisory lock on the data directory itself.

A file in the directory could be deleted under a holder, and the next writer would lock another
one; the directory stays. The lock belongs to an open file description (flock(2)): each taking
opens a new one, so threads exclude each other like processes, and it ends with its process.

Who waits sleeps in the kernel, in a thread of its own so that the waiting can end in time.
Polling would lose against whoever comes at the right moment. On Windows, where a directory cannot
be locked and a locked file cannot be deleted, it is one byte of a file, and polled.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memprove.ledger.problems import DATA_DIR_UNREADABLE, LEDGER_BUSY, LEDGER_UNWRITABLE

LONGEST_WAIT = 5.0
"""Seconds after which a writer gives up."""


@contextmanager
def writers_lock(directory: Path, wait: float = LONGEST_WAIT) -> Iterator[None]:
    """Hold the lock on *directory*, after waiting at most *wait* seconds.

    Raises Problem ``ledger_busy`` after the wait, ``data_dir_unreadable`` without the directory and
    ``ledger_unwritable`` where the file system has no locks. The lock is not reentrant.
    """
    descriptor = _open(directory)
    if not _try(descriptor):
        _wait_for(descriptor, wait)
    try:
        yield
    finally:
        _close(descriptor)


_open_descriptors: set[int] = set()


def _close(descriptor: int) -> None:
    """Give the lock back, unless this is a forked child, which holds none."""
    if descriptor in _open_descriptors:
        _open_descriptors.remove(descriptor)
        os.close(descriptor)


def _close_in_child() -> None:
    """Let go of the parent's locks: a forked child shares the open file descriptions."""
    for descriptor in list(_open_descriptors):
        _close(descriptor)


if sys.platform == "win32":
    import msvcrt

    _POLL = 0.01

    def _open(directory: Path) -> int:
        try:
            descriptor = os.open(directory / "writers.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DATA_DIR_UNREADABLE(f"{directory}: {error.strerror}") from error
        _open_descriptors.add(descriptor)
        return descriptor

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait_for(descriptor: int, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not _try(descriptor):
            if time.monotonic() > end:
                _close(descriptor)
                raise LEDGER_BUSY()
            time.sleep(_POLL)

else:
    import fcntl

    os.register_at_fork(after_in_child=_close_in_child)

    def _open(directory: Path) -> int:
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise DATA_DIR_UNREADABLE(f"{directory}: {error.strerror}") from error
        _open_descriptors.add(descriptor)
        return descriptor

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            _close(descriptor)
            raise LEDGER_UNWRITABLE(f"no lock on the data directory: {error.strerror}") from error
        return True

    def _wait_for(descriptor: int, seconds: float) -> None:
        wait = _Wait(descriptor)
        try:
            wait.begin()
            wait.done.wait(seconds)
        except BaseException:
            if not wait.give_up():
                _close(descriptor)
            raise
        if wait.give_up():
            raise LEDGER_BUSY()
        if wait.error is not None:
            _close(descriptor)
            raise LEDGER_UNWRITABLE(f"no lock on the data directory: {wait.error.strerror}")

    class _Wait:
        """A thread that sleeps in flock(2). It hands the lock over, or gives it back if unwanted.

        The waiter owns the descriptor once ``done`` is set, the thread once ``give_up`` said so.
        """

        def __init__(self, descriptor: int) -> None:
            self.done = threading.Event()
            self.error: OSError | None = None
            self._descriptor = descriptor
            self._unwanted = False
            self._decision = threading.Lock()

        def begin(self) -> None:
            threading.Thread(target=self._run, name="writers-lock", daemon=True).start()

        def give_up(self) -> bool:
            """Return whether the lock has not been got; then the thread will give it back."""
            with self._decision:
                self._unwanted = not self.done.is_set()
                return self._unwanted

        def _run(self) -> None:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            except OSError as error:
                self.error = error
            with self._decision:
                self.done.set()
                unwanted = self._unwanted
            if unwanted:
                _close(self._descriptor)
