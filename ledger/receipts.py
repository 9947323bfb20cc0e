"""What the answers of operations say in plain lines, alike on the command line and in the tools.

Stored text is shown as ``domain/printing.py`` has it, so no line can be mistaken for another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from memprove.ledger.domain import printing

if TYPE_CHECKING:
    from memprove.ledger.log.report import Finding, Report
    from memprove.ledger.operations.checkpoints import Checkpointed
    from memprove.ledger.operations.contexts import ContextTold
    from memprove.ledger.operations.decisions import DecisionTold
    from memprove.ledger.operations.packs import Claims
    from memprove.ledger.operations.sessions import Begun, Ended
    from memprove.ledger.operations.tasks import Completed, TaskList

REPLAYED: Final = "the same request was recorded before; this is its answer again"


def begun(told: Begun) -> str:
    """Return which Session was begun, by whom, on which Task."""
    role = f" ({printing.name(told.role)})" if told.role else ""
    new = "new Task" if told.created else "Task"
    under = f" · under Session {told.parent}" if told.parent is not None else ""
    title = printing.quoted(told.title)
    who = f"{printing.name(told.agent)}{role}"
    return f"Session {told.session} begun by {who} · {new} {told.task} {title}{under}"


def ended(told: Ended) -> str:
    """Return which Session was ended, and where that leaves its Task."""
    how = "ended as abandoned" if told.abandoned else "ended"
    return f"Session {told.session} {how} · Task {told.task} is {told.state}"


def checkpointed(told: Checkpointed) -> str:
    """Return the labels that a checkpoint gave, and what it did to earlier ones."""
    parts = [
        f"{' '.join(labels)} {what}"
        for labels, what in (
            ((*told.claims, *told.open_items), "recorded"),
            (told.closed, "closed"),
            (told.reaffirmed, "reaffirmed"),
            (told.withdrawn, "withdrawn"),
        )
        if labels
    ]
    if told.asserted:
        parts.append(f"{' '.join(told.asserted)} asserted: no Run cited")
    if told.next_action:
        parts.append("next action recorded")
    return " · ".join(parts) or "nothing new: all of it stands already"


def decided(told: DecisionTold) -> str:
    """Return a Decision's label and where it stands."""
    return f"{told.decision} {told.state}"


def completed(told: Completed) -> str:
    """Return which Task was completed, on which Runs."""
    judged = [f"{run.run} {run.verdict}{'' if run.fresh else ', stale'}" for run in told.judged]
    return " · ".join([f"Task {told.task} completed {printing.quoted(told.title)}", *judged])


def claims(read: Claims) -> list[str]:
    """Return claims uncut, each with its history."""
    from memprove.ledger.domain.lines import Lines  # late: no other receipt needs them

    lines = Lines(read.evidence)
    printed: list[str] = []
    for told in read.told.claims:
        claim = read.capsule.claims[told.claim]
        printed += [lines.claim(claim), *lines.claim_history(claim)]
    return printed or ["no such claims"]


def context(told: ContextTold) -> Iterator[str]:
    """Yield what the local file says, as its own words that nobody checked."""
    client = printing.name(told.client)
    if told.context is None:
        yield f"local files, not checked: no context of {client} here"
        return
    found = told.context
    role = f" ({printing.name(found.role)})" if found.role else ""
    who = f"{printing.name(found.agent)}{role}"
    yield f"local files, not checked: context of {client}"
    yield f"Task {found.task_number}, Session {found.session_number}, {who}"
    yield f"  Task {found.task}, Session {found.session}"
    yield from (f"  {label} {verdict}" for label, verdict in found.runs)


def tasks(told: TaskList) -> list[str]:
    """Return a line for each Task, and whether more follow."""
    lines = [
        f"Task {task.number} · {task.state} · {printing.quoted(task.title)}" for task in told.tasks
    ]
    if told.next is not None:
        lines.append(f"more follow: after {told.next}")
    return lines or ["no Tasks"]


def verified(report: Report) -> list[str]:
    """Return what was checked, what was found, and how much of the log holds."""
    lines = [f"{'ok    ' if check.ok else 'FAILED'} {check.check}" for check in report.checks]
    lines += [f"  {finding(found)}" for found in report.findings]
    return [*lines, verdict(report), *protection(report)]


def finding(found: Finding) -> str:
    """Return one thing that verification found."""
    where = f"event {found.seq}: " if found.seq is not None else ""
    code = f"{found.code}: " if found.code else ""
    return f"{found.check}: {where}{code}{printing.escape(found.what)}"


def verdict(report: Report) -> str:
    """Return in a line what verification came to."""
    from memprove.ledger.domain.lines import counted  # late, as above

    size = counted(report.size, "event")
    if report.ok:
        erased = f" · {counted(report.erased, 'payload')} erased" if report.erased else ""
        before = f" · 1–{report.skipped} not re-read" if report.skipped else ""
        return f"{size} verified{before}{erased} · root {report.root}"
    found = counted(len(report.findings), "finding")
    return f"{found} in {size} · the newest head that holds: {report.signed}"


def protection(report: Report) -> list[str]:
    """Return which events are protected by what: a signature, an erased key, our memory."""
    if not report.origin:
        return []
    remembered = f"remembered {_upto(report.remembered or 0)}"
    if report.remembered is None and report.unremembered:
        remembered = f"remembered: none ({printing.escape(report.unremembered)})"
    signed, erased = _upto(report.signed), _upto(report.epoch_protected)
    return [f"signed {signed} · under erased keys {erased} · {remembered}"]


def _upto(size: int) -> str:
    return f"1–{size}" if size else "none"


def notes(said: Iterable[str]) -> list[str]:
    """Return what the ledger notes beside an answer, which may hold what others wrote."""
    return [printing.escape(note) for note in said]
