"""A Run: one recorded command, its two events, and the verdict derived from them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from memprove.ledger.domain.events import RunEnded, RunKind, RunStarted, TreeState
from memprove.ledger.domain.labels import is_spooled
from memprove.ledger.domain.record import Record


class Verdict(StrEnum):
    """How a Run ended; only ``passed`` proves anything. First match in this order."""

    LOST = "lost"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    MASKED = "masked"
    VACUOUS = "vacuous"
    MOVED = "moved"
    PASSED = "passed"


Check = tuple[tuple[str, ...], str]
"""What makes two Runs one Check: argv as stored, and the directory below the Workspace root."""


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded command."""

    label: str
    seq: int
    at: int
    session: int | None
    started: RunStarted
    ended: RunEnded | None = None

    @property
    def check(self) -> Check:
        """Return the Check it is a Run of."""
        return self.started.argv, self.started.cwd

    @property
    def kind(self) -> RunKind:
        """Return its kind, which its end decides."""
        return self.ended.kind if self.ended else self.started.kind

    @property
    def tree(self) -> TreeState:
        """Return the tree it counts for: that at its end, with what it produced."""
        return self.ended.tree if self.ended else self.started.tree

    @property
    def spooled(self) -> bool:
        """Tell whether it came from the spool: recorded by hearsay, after it was made."""
        return self.ended is not None and self.ended.spooled > 0

    @property
    def verdict(self) -> Verdict:
        """Return how it ended."""
        return verdict(self.ended)


def verdict(ended: RunEnded | None) -> Verdict:
    """Return the verdict on a Run that ended as *ended* (None: it never did)."""
    if ended is None:
        return Verdict.LOST
    if ended.signal is not None and not ended.crashed:
        return Verdict.INTERRUPTED
    if ended.exit != 0:
        return Verdict.FAILED
    if ended.masked:
        return Verdict.MASKED
    if ended.counts_needed and (ended.counts is None or ended.counts.ran == 0):
        return Verdict.VACUOUS
    if ended.moved:
        return Verdict.MOVED
    return Verdict.PASSED


def take(runs: dict[str, Run], record: Record) -> None:
    """Take *record* into *runs* (by label) if it is of a Run whose start is known."""
    leaf, event = record.leaf, record.event
    if isinstance(event, RunStarted):
        label = leaf.labels[0]
        runs[label] = Run(label, leaf.seq, leaf.at, leaf.actor.session, event)
    elif isinstance(event, RunEnded) and event.run in runs:
        run = runs[event.run]
        at = event.spooled_at if is_spooled(event.run) else run.at
        runs[event.run] = replace(run, ended=event, at=at)


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Return *runs*, which are in log order, as they happened.

    A spooled Run was adopted later than it was made: it stands before those that began after it by
    the clock. Else a pass that was spooled would hide a failure that came after it.
    """
    listed = list(runs)
    for run in [run for run in listed if is_spooled(run.label)]:
        place = listed.index(run)
        later = [i for i, other in enumerate(listed[:place]) if other.at > run.at]
        if later:
            listed.insert(later[0], listed.pop(place))
    return listed


def blobs_of(event: object) -> list[str]:
    """Return the digests of the blobs that *event* names."""
    match event:
        case RunStarted(tree=tree):
            named = [tree.snapshot]
        case RunEnded(tree=tree, stdout=stdout, stderr=stderr, outcomes=outcomes):
            named = [tree.snapshot, stdout.blob, stderr.blob, outcomes]
        case _:
            named = []
    return [digest for digest in named if digest is not None]
