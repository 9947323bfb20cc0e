"""verify: everything that the log stands for is computed again and compared.

The checks, in order; each names the first event that is wrong:

1. store: the file is a ledger's and can be read;
2. leaves: each event's bytes decode, and its columns, number and links say what its leaf says;
3. payloads: each payload is what its leaf commits to, or was erased by a later event;
4. blobs: each blob that a payload names is there, with that digest;
5. tree: the stored nodes are those of the leaves;
6. epochs: the log begins with the key that is pinned outside it, and each rotation of keys is
   covered by a kept head of the key before;
7. head: the newest head signs that tree, with the key of its epoch;
8. heads: so does every head that was kept;
9. projections: the tables are those that the events give;
10. remembered: the log continues the head that was seen last;
11. required: it continues the head that was asked for.

The first nine compare what is stored with itself and with the pin; the last two with what lies
outside.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from operator import itemgetter
from typing import Final

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.record import LEAF_VERSION, Leaf, Record, decode, decode_leaf
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.domain.tombstones import Unaccounted
from memprove.ledger.log.append import fits
from memprove.ledger.log.epochs import ROTATED, Epochs, Pin
from memprove.ledger.log.reading import ERASED
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.report import CHECKS, CheckResult, Finding, Report
from memprove.ledger.log.verify_heads import check_heads, check_outside, outside_sizes
from memprove.ledger.log.walk import MOST_FINDINGS, TableRows, Walk, node_digests
from memprove.ledger.storage.interface import Reader, StoredEvent
from memprove.ledger.tlog import merkle

_PROGRESS_EVERY: Final = 1_000


def verify(
    reader: Reader,
    pin: Pin,
    *,
    project: Callable[[TableRows, Record], None],
    progress: Callable[[int, int], None] | None = None,
    memory: Memory | None = None,
    required: bytes | None = None,
    earlier: Sequence[Pin] = (),
) -> Report:
    """Verify the whole log in *reader* against the key that is pinned in *pin*.

    It must also continue the head in *memory*, and the head in the signed note *required*.
    """
    walk = Walk(project, wanted=outside_sizes(memory, required))
    epochs = Epochs([])
    with walk.making(*CHECKS[1:]):
        walk.size = reader.size()
        with walk.making("epochs", "head", "heads"):
            walk.heads = list(reader.heads())
        _read_events(walk, reader, progress)
        with walk.making("tree"):
            _check_nodes(walk, reader)
        if "heads" not in walk.unmade:
            epochs = check_heads(walk, reader, pin, earlier)
        with walk.making("projections"):
            _check_projections(walk, reader)
        check_outside(walk, reader, epochs, memory, required)
    return _report(walk, pin, epochs, memory, required)


def _report(
    walk: Walk, pin: Pin, epochs: Epochs, memory: Memory | None, required: bytes | None
) -> Report:
    seen = memory.seen if memory is not None else None
    asked = {"remembered": seen is not None, "required": required is not None}
    made = (c for c in CHECKS if c in walk.failed or (c not in walk.unmade and asked.get(c, True)))
    return Report(
        ok=not walk.failed,
        size=walk.size,
        root=walk.frontier.root().hex(),
        origin=pin.verifier.name,
        signed=walk.signed,
        checks=tuple(CheckResult(check=name, ok=name not in walk.failed) for name in made),
        findings=tuple(finding for _, finding in walk.found),
        erased=walk.erased,
        epoch_protected=min(epochs.newest.first - 1, walk.signed) if len(epochs) else 0,
        remembered=seen.head.size if seen and "remembered" not in walk.failed else None,
        unremembered=memory.why if memory is not None else "",
    )


def _read_events(walk: Walk, reader: Reader, progress: Callable[[int, int], None] | None) -> None:
    _note_tombstones(walk, reader)
    wanted = walk.wanted | {head.size for head in walk.heads}
    walk.reading = 1
    for event in reader.events():
        _visit(walk, reader, event)
        walk.reading = event.seq + 1
        if walk.frontier.size in wanted:
            walk.roots[walk.frontier.size] = walk.frontier.root()
        if progress is not None and event.seq % _PROGRESS_EVERY == 0:
            progress(event.seq, walk.size)
    walk.reading = None
    if "leaves" not in walk.failed:
        _check_tails(walk, reader)


def _note_tombstones(walk: Walk, reader: Reader) -> None:
    """Look ahead for what stands in the place of erased payloads.

    Each tombstone is checked where the walk comes to it, and a false one is a finding there.
    """
    for event in reader.of_kind(ERASED):
        with suppress(NotCanonical):
            walk.tombstones.note(decode(decode_leaf(event.leaf), event.payload))


def _visit(walk: Walk, reader: Reader, event: StoredEvent) -> None:
    digest = merkle.leaf_hash(event.leaf)
    expected = walk.frontier.size + 1
    for level, index, node in walk.frontier.append(digest):
        walk.nodes[level].update(b"%d:%b" % (index, node))
    try:
        leaf = decode_leaf(event.leaf)
    except NotCanonical as error:
        walk.find("leaves", f"the leaf does not decode: {error}", event.seq)
        walk.prev = digest.hex()
        return
    for what in _leaf_faults(walk, event, leaf, expected):
        walk.find("leaves", what, event.seq)
    walk.prev = digest.hex()
    walk.tails[leaf.stream] = (leaf.stream_seq, digest.hex())
    record = _payload(walk, event, leaf)
    if record is not None:
        if leaf.kind == ROTATED:
            walk.rotations.append(record)
        _check_blobs(walk, reader, record)
        _project(walk, record)


def _leaf_faults(walk: Walk, event: StoredEvent, leaf: Leaf, expected: int) -> Iterator[str]:
    columns = (event.seq, event.stream, event.stream_seq, event.kind)
    if columns != (leaf.seq, leaf.stream, leaf.stream_seq, leaf.kind):
        yield "its columns are not what its leaf says"
    if leaf.v != LEAF_VERSION:
        yield f"it says that it is of version {leaf.v}"
    if leaf.seq != expected:
        yield f"it says number {leaf.seq} at place {expected}"
    if leaf.prev != walk.prev:
        yield "it does not follow the event before it"
    count, tail = walk.tails.get(leaf.stream, (0, None))
    if (leaf.stream_seq, leaf.stream_prev) != (count + 1, tail):
        yield f"it does not follow the event before it in {leaf.stream}"


def _payload(walk: Walk, event: StoredEvent, leaf: Leaf) -> Record | None:
    gone = event.payload is None and event.salt is None
    if not gone and not fits(leaf.payload, event.salt, event.payload):
        walk.find("payloads", "its payload is not what its leaf commits to", event.seq)
        return None
    try:
        record = walk.tombstones.stand_in(decode(leaf, event.payload))
    except Unaccounted as error:
        walk.find("payloads", str(error), event.seq)
        return None
    except NotCanonical as error:
        walk.find("payloads", f"its payload does not decode: {error}", event.seq)
        return None
    walk.erased += record.erasure is not None and leaf.kind != ERASED
    return record


def _check_blobs(walk: Walk, reader: Reader, record: Record) -> None:
    for digest in blobs_of(record.event):
        with walk.making("blobs"):
            data = reader.blob(digest)
            if data is None:
                walk.find("blobs", f"blob {digest} is missing", record.seq)
            elif sha256(data).hexdigest() != digest:
                walk.find("blobs", f"blob {digest} is another one", record.seq)


def _project(walk: Walk, record: Record) -> None:
    try:
        walk.project(walk.rows, record)
    except Exception as error:  # whatever a forged event brings about is a finding, no crash
        walk.find("leaves", f"the tables cannot take it: {type(error).__name__}", record.seq)


def _check_tails(walk: Walk, reader: Reader) -> None:
    """Find events that stand outside the numbers of the log, where only their stream is read."""
    for stream, (count, _) in walk.tails.items():
        tail = reader.stream_tail(stream)
        if tail is None or tail.stream_seq != count:
            seq = tail.seq if tail else None
            walk.find("leaves", f"{stream} goes on outside the numbers of the log", seq)


def _check_nodes(walk: Walk, reader: Reader) -> None:
    """Compare the stored nodes with those of the leaves; all at once, a query each takes longer."""
    stored = node_digests()
    for node in reader.nodes():
        stored[node.level].update(b"%d:%b" % (node.index, node.hash))
    have, want = ({n: h.digest() for n, h in nodes.items()} for nodes in (stored, walk.nodes))
    if have != want:
        walk.failed.add("tree")
        found = [*walk.found, *islice(_bad_nodes(reader), MOST_FINDINGS)]
        walk.found = sorted(found, key=itemgetter(0))[:MOST_FINDINGS]


def _bad_nodes(reader: Reader) -> Iterator[tuple[int, Finding]]:
    """Yield the nodes that make the difference, each when the event was read that completes it."""
    frontier = merkle.Frontier()
    for event in reader.events():
        for level, index, node in frontier.append(merkle.leaf_hash(event.leaf)):
            if reader.node(level, index) != node:
                what = f"node {level}/{index} is not that of the leaves"
                yield frontier.size, Finding(check="tree", what=what, seq=event.seq)
    for stored in reader.nodes():
        if stored.level < 0 or not 0 <= stored.index < frontier.size >> stored.level:
            what = f"node {stored.level}/{stored.index} belongs to no leaf"
            yield frontier.size, Finding(check="tree", what=what)
            return


def _check_projections(walk: Walk, reader: Reader) -> None:
    stored = {table: dict(reader.rows(table)) for table in reader.tables()}
    rebuilt = {table: rows for table, rows in walk.rows.tables.items() if rows}
    for table in sorted(stored.keys() | rebuilt.keys()):
        have, want = stored.get(table, {}), rebuilt.get(table, {})
        for key in sorted(have.keys() | want.keys()):
            if have.get(key) != want.get(key):
                walk.find("projections", f"row {table}/{key} is not what the events give")
