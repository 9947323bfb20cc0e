"""What is checked of a log before it is believed or continued: little enough for every command."""

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.record import decode_leaf
from memprove.ledger.log.append import commitment, node_reader
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.storage.interface import Reader
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import open_head
from memprove.ledger.tlog.note import Verifier


def check_head(reader: Reader, verifier: Verifier) -> None:
    """Raise ``ledger_damaged`` unless the newest head holds and signs the stored tree."""
    stored = reader.head()
    if stored is None:
        raise LEDGER_DAMAGED("it has no signed head")
    try:
        head = open_head(stored.note, verifier)
    except Invalid as error:
        raise LEDGER_DAMAGED(f"the newest head does not hold: {error}") from None
    if head.size != reader.size():
        raise LEDGER_DAMAGED(f"the newest head signs {head.size} events, not {reader.size()}")
    if merkle.root(head.size, node_reader(reader)) != head.root:
        raise LEDGER_DAMAGED("the newest head signs another tree")


def check_stream(reader: Reader, stream: str) -> None:
    """Raise ``ledger_damaged`` unless *stream* is whole: each event in the tree, and in order."""
    last, count, prev = 0, 0, None
    node = node_reader(reader)
    for event in reader.stream(stream):
        digest = merkle.leaf_hash(event.leaf)
        try:
            leaf = decode_leaf(event.leaf)
        except NotCanonical:
            raise LEDGER_DAMAGED(f"event {event.seq} does not decode") from None
        payload_fits = (
            event.payload is not None
            and event.salt is not None
            and commitment(event.salt, event.payload) == leaf.payload
        )
        follows = (leaf.seq, leaf.stream, leaf.stream_seq, leaf.stream_prev) == (
            event.seq,
            stream,
            count + 1,
            prev,
        )
        in_order = event.seq > last
        if not (in_order and follows and payload_fits and node(0, event.seq - 1) == digest):
            raise LEDGER_DAMAGED(f"event {event.seq} is not as it was written")
        last, count, prev = event.seq, leaf.stream_seq, digest.hex()
