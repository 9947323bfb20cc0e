"""The log as JSON lines: one event on each, for other programs.

A line is the event's leaf with four changes, which can be undone: ``payload`` is the payload itself
(null: it was erased), and beside it stand ``commitment``, which the leaf has in its place, ``salt``
and ``hash``, the leaf hash. Keys are sorted, all of it is canonical JSON.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from memprove.ledger.log.append import fits, node_reader
from memprove.ledger.log.reading import read_stream
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import merkle

_LEAF: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def lines_of_stream(reader: Reader, stream: str) -> Iterator[bytes]:
    """Yield the lines of *stream*; raises ``ledger_damaged`` at once unless it is whole."""
    read_stream(reader, stream)
    for event in reader.stream(stream):
        yield _line(event)


def lines_of_log(reader: Reader) -> Iterator[bytes]:
    """Yield the lines of the whole log, without holding it.

    Raises ``ledger_damaged`` at the end if they are not what the tree was made of, and at a payload
    that is not what was committed to.
    """
    frontier = merkle.Frontier()
    for event in reader.events():
        frontier.append(merkle.leaf_hash(event.leaf))
        yield _line(event)
    if frontier.root() != merkle.root(reader.size(), node_reader(reader)):
        raise LEDGER_DAMAGED("the events are not those that were signed")


def _line(event: StoredEvent) -> bytes:
    try:
        leaf = _LEAF.decode(event.leaf)
        commitment = str(leaf.pop("payload"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        raise LEDGER_DAMAGED(f"event {event.seq} does not decode") from None
    if not fits(commitment, event.salt, event.payload):
        raise LEDGER_DAMAGED(f"the payload of event {event.seq} is not as it was written")
    line = {
        **leaf,
        "commitment": commitment,
        "hash": merkle.leaf_hash(event.leaf).hex(),
        "payload": None if event.payload is None else msgspec.Raw(event.payload),
        "salt": None if event.salt is None else event.salt.hex(),
    }
    return _ENCODER.encode(line) + b"\n"
