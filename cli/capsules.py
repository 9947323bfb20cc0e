"""A Capsule for people: what ``show``, ``task show`` and ``decisions list`` print of it.

These look at what was recorded, not at today's tree; ``claims`` and ``resume`` do.
"""

from collections.abc import Iterator

from memprove.ledger.domain import printing
from memprove.ledger.domain.capsule import Capsule, Decision, Move, OpenItem
from memprove.ledger.domain.events import StreamKept, TestCounts
from memprove.ledger.domain.evidence import Evidence, Today
from memprove.ledger.domain.lines import Lines, counted, utc
from memprove.ledger.domain.run import Run, Verdict


def plain_lines(capsule: Capsule) -> Lines:
    """Return the lines of *capsule*, uncut, for what needs no look at the tree."""
    return Lines(Evidence(capsule, Today(None)))


def task(capsule: Capsule) -> Iterator[str]:
    """Yield what a Task is, how it got where it stands, and who worked on it."""
    lines = plain_lines(capsule)
    yield f"Task {capsule.number} · {capsule.state} · {printing.quoted(capsule.title)}"
    if capsule.description:
        yield f"  description {printing.quoted(capsule.description)}"
    for move in capsule.moves:
        yield f"  {_moved(move)}"
    for session in capsule.sessions.values():
        yield f"  {lines.session(session)}"
    if capsule.next_action is not None:
        yield f"  {lines.next_action()}"
    for item in capsule.live_items():
        yield f"  {lines.item(item)}"
    for decision in capsule.decisions.values():
        yield f"  {lines.decision(decision)}"
    yield f"  {counted(len(capsule.claims), 'claim')}, {counted(len(capsule.runs), 'Run')}"


def run(capsule: Capsule, found: Run) -> Iterator[str]:
    """Yield what a Run was and how it ended, with the end of what it wrote."""
    yield plain_lines(capsule).run(found)
    yield f"  command {printing.command(found.started.argv, limit=1 << 30)}"
    yield f"  directory {printing.code(found.started.cwd or '.')}"
    yield f"  started {utc(found.at)}, event {found.seq}"
    if found.started.rerun_of:
        yield f"  rerun of {found.started.rerun_of}"
    yield f"  verdict {found.verdict}: {_why(found)}"
    yield f"  tree before {_tree(found.started.tree.id, found.started.tree.reason)}"
    ended = found.ended
    if ended is None:
        return
    yield f"  tree after {_tree(ended.tree.id, ended.tree.reason)}"
    if ended.counts is not None:
        yield f"  counts {_counts(found)}"
    for what, paths in (("changed", ended.moved), ("produced", ended.products)):
        if paths:
            yield f"  {what} {', '.join(map(printing.code, paths))}"
    yield from (f"  note {printing.escape(note)}" for note in ended.notes)
    yield from _stream("stdout", ended.stdout)
    yield from _stream("stderr", ended.stderr)


def item(capsule: Capsule, found: OpenItem) -> Iterator[str]:
    """Yield an open item, and whether it is still open."""
    yield plain_lines(capsule).item(found)
    yield f"  opened {utc(found.stated.at)}, event {found.stated.seq}"
    if found.closed is not None:
        yield f"  closed {utc(found.closed.at)}, event {found.closed.seq}"


def decision(capsule: Capsule, found: Decision) -> Iterator[str]:
    """Yield a Decision with its citations and the owner's comment."""
    yield plain_lines(capsule).decision(found)
    yield f"  proposed {utc(found.stated.at)}, event {found.stated.seq}"
    if found.supersedes:
        yield f"  supersedes {found.supersedes}"
    if found.evidence:
        yield f"  cites {printing.escape(' '.join(found.evidence))}"
    if found.comment:
        yield f"  {found.state} because {printing.quoted(found.comment)}"


def _moved(move: Move) -> str:
    where = f" in Session {move.stated.session}" if move.stated.session is not None else ""
    comment = f" because {printing.quoted(move.comment)}" if move.comment else ""
    when = f"{utc(move.stated.at)}{where}, event {move.stated.seq}"
    return f"{move.source} to {move.target} {when}{comment}"


def _why(found: Run) -> str:
    """Return what the verdict rests on, in a few words."""
    ended = found.ended
    if ended is None:
        return "its end was never recorded"
    match found.verdict:
        case Verdict.INTERRUPTED:
            return f"signal {ended.signal}"
        case Verdict.MASKED:
            return printing.escape(ended.masked)
        case Verdict.VACUOUS:
            return "no test gave a result"
        case Verdict.MOVED:
            return "it changed tracked files"
        case _ if ended.timed_out:
            return "it ran out of time"
        case _ if ended.error:
            return printing.escape(ended.error)
        case _ if ended.exit is None:
            return f"signal {ended.signal}"
        case _:
            return f"exit code {ended.exit}"


def _tree(id: str | None, reason: str) -> str:
    return printing.name(id) if id is not None else f"unknown: {printing.escape(reason)}"


def _counts(found: Run) -> str:
    counts = found.ended.counts if found.ended else None
    if counts is None:
        return ""
    return (
        f"{counts.passed} passed, {counts.failed} failed, {counts.errors} errors,"
        f" {counts.skipped} skipped, {_source(counts)}"
    )


def _stream(name: str, kept: StreamKept) -> Iterator[str]:
    redacted = ", secrets cut" if kept.redacted else ""
    cut = f", {kept.cut} in the middle not kept" if kept.cut else ""
    digest = f", sha256 {kept.sha256}" if kept.sha256 else ""
    if not kept.length:
        return
    yield f"  {name} {counted(kept.length, 'byte')}{cut}{redacted}{digest}"
    yield from (f"    | {printing.escape(line)}" for line in kept.tail.rstrip("\n").split("\n"))


def _source(counts: TestCounts) -> str:
    if counts.source == "junit":
        return "from the JUnit report"
    return f"as {printing.name(counts.runner)} says in its {printing.escape(counts.source)}"
