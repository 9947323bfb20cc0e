"""The heads of a bundle: from a pinned key, over each key that took over, to the newest one.

Events and blobs are for ``unbundling``. What is wrong with any of them is ``bundle_invalid``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memprove.ledger.domain.canonical import MAX_LEAF, MAX_PAYLOAD, NotCanonical
from memprove.ledger.domain.events import KeyRotated, LedgerRestored
from memprove.ledger.domain.record import LEAF_VERSION, Leaf, Record, decode_leaf
from memprove.ledger.domain.record import decode as decode_record
from memprove.ledger.log import bundle as form
from memprove.ledger.log.append import fits
from memprove.ledger.log.bundle import Beginning, Bundle, EventText, Handover
from memprove.ledger.log.epochs import RESTORED, ROTATED, Epoch, Epochs, Pin, follow
from memprove.ledger.problems import BUNDLE_INVALID
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.tlog.note import format_vkey

_LEDGER: Final = "ledger"


@dataclass(frozen=True, slots=True)
class Heads:
    """The newest head, those with which epochs ended, the epochs, and earlier origins."""

    newest: Head
    ends: tuple[Head, ...]
    epochs: Epochs
    earlier: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Begun:
    """An origin that began with event number *first*."""

    first: int
    event: LedgerRestored
    given: Beginning


def check_heads(bundle: Bundle, pins: Mapping[str, Pin]) -> Heads:
    """Return the heads, once each key handed over to the next and all are of one history."""
    begun = [_begun(given) for given in bundle.origins]
    pin = _pin(bundle.head, pins, begun)
    start, handovers = _start(bundle, pin, begun)
    epochs, ends = [start], []
    for given in handovers:
        what = f"the end of epoch {epochs[-1].number}"
        head = open_note(given.head, Epochs(epochs[-1:]), what)
        epochs.append(_next(given, epochs[-1], head, what))
        ends.append(head)
    newest = open_note(bundle.head, Epochs(epochs), "the head")
    _check_until(newest, pin)
    for (older, newer), given in zip(pairwise([*ends, newest]), handovers, strict=True):
        check_continues(older, newer, given.consistency, f"the head of size {newer.size}")
    _check_origins(begun, newest, pin, pins)
    return Heads(newest, tuple(ends), Epochs(epochs), tuple(one.event.before for one in begun))


def _begun(given: Beginning) -> _Begun:
    what = "the beginning of an origin"
    leaf = open_leaf(given.event.leaf, what)
    event = open_payload(given.event, leaf).event
    if (leaf.kind, leaf.stream) != (RESTORED, _LEDGER) or not isinstance(event, LedgerRestored):
        raise BUNDLE_INVALID(f"{what} is none")
    return _Begun(leaf.seq, event, given)


def _pin(note: str, pins: Mapping[str, Pin], begun: Sequence[_Begun]) -> Pin:
    """Return what is pinned for the origin of *note*, whose own word is believed for this only."""
    origin = said_head(note, "the head").origin
    if origin in pins:
        return pins[origin]
    known = [one.event.before for one in begun if one.event.before in pins]
    after = f"; it says that it goes on after {known[-1]}: ask its owner" if known else ""
    raise BUNDLE_INVALID(f"no key is trusted for {origin}{after}")


def _start(bundle: Bundle, pin: Pin, begun: Sequence[_Begun]) -> tuple[Epoch, tuple[Handover, ...]]:
    """Return the epoch that *pin* speaks of, and the handovers from there on.

    What was before is not looked at: the pin speaks for it. Only the epoch's number is taken over.
    """
    vkey, later = format_vkey(pin.verifier), []
    numbers = [one.event.epoch for one in begun if (one.first, one.event.key) == (pin.first, vkey)]
    for given in bundle.epochs:
        leaf = open_leaf(given.event.leaf, "a rotation of keys")
        if leaf.seq >= pin.first:
            later.append(given)
        elif leaf.seq == pin.first - 1:
            event = open_payload(given.event, leaf).event
            if isinstance(event, KeyRotated) and event.key == vkey:
                numbers.append(event.epoch)
    if not numbers and 1 < pin.first <= said_head(bundle.head, "the head").size:
        raise BUNDLE_INVALID(f"it does not show that the trusted key begins with event {pin.first}")
    return Epoch(numbers[-1] if numbers else 1, pin.verifier, pin.first), tuple(later)


def _next(given: Handover, epoch: Epoch, head: Head, what: str) -> Epoch:
    """Return the epoch that *given* begins, once its event is the last one under *head*."""
    leaf = open_leaf(given.event.leaf, what)
    if (leaf.seq, leaf.kind, leaf.stream) != (head.size, ROTATED, _LEDGER):
        raise BUNDLE_INVALID(f"{what} is no rotation of keys")
    check_included(given.event.leaf, leaf.seq, head, given.inclusion, what)
    event = open_payload(given.event, leaf).event
    if not isinstance(event, KeyRotated):
        raise BUNDLE_INVALID(f"{what} is no rotation of keys")
    try:
        return follow(epoch, event, head)
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def _check_until(head: Head, pin: Pin) -> None:
    """Raise unless *head* is the last one of an origin that came to its end.

    An older one may be of what its key signed when it was no longer the owner's.
    """
    if pin.until is None or pin.until == (head.size, head.root):
        return
    ended = f"its log came to its end at {pin.until[0]} events, as the trust file says"
    if head.size < pin.until[0]:
        ended += f", and it cannot show that its {head.size} are the first of them: export it anew"
    raise BUNDLE_INVALID(ended)


def _check_origins(
    begun: Sequence[_Begun], newest: Head, pin: Pin, pins: Mapping[str, Pin]
) -> None:
    """Raise unless origins follow each other up to the newest, each where its pins have it."""
    for one in begun:
        what = f"the beginning of {one.event.origin}"
        check_included(one.given.event.leaf, one.first, newest, one.given.inclusion, what)
        _check_ended(one, newest, pins.get(one.event.before))
    for before, after in pairwise(begun):
        if after.event.before != before.event.origin or after.first <= before.first:
            raise BUNDLE_INVALID(f"{after.event.origin} does not follow {before.event.origin}")
    if begun and (begun[-1].event.origin != newest.origin or begun[-1].first > pin.first):
        raise BUNDLE_INVALID(
            f"the trust file has {newest.origin} from event {pin.first} on,"
            f" {begun[-1].event.origin} begins with event {begun[-1].first}"
        )
    if begun and begun[-1].first == pin.first and begun[-1].event.key != format_vkey(pin.verifier):
        raise BUNDLE_INVALID(f"{newest.origin} begins with another key")


def _check_ended(begun: _Begun, newest: Head, pin: Pin | None) -> None:
    """Raise where *newest* does not continue the end that *pin* has of the origin before."""
    if pin is None or pin.until is None:
        return
    size, root = pin.until
    if size != begun.first - 1:
        raise BUNDLE_INVALID(
            f"{begun.event.before} ends at {begun.first - 1} events,"
            f" the trust file has it end at {size}"
        )
    older = Head(begun.event.before, size, root)
    check_continues(older, newest, begun.given.consistency, "the head")


def said_head(note: str, what: str) -> Head:
    """Return the head in *note* as it is said: whether a key signed it is not looked at."""
    try:
        return parse_head(note.partition("\n\n")[0] + "\n")
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def open_note(note: str, epochs: Epochs, what: str) -> Head:
    """Return the head in *note*, signed with the key of the one epoch that may."""
    try:
        return epochs.open(note.encode(), said_head(note, what).size)
    except (Invalid, UnicodeEncodeError) as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def check_continues(older: Head, newer: Head, proof: form.Proof, what: str) -> None:
    """Raise unless *proof* leads from *older* to *newer*."""
    hashes = [bytes.fromhex(digest) for digest in proof]
    try:
        merkle.check_consistency(older.size, newer.size, hashes, older.root, newer.root)
    except Invalid as error:
        raise BUNDLE_INVALID(
            f"{what} does not continue the head of size {older.size}: {error}"
        ) from None


def check_included(leaf: str, seq: int, head: Head, proof: form.Proof, what: str) -> None:
    """Raise unless *leaf* is number *seq* of the tree that *head* signs."""
    digest = merkle.leaf_hash(leaf.encode())
    hashes = [bytes.fromhex(one) for one in proof]
    try:
        merkle.check_inclusion(digest, seq - 1, head.size, hashes, head.root)
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what} is not in the signed tree: {error}") from None


def open_leaf(text: str, what: str) -> Leaf:
    """Return the leaf in *text*."""
    data = text.encode()
    try:
        if len(data) > MAX_LEAF:
            raise NotCanonical("too long")
        leaf = decode_leaf(data)
    except NotCanonical as error:
        raise BUNDLE_INVALID(f"{what} does not decode: {error}") from None
    if leaf.v != LEAF_VERSION:
        raise BUNDLE_INVALID(f"{what} is of version {leaf.v}")
    return leaf


def open_payload(event: EventText, leaf: Leaf) -> Record:
    """Return the record of *event*, once its payload is what its *leaf* commits to."""
    payload = None if event.payload is None else event.payload.encode()
    salt = None if event.salt is None else bytes.fromhex(event.salt)
    if payload is None or len(payload) > MAX_PAYLOAD:
        raise BUNDLE_INVALID(f"the payload of event {leaf.seq} is missing, or too large")
    if not fits(leaf.payload, salt, payload):
        raise BUNDLE_INVALID(f"the payload of event {leaf.seq} is not what was committed to")
    try:
        return decode_record(leaf, payload)
    except NotCanonical as error:
        raise BUNDLE_INVALID(f"the payload of event {leaf.seq} does not decode: {error}") from None
