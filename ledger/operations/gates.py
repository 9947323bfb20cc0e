"""Judge a Task for CI: on the tree as it is, with the ignore list that a base commit has."""

from dataclasses import dataclass
from typing import ClassVar

from memprove.ledger.domain.evidence import Evidence
from memprove.ledger.operations.base import Operation, Work


@dataclass(frozen=True, slots=True)
class TaskJudged:
    """The evidence of a Task, and whether its owner lets *spooled* Runs count."""

    evidence: Evidence
    spooled: bool


@dataclass(frozen=True, slots=True)
class JudgeTask(Operation[TaskJudged]):
    """Judge Task *task*, else the current one; the ignore list is that of *base* if it is named."""

    sends: ClassVar = ("getTaskCapsule", "listTasks", "verifyLedger")
    verbatim: ClassVar = frozenset({"base"})

    task: int | None = None
    base: str = ""

    def run(self, work: Work) -> TaskJudged:
        """Fold and judge."""
        task, _ = work.current_task(self.task)
        evidence = work.evidence(work.capsule(task.id), self.base)
        return TaskJudged(evidence, work.spooled_counts())
