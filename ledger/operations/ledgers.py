"""Read the log itself: list events, show what a label names, verify."""

from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec

from memprove.ledger.domain.capsule import Capsule
from memprove.ledger.domain.evidence import Evidence
from memprove.ledger.domain.labels import parse_label
from memprove.ledger.domain.record import Erased, Record, Unknown
from memprove.ledger.log.report import Report, unreadable
from memprove.ledger.operations.base import Inspection, Log, Operation, Progress, Work
from memprove.ledger.problems import ARGUMENT_INVALID, LABEL_UNKNOWN, LEDGER_DAMAGED

_MOST_OUTPUT: Final = 8 * 1024 * 1024 + 64 * 1024  # bytes of a stream: what is kept, and room


class EventTold(msgspec.Struct, frozen=True, kw_only=True):
    """One event as people and programs read it; *payload* None: gone, or of a newer program.

    *erased_by* is the number of the event that erased the payload, of which the rest is here.
    """

    seq: int
    at: int
    kind: str
    labels: tuple[str, ...]
    stream: str
    role: str
    face: str
    session: int | None
    agent_env: bool
    payload: dict[str, object] | None
    erased_by: int | None = None


class EventList(msgspec.Struct, frozen=True, kw_only=True):
    """Events in log order; *size* is how many the log holds."""

    events: tuple[EventTold, ...]
    size: int


@dataclass(frozen=True, slots=True)
class ReadLog(Operation[EventList]):
    """Read the newest *limit* events (after number *after*: the next), of Task *task* if named."""

    sends: ClassVar = ("getTaskCapsule", "listTasks")

    task: int | None = None
    after: int | None = None
    limit: int = 50

    def run(self, work: Work) -> EventList:
        """Read them."""
        if self.limit < 1:
            raise ARGUMENT_INVALID("limit is a number from 1")
        size = work.size()
        if self.task is not None:
            records = work.task_records(work.task(self.task).id)
            if self.after is not None:
                records = [r for r in records if r.seq > (self.after or 0)][: self.limit]
            records = records[-self.limit :]
        else:
            start = self.after if self.after is not None else max(0, size - self.limit)
            records = list(work.records(start, start + self.limit))
        return EventList(events=tuple(event_told(record) for record in records), size=size)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a label or a number names: an event, or something of a Capsule."""

    label: str
    capsule: Capsule
    evidence: Evidence | None = None
    event: EventTold | None = None
    output: bytes | None = None


@dataclass(frozen=True, slots=True)
class Show(Operation[Shown]):
    """Show a Run, claim, open item or Decision by its label, or an event by its number."""

    sends: ClassVar = ("getTaskCapsule", "listTasks", "resolveWorkspace")

    label: str
    task: int | None = None
    output: bool = False

    def run(self, work: Work) -> Shown:
        """Read it."""
        if self.label.isascii() and self.label.isdigit():
            return self._event(work, int(self.label[:18]))
        label = parse_label(self.label, "rwcodx")
        if label.startswith("w"):
            capsule, evidence = work.loose_runs(), None
        else:
            capsule = work.capsule(work.current_task(self.task)[0].id)
            evidence = work.evidence(capsule) if label.startswith("c") else None
        named = (capsule.runs, capsule.claims, capsule.open_items, capsule.decisions)
        if not any(label in mapping for mapping in named):
            raise LABEL_UNKNOWN(label)
        output = _output(work, capsule, label) if self.output else None
        return Shown(label, capsule, evidence, output=output)

    def _event(self, work: Work, seq: int) -> Shown:
        for record in work.records(seq - 1, seq):
            return Shown(self.label, Capsule(), event=event_told(record))
        raise LABEL_UNKNOWN(f"no event {seq}")


@dataclass(frozen=True, slots=True)
class VerifyLedger(Inspection[Report]):
    """Recompute and compare what the log stands for: all of it if *full*, else what is new."""

    sends: ClassVar = ("verifyLedger",)

    progress: Progress | None = None
    required: bytes | None = None
    full: bool = False

    def inspect(self, log: Log) -> Report:
        """Verify."""
        return log.verify(self.progress, self.required, full=self.full)

    def damaged(self, what: str) -> Report:
        """Return the report on what cannot be verified."""
        return unreadable(what)


class BackedUp(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of the ledger: how many events it holds, and the root over them."""

    file: str
    size: int
    root: str


@dataclass(frozen=True, slots=True)
class BackUpLedger(Inspection[BackedUp]):
    """Write a copy of the whole ledger to *file*, an absolute path, and verify it."""

    sends: ClassVar = ("verifyLedger",)
    verbatim: ClassVar = frozenset({"file"})

    file: str
    progress: Progress | None = None

    def inspect(self, log: Log) -> BackedUp:
        """Back up."""
        report = log.back_up(self.file, self.progress)
        return BackedUp(file=self.file, size=report.size, root=report.root)

    def damaged(self, what: str) -> BackedUp:
        """Refuse: what is damaged is no backup."""
        raise LEDGER_DAMAGED(what)


def event_told(record: Record) -> EventTold:
    """Return *record* for reading."""
    leaf, event = record.leaf, record.event
    opaque = isinstance(event, Unknown | Erased)
    return EventTold(
        seq=leaf.seq,
        at=leaf.at,
        kind=leaf.kind,
        labels=leaf.labels,
        stream=leaf.stream,
        role=leaf.actor.role,
        face=leaf.actor.face,
        session=leaf.actor.session,
        agent_env=leaf.actor.agent_env,
        payload=None if opaque else msgspec.to_builtins(event),
        erased_by=record.erasure.by if record.erasure else None,
    )


def _output(work: Work, capsule: Capsule, label: str) -> bytes | None:
    """Return what the Run wrote, as far as it was kept, standard output first."""
    run = capsule.runs.get(label)
    if run is None or run.ended is None:
        return None
    kept = (run.ended.stdout.blob, run.ended.stderr.blob)
    return b"".join(work.blob(digest, _MOST_OUTPUT) for digest in kept if digest is not None)
