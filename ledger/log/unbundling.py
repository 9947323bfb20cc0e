"""Opening a bundle that is to be believed: with keys pinned elsewhere, and nothing else.

What is checked, in this order; the first thing that is wrong ends it (``bundle_invalid``):

1. the bundle decodes (``bundle``), and a key is pinned for the origin that its head names;
2. from the pinned key on, each key signed the head whose last leaf names the next one, and each of
   these heads continues the one before: a thief of today's key cannot rewrite yesterday;
3. the newest head is signed by the last key, and continues them all;
4. the tip is the last leaf of its tree;
5. the events are one Task's stream: numbered from 1 without a gap, each with the hash of the one
   before, so that the last one, which is proven to be in the tree, binds them all;
6. each payload is what its leaf commits to;
7. each blob is the one that an event names, and none that a judge needs is missing;
8. the head that is required, if one is, is continued by the bundle's.
"""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Final

from memprove.ledger.domain.canonical import MAX_LEAF, MAX_PAYLOAD, NotCanonical
from memprove.ledger.domain.capsule import Capsule, fold
from memprove.ledger.domain.events import KeyRotated, TaskCreated
from memprove.ledger.domain.evidence import judging_blobs
from memprove.ledger.domain.record import LEAF_VERSION, Leaf, Record, decode_leaf
from memprove.ledger.domain.record import decode as decode_record
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.log import bundle as form
from memprove.ledger.log.append import fits
from memprove.ledger.log.bundle import Bundle, EventText, Handover
from memprove.ledger.log.epochs import ROTATED, Epoch, Epochs, Pin, follow
from memprove.ledger.problems import BUNDLE_INVALID
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.tlog.note import format_vkey

_TASK: Final = "task/"


@dataclass(frozen=True, slots=True)
class Opened:
    """A Task as its bundle proves it. *at*: when the head was signed, by its writer's clock.

    *left_out* are the outputs of commands that events name and the bundle does not hold.
    """

    capsule: Capsule
    records: tuple[Record, ...]
    head: Head
    at: int
    epoch: int
    required: int | None
    left_out: tuple[str, ...]
    blobs: Mapping[str, bytes] = field(repr=False)

    def blob(self, digest: str) -> bytes | None:
        """Return the blob whose SHA-256 is *digest*, as it was stored."""
        return self.blobs.get(digest)


def open_bundle(data: bytes, pins: Mapping[str, Pin], *, required: bytes | None = None) -> Opened:
    """Return what the bundle in *data* proves, under what is pinned in *pins*, by origin.

    *required*: a signed head of the same log; a bundle with an older head is refused.
    """
    bundle = form.decode(data)
    heads = _check_heads(bundle, pins)
    head = heads.newest
    tip = _check_tip(bundle, head)
    records = _check_events(bundle, head)
    capsule = _fold(records)
    blobs = _check_blobs(bundle, capsule, records)
    named = {digest for record in records for digest in blobs_of(record.event)}
    return Opened(
        capsule=capsule,
        records=records,
        head=head,
        at=tip.at,
        epoch=heads.epochs.newest.number,
        required=None if required is None else _check_required(required, bundle, heads),
        left_out=tuple(sorted(named - blobs.keys())),
        blobs=blobs,
    )


@dataclass(frozen=True, slots=True)
class _Heads:
    """The newest head, those with which epochs ended, and the epochs."""

    newest: Head
    ends: tuple[Head, ...]
    epochs: Epochs


def _check_heads(bundle: Bundle, pins: Mapping[str, Pin]) -> _Heads:
    """Return the heads, once each key handed over to the next and all are of one history."""
    pin = _pin(bundle.head, pins)
    start, handovers = _start(bundle, pin)
    epochs, ends = [start], []
    for given in handovers:
        what = f"the end of epoch {epochs[-1].number}"
        head = _open(given.head, Epochs(epochs[-1:]), what)
        epochs.append(_next(given, epochs[-1], head, what))
        ends.append(head)
    newest = _open(bundle.head, Epochs(epochs), "the head")
    _check_until(newest, pin)
    for (older, newer), given in zip(pairwise([*ends, newest]), handovers, strict=True):
        _check_continues(older, newer, given.consistency, f"the head of size {newer.size}")
    return _Heads(newest, tuple(ends), Epochs(epochs))


def _start(bundle: Bundle, pin: Pin) -> tuple[Epoch, tuple[Handover, ...]]:
    """Return the epoch that *pin* speaks of, and the handovers from there on.

    What was before is not looked at: the pin speaks for it. Only the epoch's number is taken over.
    """
    number, later = 1, []
    for given in bundle.epochs:
        leaf = _leaf(given.event.leaf, "a rotation of keys")
        if leaf.seq >= pin.first:
            later.append(given)
            continue
        event = _record(given.event, leaf).event if leaf.seq == pin.first - 1 else None
        if isinstance(event, KeyRotated) and event.key == format_vkey(pin.verifier):
            number = event.epoch
    return Epoch(number, pin.verifier, pin.first), tuple(later)


def _next(given: Handover, epoch: Epoch, head: Head, what: str) -> Epoch:
    """Return the epoch that *given* begins, once its event is the last one under *head*."""
    leaf = _leaf(given.event.leaf, what)
    if (leaf.seq, leaf.kind, leaf.stream) != (head.size, ROTATED, "ledger"):
        raise BUNDLE_INVALID(f"{what} is no rotation of keys")
    _check_included(given.event.leaf, leaf.seq, head, given.inclusion, what)
    event = _record(given.event, leaf).event
    if not isinstance(event, KeyRotated):
        raise BUNDLE_INVALID(f"{what} is no rotation of keys")
    try:
        return follow(epoch, event, head)
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def _pin(note: str, pins: Mapping[str, Pin]) -> Pin:
    """Return what is pinned for the origin of *note*, whose own word is believed for this only."""
    origin = _said(note, "the head").origin
    if origin not in pins:
        raise BUNDLE_INVALID(f"no key is trusted for {origin}")
    return pins[origin]


