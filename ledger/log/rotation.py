"""The live key within one write, and its rotation.

All of it happens under the writers' lock, in this order, so that a crash between any two steps
leaves exactly one live key:

1. the epoch is read from the ledger and its key opened; keys of earlier epochs are erased;
2. rotating: the next key is written and synced, with its folder;
3. the event that names it is appended;
4. the head over that event is signed with the old key, and kept;
5. the commit: from here on the next key is the live one;
6. the old key is erased.

A crash before 5 leaves a key that nothing names: it is overwritten. One after 5 leaves an old key:
the next writer erases it in step 1.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from memprove.ledger.domain.events import KeyRotated, SessionEnded
from memprove.ledger.domain.record import Record
from memprove.ledger.log.append import Appender
from memprove.ledger.log.epochs import Epoch
from memprove.ledger.log.keys import Keys
from memprove.ledger.problems import KEY_UNSAFE, Problem
from memprove.ledger.storage.interface import StoredHead, Writer
from memprove.ledger.tlog.note import Signer, format_vkey

MOST_EVENTS: Final = 4_096
"""Events after which an epoch ends by itself."""


class LiveKey:
    """The key of *epoch*, opened for one write. Raises ``key_missing`` or ``key_unsafe``."""

    def __init__(self, keys: Keys, epoch: Epoch) -> None:
        self.epoch = epoch
        self._keys = keys
        self._signer = keys.signer(epoch.number, epoch.verifier.name)
        if self._signer.verifier != epoch.verifier:
            raise KEY_UNSAFE(f"it is not the key of epoch {epoch.number} of this ledger")
        keys.erase_below(epoch.number)  # only now: the live one is there

    def rotate(self, appender: Appender, random: Callable[[int], bytes]) -> Record:
        """Write the next key and append the event that names it, the last one of its commit."""
        return appender.append(self._next(random), stream="ledger")

    def rotate_if_due(self, appender: Appender, random: Callable[[int], bytes]) -> list[str]:
        """End the epoch if a Session ends or it is long; the work does not wait for that.

        Return what is to be said if the next key could not be written.
        """
        if not self._is_due(appender):
            return []
        try:
            rotated = self._next(random)
        except Problem as problem:
            return [f"the signing key was not rotated: {problem}"]
        appender.append(rotated, stream="ledger")
        return []

    def seal(self, writer: Writer, appender: Appender, *, keep: bool = False) -> StoredHead:
        """Sign the head over what was appended; erase the key after the commit that replaces it."""
        head = appender.seal(self._signer, keep=keep)
        if isinstance(appender.records[-1].event, KeyRotated):
            writer.after_commit(self._erase)
        return head

    def _next(self, random: Callable[[int], bytes]) -> KeyRotated:
        number, seed = self.epoch.number + 1, random(32)
        verifier = Signer(self.epoch.verifier.name, seed).verifier
        self._keys.put_next(number, seed)
        return KeyRotated(epoch=number, key=format_vkey(verifier))

    def _is_due(self, appender: Appender) -> bool:
        events = [record.event for record in appender.records]
        if any(isinstance(event, KeyRotated) for event in events):
            return False
        ended = any(isinstance(event, SessionEnded) for event in events)
        return ended or appender.size - self.epoch.first + 1 >= MOST_EVENTS

    def _erase(self) -> None:
        with suppress(Problem):  # it is committed; the next writer tries again, and says so
            self._keys.erase_below(self.epoch.number + 1)
