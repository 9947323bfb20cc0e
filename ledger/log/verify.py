"""verify: everything that the log stands for is computed again and compared.

The checks, in order; each names the first event that is wrong:

1. store: the file is a ledger's and can be read;
2. leaves: each event's bytes decode, and its columns, number and links say what its leaf says;
3. payloads: each payload is what its leaf commits to;
4. blobs: each blob that a payload names is there, with that digest;
5. tree: the stored nodes are those of the leaves;
6. head: the newest head signs that tree, with the key pinned outside the log, and the log begins
   with that key;
7. heads: so does every head that was kept;
8. projections: the tables are those that the events give.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import msgspec

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.events import LedgerCreated
from memprove.ledger.domain.record import LEAF_VERSION, Leaf, Record, decode, decode_leaf
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.log.append import fits
from memprove.ledger.problems import LEDGER_DAMAGED, Problem
from memprove.ledger.storage.interface import Reader, StoredEvent, StoredHead
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import open_head
from memprove.ledger.tlog.note import Verifier, format_vkey

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

CHECKS: Final = ("store", "leaves", "payloads", "blobs", "tree", "head", "heads", "projections")
_MOST_FINDINGS: Final = 20
_PROGRESS_EVERY: Final = 1_000


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it was written. *seq* is the event's number where there is one."""

    check: str
    what: str
    seq: int | None = None


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check."""

    check: str
    ok: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What ``verify`` found. *signed* is the size of the newest head that holds.

    A check that the store's damage kept from its end is not among *checks*, unless it had failed.
    """

    ok: bool
    size: int
    root: str
    origin: str
    signed: int
    checks: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]


class TableRows:
    """The projections in memory, as ``project`` builds them."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, bytes]] = {}

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key*."""
        return self.tables.get(table, {}).get(key)

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        """Set the value under *key*; None takes it out."""
        rows = self.tables.setdefault(table, {})
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value


def _nodes() -> "defaultdict[int, Hash]":
    """Return level → SHA-256 over its nodes with their indices: all nodes in little memory."""
    return defaultdict(sha256)


@dataclass(slots=True)
class _Walk:
    """What one pass over the events carries along."""

    project: Callable[[TableRows, Record], None]
    frontier: merkle.Frontier = field(default_factory=merkle.Frontier)
    nodes: "defaultdict[int, Hash]" = field(default_factory=_nodes)
    heads: list[StoredHead] = field(default_factory=list)
    size: int = 0
    signed: int = 0
    """The size of the newest head that holds."""
    reading: int | None = None
    """The number of the event that is to be read next."""
    roots: dict[int, bytes] = field(default_factory=dict)
    tails: dict[str, tuple[int, str]] = field(default_factory=dict)
    prev: str | None = None
    rows: TableRows = field(default_factory=TableRows)
    found: list[tuple[int, Finding]] = field(default_factory=list)
    """Findings, each with how many events had been read."""
    failed: set[str] = field(default_factory=set)
    unmade: set[str] = field(default_factory=set)

    def find(self, check: str, what: str, seq: int | None = None) -> None:
        self.failed.add(check)
        if len(self.found) < _MOST_FINDINGS:
            self.found.append((self.frontier.size, Finding(check=check, what=what, seq=seq)))

    @contextmanager
    def making(self, *checks: str) -> Iterator[None]:
        """Make *checks* inside; what the store cannot read is a finding, and their end."""
        try:
            yield
        except Problem as problem:
            if problem.kind is not LEDGER_DAMAGED:
                raise
            self.unmade.update(checks)
            self.find("store", problem.detail, self.reading)


def unreadable(what: str) -> Report:
    """Return the report on a ledger that cannot be opened; *what* is wrong with it."""
    found = Finding(check="store", what=what)
    check = CheckResult(check="store", ok=False)
    return Report(
        ok=False, size=0, root="", origin="", signed=0, checks=(check,), findings=(found,)
    )