def _said(note: str, what: str) -> Head:
    """Return the head in *note* as it is said: whether a key signed it is not looked at."""
    try:
        return parse_head(note.partition("\n\n")[0] + "\n")
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def _open(note: str, epochs: Epochs, what: str) -> Head:
    """Return the head in *note*, signed with the key of the one epoch that may."""
    try:
        return epochs.open(note.encode(), _said(note, what).size)
    except (Invalid, UnicodeEncodeError) as error:
        raise BUNDLE_INVALID(f"{what}: {error}") from None


def _check_until(head: Head, pin: Pin) -> None:
    """Raise where *head* goes beyond the end of its origin, or ends it otherwise."""
    if pin.until is None or head.size < pin.until[0] or pin.until == (head.size, head.root):
        return
    raise BUNDLE_INVALID(
        f"its log came to its end at {pin.until[0]} events, as the trust file says"
    )


def _check_continues(older: Head, newer: Head, proof: form.Proof, what: str) -> None:
    hashes = [bytes.fromhex(digest) for digest in proof]
    try:
        merkle.check_consistency(older.size, newer.size, hashes, older.root, newer.root)
    except Invalid as error:
        raise BUNDLE_INVALID(
            f"{what} does not continue the head of size {older.size}: {error}"
        ) from None


def _check_included(leaf: str, seq: int, head: Head, proof: form.Proof, what: str) -> None:
    digest = merkle.leaf_hash(leaf.encode())
    hashes = [bytes.fromhex(one) for one in proof]
    try:
        merkle.check_inclusion(digest, seq - 1, head.size, hashes, head.root)
    except Invalid as error:
        raise BUNDLE_INVALID(f"{what} is not in the signed tree: {error}") from None


def _check_tip(bundle: Bundle, head: Head) -> Leaf:
    tip = _leaf(bundle.tip.leaf, "the tip")
    if tip.seq != head.size:
        raise BUNDLE_INVALID("the tip is not the last leaf of its tree")
    _check_included(bundle.tip.leaf, tip.seq, head, bundle.tip.inclusion, "the tip")
    return tip


def _check_events(bundle: Bundle, head: Head) -> tuple[Record, ...]:
    leaves: list[Leaf] = []
    prev = None
    for number, event in enumerate(bundle.events, 1):
        leaf = _leaf(event.leaf, f"event {number} of the Task")
        before = leaves[-1] if leaves else leaf
        if leaf.stream_seq != number:
            raise BUNDLE_INVALID(f"event {number} of the Task is missing")
        follows = leaf.seq > before.seq if leaves else True
        if (leaf.stream, leaf.stream_prev) != (before.stream, prev) or not follows:
            raise BUNDLE_INVALID(f"event {leaf.seq} does not follow the one before it")
        prev = merkle.leaf_hash(event.leaf.encode()).hex()
        leaves.append(leaf)
    last = leaves[-1]
    what = f"event {last.seq}"
    _check_included(bundle.events[-1].leaf, last.seq, head, bundle.inclusion, what)
    records = tuple(map(_record, bundle.events, leaves))
    created = records[0].event
    if not isinstance(created, TaskCreated) or last.stream != f"{_TASK}{created.id}":
        raise BUNDLE_INVALID("it does not begin with the creation of its Task")
    return records


def _fold(records: tuple[Record, ...]) -> Capsule:
    try:
        return fold(records)
    except Exception as error:  # whoever holds the key can sign nonsense; that is no crash of ours
        raise BUNDLE_INVALID(f"its events make no Task: {type(error).__name__}") from None


def _leaf(text: str, what: str) -> Leaf:
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


def _record(event: EventText, leaf: Leaf) -> Record:
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


def _check_blobs(bundle: Bundle, capsule: Capsule, records: tuple[Record, ...]) -> dict[str, bytes]:
    named = {digest for record in records for digest in blobs_of(record.event)}
    blobs: dict[str, bytes] = {}
    for digest, text in bundle.blobs.items():
        try:
            blobs[digest] = b64decode(text, validate=True)
        except ValueError:
            raise BUNDLE_INVALID(f"blob {digest} is not in base64") from None
        if sha256(blobs[digest]).hexdigest() != digest:
            raise BUNDLE_INVALID(f"blob {digest} is another one")
        if digest not in named:
            raise BUNDLE_INVALID(f"no event names blob {digest}")
    for digest in judging_blobs(capsule):
        if digest not in blobs:
            raise BUNDLE_INVALID(f"blob {digest}, without which nothing can be judged, is missing")
    return blobs


def _check_required(note: bytes, bundle: Bundle, heads: _Heads) -> int:
    """Check that the bundle's head continues the required one in *note*; return that one's size."""
    text, newest = note.decode("utf-8", "replace"), heads.newest
    size = _said(text, "the required head").size
    if size > newest.size:
        raise BUNDLE_INVALID(f"its head has {newest.size} events, {size} are required")
    required = _open(text, heads.epochs, "the required head")
    for known in (newest, *heads.ends):
        if known.size == size and known != required:
            raise BUNDLE_INVALID(f"two heads of size {size}: the ledger was forked")
        if known.size == size:
            return size
    shown = {one.size: one.consistency for one in bundle.since}
    if size not in shown:
        raise BUNDLE_INVALID(
            f"it does not show that its head continues the required one of {size} events;"
            " export it with --since"
        )
    _check_continues(required, newest, shown[size], "its head")
    return size
