"""Making a bundle out of a log: O(events of the Task + epochs · log of the log's size)."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

from memprove.ledger.domain.capsule import fold
from memprove.ledger.domain.evidence import judging_blobs
from memprove.ledger.domain.record import Record
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.log.append import node_reader
from memprove.ledger.log.bundle import (
    VERSION,
    Beginning,
    Bundle,
    EventText,
    Handover,
    Since,
    Tip,
    encode,
)
from memprove.ledger.log.epochs import RESTORED, ROTATED, Epochs, origin_ends
from memprove.ledger.log.reading import read_stream
from memprove.ledger.problems import (
    HEAD_INVALID,
    LEDGER_DAMAGED,
    LEDGER_FORKED,
    LEDGER_TRUNCATED,
)
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import parse_head
from memprove.ledger.tlog.merkle import NodeReader


def make_bundle(
    reader: Reader,
    stream: str,
    *,
    since: Iterable[int] = (),
    outputs: bool = False,
) -> tuple[bytes, int]:
    """Return the bundle of *stream*, a Task's, and how many events it holds.

    The newest head was checked. *since*: sizes of earlier heads that others hold, and whose
    continuation the bundle is to show. With *outputs* what commands wrote goes along.
    Raises ``bundle_too_large``, ``ledger_damaged``.
    """
    records = read_stream(reader, stream)
    size, node = reader.size(), cache(node_reader(reader))  # proofs have many nodes in common
    head, tip = reader.head(), reader.event(size)
    if head is None or tip is None:
        raise LEDGER_DAMAGED("it has no signed head")
    restored = list(reader.of_kind(RESTORED))
    wanted = _named(records) if outputs else judging_blobs(fold(records))
    bundle = Bundle(
        bundle=VERSION,
        events=tuple(map(_text, reader.stream(stream))),
        inclusion=_inclusion(records[-1].seq, size, node),
        head=head.note.decode(),
        tip=Tip(leaf=tip.leaf.decode(), inclusion=_inclusion(size, size, node)),
        epochs=tuple(_handovers(reader, restored[-1].seq if restored else 1, size, node)),
        origins=tuple(_beginning(event, size, node) for event in restored),
        since=tuple(
            Since(size=old, consistency=_consistency(old, size, node)) for old in sorted(set(since))
        ),
        blobs={digest: _blob(reader, digest) for digest in wanted},
    )
    return encode(bundle), len(records)


def check_earlier(reader: Reader, note: bytes, epochs: Epochs) -> int:
    """Return the size of an earlier head of this log.

    Raises ``head_invalid`` for what is none, ``ledger_truncated`` or ``ledger_forked`` where the
    log does not continue it.
    """
    try:
        said = parse_head(note.decode().partition("\n\n")[0] + "\n")
        if said.origin in (ends := origin_ends(reader)):
            ended = (
                f"{said.origin} ended at {ends[said.origin]} events; save a head of what goes on"
            )
            raise HEAD_INVALID(ended)
        size = said.size
        head = epochs.open(note, size)
    except (Invalid, UnicodeDecodeError) as error:
        raise HEAD_INVALID(error) from None
    if size > reader.size():
        raise LEDGER_TRUNCATED(f"that head has {size} events, the ledger {reader.size()}")
    if merkle.root(size, node_reader(reader)) != head.root:
        raise LEDGER_FORKED(f"it has another history before event {size + 1} than that head")
    return size


def _handovers(reader: Reader, first: int, size: int, node: NodeReader) -> Iterator[Handover]:
    """Yield how each key from event *first* on handed over, the oldest first.

    Whether that holds is not looked at here: whoever opens the bundle looks at nothing else.
    """
    rotations = [event for event in reader.of_kind(ROTATED, first - 1) if event.seq < size]
    for event, following in pairwise([*rotations, None]):
        assert event is not None
        head = reader.head(event.seq)
        if head is None:
            raise LEDGER_DAMAGED(f"the head at {event.seq}, which ends an epoch, is missing")
        yield Handover(
            event=_text(event),
            head=head.note.decode(),
            inclusion=_inclusion(event.seq, event.seq, node),
            consistency=_consistency(event.seq, following.seq if following else size, node),
        )


def _beginning(event: StoredEvent, size: int, node: NodeReader) -> Beginning:
    return Beginning(
        event=_text(event),
        inclusion=_inclusion(event.seq, size, node),
        consistency=_consistency(event.seq - 1, size, node),
    )


def _named(records: Iterable[Record]) -> list[str]:
    return sorted({digest for record in records for digest in blobs_of(record.event)})


def _blob(reader: Reader, digest: str) -> str:
    data = reader.blob(digest)
    if data is None:
        raise LEDGER_DAMAGED(f"blob {digest} is missing")
    return b64encode(data).decode()


def _text(event: StoredEvent) -> EventText:
    return EventText(
        leaf=event.leaf.decode(),
        payload=None if event.payload is None else event.payload.decode(),
        salt=None if event.salt is None else event.salt.hex(),
    )


def _inclusion(seq: int, size: int, node: NodeReader) -> tuple[str, ...]:
    return tuple(digest.hex() for digest in merkle.prove_inclusion(seq - 1, size, node))


def _consistency(old: int, new: int, node: NodeReader) -> tuple[str, ...]:
    return tuple(digest.hex() for digest in merkle.prove_consistency(old, new, node))
