"""verify: everything that the log stands for is computed again and compared.

The checks, in order; each names the first event that is wrong:

1. store: the file is a ledger's, can be read, and keeps its rows and indexes as it should;
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

from collections.abc import Callable, Sequence
from typing import Final

from memprove.ledger.log.epochs import Epochs, Pin
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.report import CHECKS, CheckResult, Report
from memprove.ledger.log.verify_contents import Contents, Project, find_tombstones
from memprove.ledger.log.verify_heads import check_heads, check_outside, outside_heads
from memprove.ledger.log.verify_links import check_links
from memprove.ledger.log.verify_tree import check_nodes
from memprove.ledger.log.walk import TableRows, Walk
from memprove.ledger.storage.interface import EventColumns, Reader

Progress = Callable[[int, int], None]
_PROGRESS_EVERY: Final = 1_000


def verify(
    reader: Reader,
    pin: Pin,
    *,
    project: Project | None,
    progress: Progress | None = None,
    memory: Memory | None = None,
    required: bytes | None = None,
    earlier: Sequence[Pin] = (),
    tables: bool = True,
) -> Report:
    """Verify the whole log in *reader* against the key that is pinned in *pin*.

    It must also continue the head in *memory*, and the head in the signed note *required*. Without
    *project* the contents are left out: what payloads say, the blobs, the tables. Without *tables*
    these alone are not compared.
    """
    walk, rows, epochs = Walk(), TableRows(), Epochs([])
    with walk.making(*CHECKS[1:]):
        walk.size = reader.size()
        with walk.making("epochs", "head", "heads"):
            walk.heads = list(reader.heads())
        walk.want(head.size for head in outside_heads(memory, required))
        contents = None
        if project is not None:
            contents = Contents(walk, reader, project, rows, find_tombstones(reader))
        read_events(walk, reader, contents, progress)
        with walk.making("tree"):
            check_nodes(walk, reader)
        if "heads" not in walk.unmade:
            epochs = check_heads(walk, reader, pin, earlier)
        if contents is None:
            walk.unmade.update(("blobs", "projections"))
        elif tables:
            with walk.making("projections"):
                _check_projections(walk, reader, rows)
        else:
            walk.unmade.add("projections")
        check_outside(walk, reader, epochs, memory, required)
    if contents is not None and "store" not in walk.failed:
        _check_store(walk, reader)
    return report(walk, pin, epochs, memory, required)


def report(
    walk: Walk, pin: Pin, epochs: Epochs, memory: Memory | None, required: bytes | None
) -> Report:
    """Return what *walk* has found."""
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
        findings=walk.findings,
        erased=walk.erased,
        epoch_protected=min(epochs.newest.first - 1, walk.signed) if len(epochs) else 0,
        remembered=seen.head.size if seen and "remembered" not in walk.failed else None,
        unremembered=memory.why if memory is not None else "",
        skipped=walk.start,
    )


def read_events(
    walk: Walk,
    reader: Reader,
    contents: Contents | None,
    progress: Progress | None,
    prepare: Callable[[EventColumns], None] | None = None,
) -> None:
    """Check the events after ``walk.start``: each by itself, and that it follows.

    *prepare* is called with those that come next.
    """
    walk.want(head.size for head in walk.heads)
    walk.reading, done = walk.start + 1, walk.start
    for events in reader.columns(walk.start):
        if prepare is not None:
            prepare(events)
        check_links(walk, events)
        if contents is not None:
            contents.check(events)
        before, done = done, walk.frontier.size
        walk.reading = done + 1
        if progress is not None and done // _PROGRESS_EVERY > before // _PROGRESS_EVERY:
            progress(done // _PROGRESS_EVERY * _PROGRESS_EVERY, walk.size)
    walk.reading = None
    if "leaves" not in walk.failed:
        _check_tails(walk, reader)


def _check_tails(walk: Walk, reader: Reader) -> None:
    """Find events that stand outside the numbers of the log, where only their stream is read."""
    for stream, (count, _) in walk.tails.items():
        tail = reader.stream_tail(stream)
        if tail is None or tail.stream_seq != count:
            seq = tail.seq if tail else None
            walk.find("leaves", f"{stream} goes on outside the numbers of the log", seq)


def _check_store(walk: Walk, reader: Reader) -> None:
    """Find what no query of ours met: an index that leads elsewhere than its table."""
    with walk.making():
        for fault in reader.faults():
            walk.find("store", fault)


def _check_projections(walk: Walk, reader: Reader, rows: TableRows) -> None:
    stored = {table: dict(reader.rows(table)) for table in reader.tables()}
    rebuilt = {table: values for table, values in rows.tables.items() if values}
    for table in sorted(stored.keys() | rebuilt.keys()):
        have, want = stored.get(table, {}), rebuilt.get(table, {})
        for key in sorted(have.keys() | want.keys()):
            if have.get(key) != want.get(key):
                walk.find("projections", f"row {table}/{key} is not what the events give")
