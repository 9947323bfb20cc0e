"""Hand a Task, or the log, to somebody else: as a bundle that proves itself, or as JSON lines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from msgspec import structs

from memprove.ledger.operations.base import Answer, Operation, Progress, Work, about

_PROGRESS_EVERY = 1_000


class Exported(Answer, frozen=True, kw_only=True):
    """What went out: bytes, and how many events the log holds."""

    format: str
    length: int
    events: int
    size: int


@dataclass(frozen=True, slots=True)
class ExportTask(Operation[Exported]):
    """Hand the bundle of Task *task* to *take*; it shows that the log continues the heads *since*.

    With *outputs* what commands wrote goes along; without, it is named by its digest only.
    """

    sends: ClassVar = ("verifyLedger", "getTaskCapsule", "listTasks")

    take: Callable[[bytes], object]
    task: int | None = None
    since: tuple[bytes, ...] = ()
    outputs: bool = False

    def run(self, work: Work) -> Exported:
        """Make it."""
        task = work.current_task()[0] if self.task is None else work.task(self.task)
        data, events = work.bundle(task.id, since=self.since, outputs=self.outputs)
        self.take(data)
        return Exported(
            **about(task),
            format="bundle",
            length=len(data),
            events=events,
            size=work.size(),
        )


@dataclass(frozen=True, slots=True)
class ExportLines(Operation[Exported]):
    """Hand the events of Task *task*, else of the whole log, to *take*, each as a line of JSON."""

    sends: ClassVar = ("verifyLedger", "getTaskCapsule", "listTasks")

    take: Callable[[bytes], object]
    task: int | None = None
    progress: Progress | None = None

    def run(self, work: Work) -> Exported:
        """Read them, one after the other."""
        found = None if self.task is None else work.current_task(self.task)
        size, events, length = work.size(), 0, 0
        for line in work.lines(found[0].id if found else None):
            self.take(line)
            events, length = events + 1, length + len(line)
            if self.progress is not None and events % _PROGRESS_EVERY == 0:
                self.progress(events, size)
        told = Exported(format="jsonl", length=length, events=events, size=size)
        return structs.replace(told, **about(*found)) if found else told