def verify(
    reader: Reader,
    verifier: Verifier,
    *,
    project: Callable[[TableRows, Record], None],
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Verify the whole log in *reader* against the key pinned in *verifier*."""
    walk = _Walk(project)
    with walk.making(*CHECKS[1:]):
        walk.size = reader.size()
        with walk.making("head", "heads"):
            walk.heads = list(reader.heads())
        _read_events(walk, reader, progress)
        with walk.making("tree"):
            _check_nodes(walk, reader)
        if not walk.failed:
            _check_genesis(walk, reader, verifier)
        if "heads" not in walk.unmade:
            _check_heads(walk, verifier)
        with walk.making("projections"):
            _check_projections(walk, reader)
    return Report(
        ok=not walk.failed,
        size=walk.size,
        root=walk.frontier.root().hex(),
        origin=verifier.name,
        signed=walk.signed,
        checks=tuple(
            CheckResult(check=name, ok=name not in walk.failed)
            for name in CHECKS
            if name in walk.failed or name not in walk.unmade
        ),
        findings=tuple(finding for _, finding in walk.found),
    )


def _read_events(walk: _Walk, reader: Reader, progress: Callable[[int, int], None] | None) -> None:
    wanted = {head.size for head in walk.heads}
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


def _visit(walk: _Walk, reader: Reader, event: StoredEvent) -> None:
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
        _check_blobs(walk, reader, record)
        _project(walk, record)


def _leaf_faults(walk: _Walk, event: StoredEvent, leaf: Leaf, expected: int) -> Iterator[str]:
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


def _payload(walk: _Walk, event: StoredEvent, leaf: Leaf) -> Record | None:
    if event.payload is None or event.salt is None:
        walk.find("payloads", "its payload is missing", event.seq)
        return None
    if not fits(leaf.payload, event.salt, event.payload):
        walk.find("payloads", "its payload is not what its leaf commits to", event.seq)
        return None
    try:
        return decode(leaf, event.payload)
    except NotCanonical as error:
        walk.find("payloads", f"its payload does not decode: {error}", event.seq)
        return None


def _check_blobs(walk: _Walk, reader: Reader, record: Record) -> None:
    for digest in blobs_of(record.event):
        with walk.making("blobs"):
            data = reader.blob(digest)
            if data is None:
                walk.find("blobs", f"blob {digest} is missing", record.seq)
            elif sha256(data).hexdigest() != digest:
                walk.find("blobs", f"blob {digest} is another one", record.seq)


def _project(walk: _Walk, record: Record) -> None:
    try:
        walk.project(walk.rows, record)
    except Exception as error:  # whatever a forged event brings about is a finding, no crash
        walk.find("leaves", f"the tables cannot take it: {type(error).__name__}", record.seq)


def _check_tails(walk: _Walk, reader: Reader) -> None:
    """Find events that stand outside the numbers of the log, where only their stream is read."""
    for stream, (count, _) in walk.tails.items():
        tail = reader.stream_tail(stream)
        if tail is None or tail.stream_seq != count:
            seq = tail.seq if tail else None
            walk.find("leaves", f"{stream} goes on outside the numbers of the log", seq)


def _check_genesis(walk: _Walk, reader: Reader, verifier: Verifier) -> None:
    """Find a log that does not begin with the pinned key."""
    first = reader.event(1)
    begun = decode(decode_leaf(first.leaf), first.payload).event if first else None
    want = (verifier.name, format_vkey(verifier))
    if not isinstance(begun, LedgerCreated) or (begun.origin, begun.key) != want:
        walk.find("head", "the log does not begin with the pinned key", 1)


def _check_nodes(walk: _Walk, reader: Reader) -> None:
    """Compare the stored nodes with those of the leaves; all at once, a query each takes longer."""
    stored = _nodes()
    for node in reader.nodes():
        stored[node.level].update(b"%d:%b" % (node.index, node.hash))
    have, want = ({n: h.digest() for n, h in nodes.items()} for nodes in (stored, walk.nodes))
    if have != want:
        walk.failed.add("tree")
        found = [*walk.found, *islice(_bad_nodes(reader), _MOST_FINDINGS)]
        walk.found = sorted(found, key=itemgetter(0))[:_MOST_FINDINGS]


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


def _check_heads(walk: _Walk, verifier: Verifier) -> None:
    newest = walk.heads[-1].size if walk.heads else 0
    if newest != walk.frontier.size:
        walk.find("head", f"the newest head signs {newest} events, the log has another number")
    for stored in walk.heads:
        check = "head" if stored.size == newest else "heads"
        fault = _head_fault(walk, stored, verifier)
        if fault:
            walk.find(check, fault, stored.size or None)
            continue
        walk.signed = stored.size
        if stored.size < newest and not stored.keep:
            walk.find(check, f"the head at {stored.size} is not marked as kept", stored.size)


def _head_fault(walk: _Walk, stored: StoredHead, verifier: Verifier) -> str:
    try:
        head = open_head(stored.note, verifier)
    except Invalid as error:
        return f"the head at {stored.size} does not hold under the pinned key: {error}"
    if head.size != stored.size:
        return f"the head at {stored.size} says size {head.size}"
    if walk.roots.get(head.size) != head.root:
        return f"the head at {stored.size} signs another tree"
    return ""


def _check_projections(walk: _Walk, reader: Reader) -> None:
    stored = {table: dict(reader.rows(table)) for table in reader.tables()}
    rebuilt = {table: rows for table, rows in walk.rows.tables.items() if rows}
    for table in sorted(stored.keys() | rebuilt.keys()):
        have, want = stored.get(table, {}), rebuilt.get(table, {})
        for key in sorted(have.keys() | want.keys()):
            if have.get(key) != want.get(key):
                walk.find("projections", f"row {table}/{key} is not what the events give")
