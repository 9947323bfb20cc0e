"""Key epochs: which key speaks for which part of a log.

One key signs at a time. An event of kind ``key.rotated`` names the next key and is the last of its
epoch: the head over it is signed with the old key and kept, the old private key is erased, and the
next event begins the next epoch. So a head of n events holds under the key of the epoch that has
event n, and under no other: whoever steals today's key can sign nothing that ends before today.

A log that was restored or adopted goes on under a new origin: the event ``ledger.restored`` is the
first that the new origin's key signs, and nothing signed with the old one proves it. Who believes
it has pinned it. Epochs are counted on.

A walk begins at a pinned key, or where an earlier walk ended. It believes nothing of the store:
each rotation is proven to be the last leaf under a head that the key before it signed, and each of
these heads to continue the one before.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.events import KeyRotated, LedgerCreated, LedgerRestored
from memprove.ledger.domain.record import decode, decode_leaf
from memprove.ledger.log.append import fits, node_reader
from memprove.ledger.problems import LEDGER_DAMAGED, WRONG_EPOCH
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head, open_head
from memprove.ledger.tlog.note import Verifier, format_vkey, parse_vkey

CREATED: Final = "ledger.created"
ROTATED: Final = "key.rotated"
RESTORED: Final = "ledger.restored"


class EpochInvalid(Invalid):
    """A rotation that does not follow, or a head that no epoch's key may sign."""


class WrongEpoch(EpochInvalid):
    """A head that is signed with the key of another epoch than the one that has its last event."""


class Pin(msgspec.Struct, frozen=True):  # a dataclass would cost every command half a ms
    """A key that is believed, and for what: events from number *first* on.

    *until*: size and root of the log at which the origin came to its end; there is no more of it.
    """

    verifier: Verifier
    first: int = 1
    until: tuple[int, bytes] | None = None


class Epoch(msgspec.Struct, frozen=True):
    """The part of a log that begins with event number *first*, and the key that signs it."""

    number: int
    verifier: Verifier
    first: int


class Epochs:
    """The known epochs of a log, one after the other."""

    def __init__(self, epochs: Iterable[Epoch]) -> None:
        self._epochs = tuple(epochs)
        self._firsts = [epoch.first for epoch in self._epochs]

    def __iter__(self) -> Iterator[Epoch]:
        return iter(self._epochs)

    def __len__(self) -> int:
        return len(self._epochs)

    @property
    def newest(self) -> Epoch:
        """Return the epoch that is going on."""
        return self._epochs[-1]

    def holding(self, size: int) -> Epoch | None:
        """Return the epoch that has event number *size*, if it is known."""
        place = bisect_right(self._firsts, size)
        return self._epochs[place - 1] if place else None

    def of_size(self, size: int) -> Verifier:
        """Return the one key that may sign a head of *size* events. Raises EpochInvalid."""
        epoch = self.holding(size)
        if epoch is None:
            raise EpochInvalid(f"no pinned key speaks for a head of {size} events")
        return epoch.verifier

    def open(self, note: bytes, size: int, *later: Epoch | None) -> Head:
        """Return the head of *size* events in *note*, signed with the key of its epoch.

        Raises WrongEpoch where the key of another known epoch, or of one of *later*, signed it,
        else Invalid.
        """
        verifier = self.of_size(size)
        try:
            head = open_head(note, verifier)
        except Invalid:
            for other in filter(None, (*self._epochs, *later)):
                if other.verifier != verifier and _signed(note, other.verifier):
                    what = f"the head at {size} is signed with the key of epoch {other.number}"
                    raise WrongEpoch(what) from None
            raise
        if head.size != size:
            raise EpochInvalid(f"the head at {size} says size {head.size}")
        return head


def follow(epoch: Epoch, rotated: KeyRotated, head: Head) -> Epoch:
    """Return the epoch after *epoch*, which ends in *rotated*, the last event under *head*.

    That the key of *epoch* signed *head* is for the caller to check. Raises Invalid.
    """
    verifier = parse_vkey(rotated.key)
    if verifier.name != epoch.verifier.name:
        raise EpochInvalid(f"event {head.size} names a key of another log")
    if rotated.epoch != epoch.number + 1:
        raise EpochInvalid(f"event {head.size} begins epoch {rotated.epoch} after {epoch.number}")
    return Epoch(rotated.epoch, verifier, head.size + 1)


