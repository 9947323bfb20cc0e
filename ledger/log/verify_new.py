"""Verifying what is new: the events after a head under which all was well.

What is before that head is bound by its root and not read again, but for the streams that go on:
they are read from their beginning, for the chain and for the rows that the new events touch. A
tombstone is in the stream of what it erased, so that is looked at as well.

This either finds nothing or has no opinion: whoever calls it reads everything then, and names what
is wrong. So a log is never called damaged because of what was left out here.
"""

from memprove.ledger.domain.record import Record
from memprove.ledger.log.append import node_reader
from memprove.ledger.log.epochs import Epochs, Pin, check_continues
from memprove.ledger.log.epochs import walk as walk_epochs
from memprove.ledger.log.reading import check_included, read_chain, read_tombstones
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.report import Report
from memprove.ledger.log.verified import Verified
from memprove.ledger.log.verify import Progress, read_events, report
from memprove.ledger.log.verify_contents import Contents, Project
from memprove.ledger.log.verify_heads import check_new_heads, check_outside, outside_heads
from memprove.ledger.log.verify_tree import are_those
from memprove.ledger.log.walk import TableRows, Walk
from memprove.ledger.problems import NOT_AS_WRITTEN, Problem
from memprove.ledger.storage.interface import EventColumns, Reader
from memprove.ledger.tlog import Invalid, merkle
from memprove.ledger.tlog.head import Head


def verify_new(
    reader: Reader,
    pin: Pin,
    known: Verified,
    *,
    project: Project,
    erase: Project,
    progress: Progress | None = None,
    memory: Memory | None = None,
    required: bytes | None = None,
) -> Report | None:
    """Verify the log in *reader* from the head in *known* on; None: read all of it.

    *project* and *erase* take an event, or what survives of an erased one, into the tables.
    """
    walk = Walk(start=known.head.size)
    try:
        epochs = _resume(walk, reader, known, outside_heads(memory, required))
        streams = _Streams(walk, reader, project, erase)
        read_events(walk, reader, streams.contents, progress, streams.begin)
        if walk.failed or not are_those(walk, reader) or not streams.rows.are_stored(reader):
            return None
        epochs = check_new_heads(walk, epochs)
        if any(walk.roots.get(head.size) != head.root for head in outside_heads(memory, required)):
            return None
        check_outside(walk, reader, epochs, memory, required)
    except (Problem, Invalid) as problem:
        if isinstance(problem, Problem) and problem.kind not in NOT_AS_WRITTEN:
            raise
        return None
    return None if walk.failed else report(walk, pin, epochs, memory, required)


def _resume(walk: Walk, reader: Reader, known: Verified, outside: list[Head]) -> Epochs:
    """Set *walk* behind the head in *known*; return the epochs up to there."""
    head, nodes = known.head, node_reader(reader)
    walk.size, walk.signed = reader.size(), head.size
    walk.frontier = merkle.Frontier.resume(head.size, nodes)
    if walk.frontier.root() != head.root:
        raise Invalid("another log")
    walk.roots[head.size] = head.root
    walk.heads = [stored for stored in reader.heads() if stored.size >= head.size]
    for other in outside:
        if other.size < head.size:
            check_continues(reader, other, head)
            walk.roots[other.size] = other.root
    walk.want(other.size for other in outside)
    last = nodes(0, head.size - 1)
    check_included(reader, head.size, last)
    walk.prev = last.hex()
    return walk_epochs(reader, known.epoch, upto=head.size)


class _Streams:
    """The streams that go on behind the head, each read up to there when its first event comes."""

    def __init__(self, walk: Walk, reader: Reader, project: Project, erase: Project) -> None:
        self._walk = walk
        self._reader = reader
        self._project = project
        self._erase = erase
        self.rows = _Touched()
        self.contents = Contents(walk, reader, project, self.rows, read_tombstones(reader))

    def begin(self, events: EventColumns) -> None:
        """Read what is before *events* in their streams."""
        for stream in set(events.streams) - self._walk.tails.keys():
            start = self._walk.start
            records, tail = read_chain(self._reader, stream, start, self.contents.tombstones)
            self._walk.tails[stream] = tail
            for record in records:
                self._take(record)

    def _take(self, record: Record) -> None:
        """Take what is before into the tables; a row that lost a text since then is touched."""
        self.rows.is_noting = False
        self._project(self.rows, record)
        self.rows.is_noting = True
        if record.erasure is not None and record.erasure.by > self._walk.start:
            self._erase(self.rows, record)


class _Touched(TableRows):
    """Tables of which only some rows are right: those that were touched while it was noting."""

    def __init__(self) -> None:
        super().__init__()
        self.is_noting = True
        self._touched: set[tuple[str, str]] = set()

    def put_row(self, table: str, key: str, value: bytes | None) -> None:
        super().put_row(table, key, value)
        if self.is_noting:
            self._touched.add((table, key))

    def are_stored(self, reader: Reader) -> bool:
        """Tell whether the rows that were touched are those in *reader*."""
        return all(reader.row(*place) == self.row(*place) for place in self._touched)
