"""Record that a command begins and how it ended; find the recorded command of a Run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from memprove.ledger.domain import limits
from memprove.ledger.domain.events import NoteRecorded, RunEnded, RunStarted
from memprove.ledger.domain.labels import Citation, parse_label
from memprove.ledger.domain.record import Draft
from memprove.ledger.domain.run import Run
from memprove.ledger.operations.base import Answer, Operation, Receipt, Work, about_session
from memprove.ledger.problems import (
    LABEL_UNKNOWN,
    SESSION_AMBIGUOUS,
    SESSION_ENDED,
    SESSION_MISSING,
    Problem,
)
from memprove.ledger.projections import SessionRow

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule


class RunTold(Receipt, frozen=True, kw_only=True):
    """The label of a Run; ``w`` labels stand outside any Session."""

    run: str


@dataclass(frozen=True, slots=True)
class StartRun(Operation[RunTold]):
    """Record that a command is about to run. *blobs* are what *started* refers to."""

    sends: ClassVar = ("recordRun", "listSessions", "resolveWorkspace")
    verbatim: ClassVar = frozenset({"worktree"})

    started: RunStarted
    blobs: tuple[bytes, ...] = ()
    session: int | None = None

    def run(self, work: Work) -> RunTold:
        """Append it to the Session's Task, else to the Workspace."""
        session = self._session(work)
        for data in self.blobs:
            work.put_blob(data)
        if session is None:
            draft = Draft(self.started, ("w",))
            record = work.append(draft, workspace=work.workspace().id)
            return RunTold(run=record.labels[0], seq=record.seq)
        draft = Draft(self.started, ("r",))
        record = work.append(draft, task=session.task_id, session=session.number)
        return RunTold(**about_session(session), run=record.labels[0], seq=record.seq)

    def _session(self, work: Work) -> SessionRow | None:
        try:
            return work.session(self.session)
        except Problem as problem:
            outside = (SESSION_MISSING, SESSION_ENDED, SESSION_AMBIGUOUS)
            if problem.kind in outside and self.session is None:
                return None
            raise


@dataclass(frozen=True, slots=True)
class RecordNote(Operation[int]):
    """Note that the caller ran tests unrecorded; return the event's number, 0 without a Session."""

    sends: ClassVar = ("recordRun", "listSessions", "resolveWorkspace")

    command: str
    failed: bool = False

    def run(self, work: Work) -> int:
        """Append it to the Task of the caller's Session."""
        try:
            session = work.session()
        except Problem as problem:
            if problem.kind in (SESSION_MISSING, SESSION_ENDED, SESSION_AMBIGUOUS):
                return 0
            raise
        kept = self.command[: limits.STATEMENT]
        note = NoteRecorded(command=kept, cut=len(self.command) - len(kept), failed=self.failed)
        record = work.append(Draft(note, ()), task=session.task_id, session=session.number)
        return record.seq


@dataclass(frozen=True, slots=True)
class EndRun(Operation[RunTold]):
    """Record how the Run that *started* names ended. *blobs* are what *ended* refers to."""

    sends: ClassVar = ("recordRun", "listSessions", "resolveWorkspace")
    verbatim: ClassVar = frozenset({"worktree"})

    started: RunTold
    ended: RunEnded
    blobs: tuple[bytes, ...] = ()

    def run(self, work: Work) -> RunTold:
        """Append it where its start is; the Session may have ended meanwhile."""
        for data in self.blobs:
            work.put_blob(data)
        task = self.started.task_id
        workspace = work.workspace().id if task is None else None
        record = work.append(
            Draft(self.ended), task=task, workspace=workspace, session=self.started.session
        )
        return RunTold(
            task_id=task,
            session_id=self.started.session_id,
            task=self.started.task,
            session=self.started.session,
            run=self.started.run,
            seq=record.seq,
        )


class RunList(Answer, frozen=True, kw_only=True):
    """Runs whose commands are to run again, and the claims that rest on each."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class FindRuns(Operation[RunList]):
    """Find the Runs to run again: by *label* (``r3``, ``w1``, ``c7``), or behind *stale* claims."""

    sends: ClassVar = ("getTaskCapsule", "listTasks", "listSessions", "resolveWorkspace")

    label: str = ""
    stale: bool = False

    def run(self, work: Work) -> RunList:
        """Read them, each Check once."""
        if self.label.startswith("w"):
            label = parse_label(self.label, "w")
            return RunList(runs=(_known(work.loose_runs(), label),))
        session = work.session()  # without one, a new Run would stand outside the Task
        capsule = work.capsule(session.task_id)
        found = {run.check: run for run in self._find(work, capsule)}
        return RunList(**about_session(session), runs=tuple(found.values()))

    def _find(self, work: Work, capsule: Capsule) -> Iterator[Run]:
        from memprove.ledger.domain.evidence import ProofState  # late: only a rerun needs it

        if self.stale:
            evidence = work.evidence(capsule)
            for claim in capsule.claims.values():
                proof = evidence.prove(claim)
                if proof.state is ProofState.STALE:
                    yield from (capsule.runs[c.label] for c in claim.evidence if _proves(c))
            return
        label = parse_label(self.label, "rcx")
        if not label.startswith("c"):
            yield _known(capsule, label)
            return
        if label not in capsule.claims:
            raise LABEL_UNKNOWN(label)
        yield from (capsule.runs[c.label] for c in capsule.claims[label].evidence if c.is_run)


def _proves(citation: Citation) -> bool:
    return citation.is_run and not citation.failed


def _known(capsule: Capsule, label: str) -> Run:
    if label not in capsule.runs:
        raise LABEL_UNKNOWN(label)
    return capsule.runs[label]
