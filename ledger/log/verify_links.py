"""The check of what binds events to their places: columns, numbers, both chains, commitments.

Events come many at once and are compared all at once. Only where that fails are they looked at one
by one, to say which is wrong and how.
"""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import repeat
from operator import attrgetter
from typing import Final

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.record import LEAF_VERSION, Link, decode, decode_leaf, decode_links
from memprove.ledger.log.append import commitments, fits
from memprove.ledger.log.epochs import ROTATED
from memprove.ledger.log.walk import Walk
from memprove.ledger.storage.interface import EventColumns, StoredEvent

NO_TAIL: Final = (0, None)
"""What is before the first event of a stream."""
_SAID: Final = attrgetter("v", "seq", "stream", "stream_seq", "kind", "payload", "prev")


def check_links(walk: Walk, events: EventColumns) -> None:
    """Check that *events* are the next ones of the log, and take them into the tree."""
    digests = [sha256(b"\0" + leaf).digest() for leaf in events.leaves]
    if not _all_follow(walk, events, [digest.hex() for digest in digests]):
        _check_each(walk, events, digests)
    walk.grow(digests)
    walk.prev = digests[-1].hex()
    if ROTATED in events.kinds:
        _note_rotations(walk, events)


def _all_follow(walk: Walk, events: EventColumns, hexes: list[str]) -> bool:
    """Tell whether nothing is wrong with *events*; then they are the new ends of their streams."""
    committed = commitments(events.salts, events.payloads)
    if committed is None:
        return False
    try:
        links = decode_links(events.leaves)
    except NotCanonical:
        return False
    columns = (events.seqs, events.streams, events.stream_seqs, events.kinds, committed)
    version, prevs = repeat(LEAF_VERSION, len(links)), [walk.prev, *hexes[:-1]]
    first = walk.frontier.size + 1
    if list(map(_SAID, links)) != list(
        zip(version, *columns, prevs, strict=True)
    ) or events.seqs != tuple(range(first, first + len(links))):
        return False
    tails = _tails(walk, links, hexes)
    walk.tails.update(tails or {})
    return tails is not None


def _tails(
    walk: Walk, links: list[Link], hexes: list[str]
) -> dict[str, tuple[int, str | None]] | None:
    """Return the new ends of the streams of *links*, if each follows the one before it."""
    tails: dict[str, tuple[int, str | None]] = {}
    for link, digest in zip(links, hexes, strict=True):
        stream, number = link.stream, link.stream_seq
        before = tails.get(stream) or walk.tails.get(stream, NO_TAIL)
        if before != (number - 1, link.stream_prev):
            return None
        tails[stream] = (number, digest)
    return tails


def _check_each(walk: Walk, events: EventColumns, digests: list[bytes]) -> None:
    """Find what is wrong with *events*, one by one."""
    prev, first = walk.prev, walk.frontier.size + 1
    for at, (row, digest) in enumerate(zip(zip(*events, strict=True), digests, strict=True), first):
        event = StoredEvent(*row)
        try:
            (link,) = decode_links([event.leaf])
        except NotCanonical as error:
            walk.find("leaves", f"the leaf does not decode: {error}", event.seq, at=at)
            walk.bad.add(at)
        else:
            for what in _faults(walk, event, link, at, prev):
                walk.find("leaves", what, event.seq, at=at)
            walk.tails[link.stream] = (link.stream_seq, digest.hex())
            gone = event.payload is None and event.salt is None
            if not gone and not fits(link.payload, event.salt, event.payload):
                what = "its payload is not what its leaf commits to"
                walk.find("payloads", what, event.seq, at=at)
                walk.bad.add(at)
        prev = digest.hex()


def _faults(
    walk: Walk, event: StoredEvent, link: Link, place: int, prev: str | None
) -> Iterator[str]:
    columns = (event.seq, event.stream, event.stream_seq, event.kind)
    if columns != (link.seq, link.stream, link.stream_seq, link.kind):
        yield "its columns are not what its leaf says"
    if link.v != LEAF_VERSION:
        yield f"it says that it is of version {link.v}"
    if link.seq != place:
        yield f"it says number {link.seq} at place {place}"
    if link.prev != prev:
        yield "it does not follow the event before it"
    count, tail = walk.tails.get(link.stream, NO_TAIL)
    if (link.stream_seq, link.stream_prev) != (count + 1, tail):
        yield f"it does not follow the event before it in {link.stream}"


def _note_rotations(walk: Walk, events: EventColumns) -> None:
    """Keep what says which key comes next; called once *events* are in the tree."""
    first = walk.frontier.size - len(events.seqs) + 1
    rows = zip(events.kinds, events.leaves, events.payloads, strict=True)
    for place, (kind, leaf, payload) in enumerate(rows, first):
        if kind == ROTATED and place not in walk.bad:
            with suppress(NotCanonical):
                walk.rotations.append(decode(decode_leaf(leaf), payload))
