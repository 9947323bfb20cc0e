"""The log as JSON lines: one event on each, for other programs.

A line is the leaf with changes that can be undone: ``payload`` is the payload itself (null: it was
erased), and beside it stand ``commitment``, which the leaf has in its place, ``salt`` and ``hash``,
the leaf hash. Of an erased one ``erased`` says by which event, which fields, why, and what is left.
Keys are sorted, all of it is canonical JSON.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from memprove.ledger.domain.record import Erased, Record, Unknown, encode
from memprove.ledger.log.append import fits, node_reader
from memprove.ledger.log.reading import read_event, read_stream, read_tombstones, stand_in
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import merkle

_LEAF: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def lines_of_stream(reader: Reader, stream: str) -> Iterator[bytes]:
    """Yield the lines of *stream*; raises ``ledger_damaged`` at once unless it is whole."""
    for event, record in zip(reader.stream(stream), read_stream(reader, stream), strict=True):
        yield _line(event, record)


def lines_of_log(reader: Reader) -> Iterator[bytes]:
    """Yield the lines of the whole log, without holding it.

    Raises ``ledger_damaged`` at the end if they are not what the tree was made of, and at a payload
    that is not what was committed to.
    """
    frontier, tombstones = merkle.Frontier(), read_tombstones(reader)
    for event in reader.events():
        frontier.append(merkle.leaf_hash(event.leaf))
        erased = event.payload is None or event.seq in tombstones
        yield _line(event, stand_in(tombstones, read_event(event)) if erased else None)
    if frontier.root() != merkle.root(reader.size(), node_reader(reader)):
        raise LEDGER_DAMAGED("the events are not those that were signed")


def _line(event: StoredEvent, record: Record | None) -> bytes:
    """Return the line of *event*; *record* is what it reads as, if it was erased."""
    erased = _erased(record) if record is not None else {}
    try:
        leaf = _LEAF.decode(event.leaf)
        commitment = str(leaf.pop("payload"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        raise LEDGER_DAMAGED(f"event {event.seq} does not decode") from None
    if not erased and not fits(commitment, event.salt, event.payload):
        raise LEDGER_DAMAGED(f"the payload of event {event.seq} is not as it was written")
    line = {
        **leaf,
        "commitment": commitment,
        "hash": merkle.leaf_hash(event.leaf).hex(),
        "payload": None if event.payload is None else msgspec.Raw(event.payload),
        **erased,
        "salt": None if event.salt is None else event.salt.hex(),
    }
    return _ENCODER.encode(line) + b"\n"


def _erased(record: Record) -> dict[str, Any]:
    erasure, event = record.erasure, record.event
    if erasure is None:
        return {}
    left = None if isinstance(event, Erased | Unknown) else msgspec.Raw(encode(event))
    said = {"by": erasure.by, "fields": erasure.fields, "left": left, "reason": erasure.reason}
    return {"erased": said}
