"""Opening a bundle that is to be believed: with keys pinned elsewhere, and nothing else.

What is checked, in this order; the first thing that is wrong ends it (``bundle_invalid``):

1. the bundle decodes (``bundle``), and a key is pinned for the origin that its head names;
2. from the pinned key on, each key signed the head whose last leaf names the next one, and each of
   these heads continues the one before: a thief of today's key cannot rewrite yesterday;
3. the newest head is signed by the last key, and continues them all;
4. where the log had earlier origins, each began in that tree, and the tree continues the end that
   is pinned of the one before;
5. the tip is the last leaf of its tree;
6. the events are one Task's stream: numbered from 1 without a gap, each with the hash of the one
   before, so that the last one, which is proven to be in the tree, binds them all;
7. each payload is what its leaf commits to, or was erased by a later event of the Task: then the
   event reads as what survives of it;
8. each blob is the one that an event names, and none that a judge needs is missing;
9. the head that is required, if one is, is continued by the bundle's.
"""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.capsule import Capsule, fold
from memprove.ledger.domain.events import TaskCreated
from memprove.ledger.domain.evidence import judging_blobs
from memprove.ledger.domain.record import Leaf, Record, decode
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.domain.tombstones import Tombstones, Unaccounted
from memprove.ledger.log import bundle as form
from memprove.ledger.log.bundle import Bundle, EventText
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.reading import ERASED
from memprove.ledger.log.unbundling_heads import (
    Heads,
    check_continues,
    check_heads,
    check_included,
    open_leaf,
    open_note,
    open_payload,
    said_head,
)
from memprove.ledger.problems import BUNDLE_INVALID
from memprove.ledger.tlog import merkle
from memprove.ledger.tlog.head import Head

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

    @property
    def erased(self) -> tuple[Record, ...]:
        """Return the events of which something was erased, later tombstones of them aside."""
        return tuple(r for r in self.records if r.erasure and r.leaf.kind != ERASED)

    def blob(self, digest: str) -> bytes | None:
        """Return the blob whose SHA-256 is *digest*, as it was stored."""
        return self.blobs.get(digest)


def open_bundle(data: bytes, pins: Mapping[str, Pin], *, required: bytes | None = None) -> Opened:
    """Return what the bundle in *data* proves, under what is pinned in *pins*, by origin.

    *required*: a signed head of the same log; a bundle with an older head is refused.
    """
    bundle = form.decode(data)
    heads = check_heads(bundle, pins)
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


def erased_since(bundle: Opened, later: Opened) -> tuple[Record, ...]:
    """Return what was erased in *later*, a newer bundle of the same Task, and is in *bundle* still.

    Raises ``bundle_invalid`` where it does not go on from the same events.
    """
    count = len(bundle.records)
    leaves = [record.leaf for record in bundle.records]
    if leaves != [record.leaf for record in later.records[:count]]:
        raise BUNDLE_INVALID("it does not go on from the events of this one")
    before = {record.seq: record.erasure for record in bundle.erased}
    found = [record for record in later.erased if record.seq <= leaves[-1].seq]
    return tuple(record for record in found if before.get(record.seq) != record.erasure)


def _check_tip(bundle: Bundle, head: Head) -> Leaf:
    tip = open_leaf(bundle.tip.leaf, "the tip")
    if tip.seq != head.size:
        raise BUNDLE_INVALID("the tip is not the last leaf of its tree")
    check_included(bundle.tip.leaf, tip.seq, head, bundle.tip.inclusion, "the tip")
    return tip


def _check_events(bundle: Bundle, head: Head) -> tuple[Record, ...]:
    leaves: list[Leaf] = []
    prev = None
    for number, event in enumerate(bundle.events, 1):
        leaf = open_leaf(event.leaf, f"event {number} of the Task")
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
    check_included(bundle.events[-1].leaf, last.seq, head, bundle.inclusion, what)
    records = _substituted([_record(*pair) for pair in zip(bundle.events, leaves, strict=True)])
    created = records[0].event
    if not isinstance(created, TaskCreated) or last.stream != f"{_TASK}{created.id}":
        raise BUNDLE_INVALID("it does not begin with the creation of its Task")
    return records


def _record(event: EventText, leaf: Leaf) -> Record:
    if event.payload is None and event.salt is None:
        return decode(leaf, None)
    return open_payload(event, leaf)


def _substituted(records: list[Record]) -> tuple[Record, ...]:
    """Return *records*, a whole stream, with what survives in the place of what was erased."""
    tombstones = Tombstones()
    for record in records:
        tombstones.note(record)
    return tuple(_stand_in(tombstones, record) for record in records)


def _stand_in(tombstones: Tombstones, record: Record) -> Record:
    try:
        return tombstones.stand_in(record)
    except (Unaccounted, NotCanonical) as error:
        raise BUNDLE_INVALID(f"event {record.seq}: {error}") from None


def _fold(records: tuple[Record, ...]) -> Capsule:
    try:
        return fold(records)
    except Exception as error:  # whoever holds the key can sign nonsense; that is no crash of ours
        raise BUNDLE_INVALID(f"its events make no Task: {type(error).__name__}") from None


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


def _check_required(note: bytes, bundle: Bundle, heads: Heads) -> int:
    """Check that the bundle's head continues the required one in *note*; return that one's size."""
    text, newest = note.decode("utf-8", "replace"), heads.newest
    said = said_head(text, "the required head")
    if said.origin in heads.earlier:
        raise BUNDLE_INVALID(
            f"the required head is of {said.origin}, after which the log went on as"
            f" {newest.origin}; save a head of that one and require it"
        )
    size = said.size
    if size > newest.size:
        raise BUNDLE_INVALID(f"its head has {newest.size} events, {size} are required")
    required = open_note(text, heads.epochs, "the required head")
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
    check_continues(required, newest, shown[size], "its head")
    return size
