"""Reading a log that is to be believed: what every command checks of what it reads.

The newest head holds under the key of its epoch, signs the stored tree and continues the head that
is remembered. Each event that is read is the leaf that the tree has at its place, with the payload
that the leaf commits to. A stream is read whole: its chain binds every event to its last one, which
is proven to be in the signed tree. ``verify`` checks all the rest.

An event whose payload was erased reads as what survives of it, and so do all folds of it: here, and
in ``verify``, and nowhere else, the tombstone is put in its place.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.events import PayloadErased
from memprove.ledger.domain.record import Erased, Leaf, Record, decode, decode_leaf
from memprove.ledger.domain.tombstones import Tombstones, Unaccounted
from memprove.ledger.log.append import fits, node_reader
from memprove.ledger.log.epochs import (
    Epoch,
    Epochs,
    Pin,
    WrongEpoch,
    first_epoch,
    origin_ends,
    walk,
)
from memprove.ledger.log.remembered import Found, Memory
from memprove.ledger.log.report import SignedHead
from memprove.ledger.problems import (
    LEDGER_DAMAGED,
    LEDGER_FORKED,
    LEDGER_TRUNCATED,
    WRONG_EPOCH,
    Problem,
)
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head
from memprove.ledger.tlog.note import format_vkey

ERASED: Final = "payload.erased"


class Opened(msgspec.Struct, frozen=True):  # no dataclass, as in `epochs`
    """A log whose newest head holds: in the last of *epochs*."""

    head: Head
    note: bytes
    epochs: Epochs

    @property
    def told(self) -> SignedHead:
        """Return its newest head for reading."""
        epoch = self.epochs.holding(self.head.size)
        assert epoch is not None
        return SignedHead(
            origin=self.head.origin,
            size=self.head.size,
            root=self.head.root.hex(),
            epoch=epoch.number,
            key=format_vkey(epoch.verifier),
            note=self.note.decode(),
        )


def check_head(reader: Reader, pin: Pin, memory: Memory | None = None) -> Opened:
    """Return the log whose newest head holds along the key epochs and signs the stored tree.

    It also continues what *memory* has seen of it, and then the walk begins there. Raises
    ``ledger_damaged``, ``wrong_epoch``, ``ledger_truncated``, ``ledger_forked`` or
    ``ledger_replaced``.
    """
    if memory is None:
        return _open(reader, first_epoch(reader, pin), pin)
    ends = origin_ends(reader) if memory.is_of_another(pin.verifier.name) else {}
    memory.check_origin(pin.verifier.name, ends)
    start = memory.start(pin)
    try:
        opened = _open(reader, start or first_epoch(reader, pin), pin)
    except Problem:
        if start is None:
            raise
        opened = _open(reader, first_epoch(reader, pin), pin, start)  # it may be an older copy
    memory.check(reader, _found(opened), ends)
    return opened


def _open(reader: Reader, start: Epoch, pin: Pin, later: Epoch | None = None) -> Opened:
    """Walk from *start* and open the newest head; *later* is an epoch that was there once."""
    stored = reader.head()
    if stored is None:
        raise LEDGER_DAMAGED("it has no signed head")
    epochs = walk(reader, start, upto=pin.until[0] if pin.until else None)
    try:
        head = epochs.open(stored.note, stored.size, later)
    except WrongEpoch as error:
        raise WRONG_EPOCH(error) from None
    except Invalid as error:
        raise LEDGER_DAMAGED(f"the newest head does not hold: {error}") from None
    if head.size != reader.size():
        raise LEDGER_DAMAGED(f"the newest head signs {head.size} events, not {reader.size()}")
    if merkle.root(head.size, node_reader(reader)) != head.root:
        raise LEDGER_DAMAGED("the newest head signs another tree")
    _check_until(head, pin)
    return Opened(head, stored.note, epochs)


def _check_until(head: Head, pin: Pin) -> None:
    """Raise unless *head* is the last one of an origin that came to its end."""
    if pin.until is None or pin.until == (head.size, head.root):
        return
    size, _ = pin.until
    kind = LEDGER_TRUNCATED if head.size < size else LEDGER_FORKED
    raise kind(f"the trust file has it end at {size} events, it has {head.size}")


def _found(opened: Opened) -> Found:
    vkey = format_vkey(opened.epochs.of_size(opened.head.size))
    return Found(opened.head, opened.note, vkey)


def read_events(reader: Reader, after: int = 0, upto: int | None = None) -> Iterator[Record]:
    """Yield the records with *after* < seq ≤ *upto*; raises ``ledger_damaged`` at a false one."""
    tombstones = read_tombstones(reader)
    for seq, event in enumerate(reader.events(after, upto), max(after, 0) + 1):
        if event.seq != seq:
            raise LEDGER_DAMAGED(f"event {seq} is missing")
        leaf, digest = _opened(event)
        check_included(reader, event.seq, digest)
        yield stand_in(tombstones, _record(event, leaf))


def read_stream(reader: Reader, stream: str) -> list[Record]:
    """Return the records of *stream*, in order; raises ``ledger_damaged`` unless it is whole."""
    return _substituted(_chain(reader, stream)[0])


def read_chain(
    reader: Reader, stream: str, upto: int, tombstones: Tombstones
) -> tuple[list[Record], tuple[int, str | None]]:
    """Return the records of *stream* with seq ≤ *upto*, and the number and hash of its last leaf.

    *tombstones* are those of the whole log. Raises ``ledger_damaged`` unless it is whole.
    """
    records, tail = _chain(reader, stream, upto)
    return [stand_in(tombstones, record) for record in records], tail


def read_event(event: StoredEvent) -> Record:
    """Return the record of *event* by itself, as it is stored."""
    return _record(event, _opened(event)[0])


def erased_by(event: StoredEvent) -> tuple[int, ...]:
    """Return the number of the event that *event*, as it is stored, erased; none if it is gone."""
    said = read_event(event).event
    return (said.event,) if isinstance(said, PayloadErased) else ()


def read_newest(reader: Reader, stream: str, after: int) -> list[Record]:
    """Return the records of *stream* after its event number *after*: each by itself as written.

    Whether they are the signed ones is not looked at: for what is no evidence.
    """
    events = reader.stream(stream, max(after, 0))
    return _substituted(list(map(read_event, events)))


def _chain(
    reader: Reader, stream: str, upto: int | None = None
) -> tuple[list[Record], tuple[int, str | None]]:
    """Return the records of *stream* as they stand, and the number and hash of its last leaf."""
    records: list[Record] = []
    last, prev = 0, None
    for event in reader.stream(stream):
        if upto is not None and event.seq > upto:
            break
        leaf, digest = _opened(event)
        place = (stream, len(records) + 1, prev)
        if (leaf.stream, leaf.stream_seq, leaf.stream_prev) != place or event.seq <= last:
            raise LEDGER_DAMAGED(f"event {event.seq} does not follow in its stream")
        records.append(_record(event, leaf))
        last, prev = event.seq, digest.hex()
    if prev is not None:
        check_included(reader, last, bytes.fromhex(prev))
    return records, (len(records), prev)


def read_tombstones(reader: Reader) -> Tombstones:
    """Return the tombstones of the whole log, of which there are few."""
    tombstones = Tombstones()
    for event in reader.of_kind(ERASED):
        leaf, digest = _opened(event)
        check_included(reader, event.seq, digest)
        tombstones.note(_record(event, leaf))
    return tombstones


def _substituted(records: list[Record]) -> list[Record]:
    """Return *records*, a stream to its end, with what survives in the place of what was erased."""
    if not any(isinstance(record.event, Erased | PayloadErased) for record in records):
        return records
    tombstones = Tombstones()
    for record in records:
        tombstones.note(record)
    return [stand_in(tombstones, record) for record in records]


def stand_in(tombstones: Tombstones, record: Record) -> Record:
    """Return what *record* reads as; raises ``ledger_damaged`` where no tombstone fits."""
    try:
        return tombstones.stand_in(record)
    except (Unaccounted, NotCanonical) as error:
        raise LEDGER_DAMAGED(f"event {record.seq}: {error}") from None


def _opened(event: StoredEvent) -> tuple[Leaf, bytes]:
    """Return the event's leaf and its hash, once its columns and its payload fit the leaf."""
    try:
        leaf = decode_leaf(event.leaf)
    except NotCanonical:
        raise LEDGER_DAMAGED(f"event {event.seq} does not decode") from None
    columns = (event.seq, event.stream, event.stream_seq, event.kind)
    as_written = columns == (leaf.seq, leaf.stream, leaf.stream_seq, leaf.kind)
    if not (as_written and (_is_gone(event) or fits(leaf.payload, event.salt, event.payload))):
        raise LEDGER_DAMAGED(f"event {event.seq} is not as it was written")
    return leaf, merkle.leaf_hash(event.leaf)


def _is_gone(event: StoredEvent) -> bool:
    return event.payload is None and event.salt is None


def _record(event: StoredEvent, leaf: Leaf) -> Record:
    try:
        return decode(leaf, event.payload)
    except NotCanonical as error:
        raise LEDGER_DAMAGED(f"event {event.seq}: {error}") from None


def check_included(reader: Reader, seq: int, digest: bytes) -> None:
    """Raise unless *digest* is leaf number *seq* of the tree that the head signs."""
    size, node = reader.size(), node_reader(reader)
    proof = merkle.prove_inclusion(seq - 1, size, node)
    try:
        merkle.check_inclusion(digest, seq - 1, size, proof, merkle.root(size, node))
    except merkle.ProofInvalid:
        raise LEDGER_DAMAGED(f"event {seq} is not the one that was signed") from None