def first_epoch(reader: Reader, pin: Pin) -> Epoch:
    """Return the epoch that *pin* speaks of; a later origin counts on from the one before."""
    began = reader.event(pin.first) if pin.first > 1 else None
    restored = began_origin(began) if began is not None else None
    if restored is not None and restored.key == format_vkey(pin.verifier):
        return Epoch(restored.epoch, pin.verifier, pin.first)
    before = reader.event(pin.first - 1) if pin.first > 1 else None
    rotated = _rotated(before) if before is not None and before.kind == ROTATED else None
    if rotated is not None and rotated.key == format_vkey(pin.verifier):
        return Epoch(rotated.epoch, pin.verifier, pin.first)
    return Epoch(1, pin.verifier, pin.first)


def walk(reader: Reader, start: Epoch, *, upto: int | None = None) -> Epochs:
    """Return the epochs from *start* on, as far as they begin in the first *upto* events.

    Raises ``ledger_damaged`` or ``wrong_epoch`` at a rotation that does not hold.
    """
    epochs = [start]
    before: Head | None = None
    for event in reader.of_kind(ROTATED, start.first - 1):
        if upto is not None and event.seq > upto:
            break
        try:
            epoch, head = _next(reader, epochs[-1], event)
            if before is not None:
                check_continues(reader, before, head)
        except WrongEpoch as error:
            raise WRONG_EPOCH(error) from None
        except Invalid as error:
            raise LEDGER_DAMAGED(f"the rotation of keys at event {event.seq}: {error}") from None
        epochs.append(epoch)
        before = head
    return Epochs(epochs)


def walk_from(reader: Reader, pin: Pin) -> Epochs:
    """Return all epochs that follow from *pin*."""
    return walk(reader, first_epoch(reader, pin), upto=pin.until[0] if pin.until else None)


def check_continues(reader: Reader, old: Head, new: Head) -> list[bytes]:
    """Return the proof that *new* continues *old*, from the stored nodes. Raises ProofInvalid."""
    if old.size > new.size:
        raise merkle.ProofInvalid(f"{new.size} events do not continue {old.size}")
    proof = merkle.prove_consistency(old.size, new.size, node_reader(reader))
    merkle.check_consistency(old.size, new.size, proof, old.root, new.root)
    return proof


def _next(reader: Reader, epoch: Epoch, event: StoredEvent) -> tuple[Epoch, Head]:
    """Return the epoch that *event* begins, and the head of *epoch*'s key that covers it."""
    stored = reader.head(event.seq)
    if stored is None:
        raise EpochInvalid("no head covers it")
    head = Epochs([epoch]).open(stored.note, event.seq)
    digest = merkle.leaf_hash(event.leaf)
    proof = merkle.prove_inclusion(head.size - 1, head.size, node_reader(reader))
    merkle.check_inclusion(digest, head.size - 1, head.size, proof, head.root)
    rotated = _rotated(event)
    if rotated is None:
        raise EpochInvalid("it is not as it was written")
    return follow(epoch, rotated, head), head


def _rotated(event: StoredEvent) -> KeyRotated | None:
    """Return what *event* says, if its payload is what its leaf commits to."""
    said = _said(event, ROTATED)
    return said if isinstance(said, KeyRotated) else None


def began_log(event: StoredEvent) -> LedgerCreated | None:
    """Return what *event*, the first one, says, if its payload is what its leaf commits to."""
    said = _said(event, CREATED)
    return said if isinstance(said, LedgerCreated) else None


def began_origin(event: StoredEvent) -> LedgerRestored | None:
    """Return what *event* says of a new origin, if its payload is what its leaf commits to."""
    said = _said(event, RESTORED)
    return said if isinstance(said, LedgerRestored) else None


def origin_ends(reader: Reader) -> dict[str, int]:
    """Return with how many events each earlier origin of the log ended, in order."""
    restored = ((event.seq, began_origin(event)) for event in reader.of_kind(RESTORED))
    return {said.before: seq - 1 for seq, said in restored if said is not None}


def _said(event: StoredEvent, kind: str) -> object:
    try:
        leaf = decode_leaf(event.leaf)
        if (leaf.seq, leaf.kind) != (event.seq, kind):
            return None
        if not fits(leaf.payload, event.salt, event.payload):
            return None
        return decode(leaf, event.payload).event
    except NotCanonical:
        return None


def _signed(note: bytes, verifier: Verifier) -> bool:
    try:
        open_head(note, verifier)
    except Invalid:
        return False
    return True
