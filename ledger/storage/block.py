"""What all stores refuse alike: the life of a block, and what may be written in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memprove.ledger.problems import INTERNAL, TEXT_INVALID
from memprove.ledger.storage.interface import Interrupted, StoredEvent


class Block:
    """A block of one store: good until its end, until an interrupt, until a write fails."""

    def __init__(self) -> None:
        self._ended = False
        self._failed = False
        self._interrupted = False
        self._actions: list[Callable[[], None]] = []

    def check(self) -> None:
        """Raise unless the block may be used."""
        if self._interrupted:
            raise Interrupted
        if self._ended:
            raise INTERNAL("a block of the store was used after its end")

    def interrupt(self) -> None:
        """Make every later use raise ``Interrupted``."""
        self._interrupted = True

    def end(self) -> None:
        """Make every later use a Problem."""
        self._ended = True

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Note it if the write inside fails: half a write must not be committed."""
        self.check()
        try:
            yield
        except BaseException:
            self._failed = True
            raise

    def check_whole(self) -> None:
        """Raise unless all writes of the block succeeded."""
        if self._failed:
            raise INTERNAL("a write failed and its block went on")

    def after_commit(self, action: Callable[[], None]) -> None:
        """Call *action* after the commit."""
        self.check()
        self._actions.append(action)

    def committed(self) -> None:
        """Do what was to be done after the commit."""
        for action in self._actions:
            action()


def check_next(event: StoredEvent, *, size: int, stream_size: int) -> None:
    """Raise unless *event* is the next one of the log and of its stream."""
    if event.seq != size + 1:
        raise INTERNAL(f"event {event.seq} after event {size}")
    if event.stream_seq != stream_size + 1:
        raise INTERNAL(f"event {event.stream_seq} of {event.stream} after event {stream_size}")


def check_text(*texts: str) -> None:
    """Raise unless *texts* can name something: not empty, and Unicode."""
    for text in texts:
        if not text:
            raise INTERNAL("an empty name in the store")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TEXT_INVALID(ascii(text)) from error
