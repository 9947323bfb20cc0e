"""A bundle for whoever verifies it: what is demanded of it, and the verdict."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memprove.cli import verdicts
from memprove.cli.invocation import here
from memprove.cli.verdicts import Fault, Verdict
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted, utc
from memprove.ledger.domain.record import Record
from memprove.ledger.problems import BUNDLE_INVALID, Problem
from memprove.ledger.review import Reviewed, review

_UNBELIEVED: Final = Fault(
    "fresh",
    "the change under test could have written its ignore list; name a commit with --base",
    title="memprove: ignore list unbelieved",
    label="ignore",
    state="unbelieved",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What is demanded of a bundle: under which keys, how new, of which Task, and what it shows."""

    trust: str
    base: str
    required: bytes | None
    task: int | None
    fresh: bool
    complete: bool
    spooled: bool
    later: str = ""


def judge(file: Path, demand: Demand) -> Verdict:
    """Return the verdict on the bundle in *file*."""
    try:
        reviewed = review(
            file,
            demand.trust,
            cwd=here(),
            base=demand.base,
            required=demand.required,
            later=Path(demand.later) if demand.later else None,
        )
    except Problem as problem:
        if problem.kind is not BUNDLE_INVALID:
            raise
        return _refused(problem)
    faults = _faults(reviewed, demand)
    return Verdict(
        checks=_checks(demand, faults),
        faults=faults,
        lines=(*verdicts.task_lines(reviewed.evidence), *_lines(reviewed)),
        summary=counted(len(faults), "finding") if faults else "the bundle holds",
        document={
            "findings": list(map(verdicts.fault_document, faults)),
            "task": verdicts.task_document(reviewed.evidence),
            "bundle": _document(reviewed),
        },
    )


def _faults(reviewed: Reviewed, demand: Demand) -> tuple[Fault, ...]:
    faults: list[Fault] = []
    number = reviewed.opened.capsule.number
    if demand.task not in (None, number):
        faults.append(Fault("bundle", f"it is of Task {number}, not {demand.task}"))
    if demand.fresh and reviewed.unbelieved:
        faults.append(_UNBELIEVED)
    _, found = verdicts.judged(
        reviewed.evidence, fresh=demand.fresh, complete=demand.complete, spooled=demand.spooled
    )
    return (*faults, *found)


def _checks(demand: Demand, faults: tuple[Fault, ...]) -> tuple[tuple[str, bool], ...]:
    wrong = {fault.check for fault in faults}
    asked = {"bundle": True, "fresh": demand.fresh, "complete": demand.complete}
    return tuple((name, name not in wrong) for name, is_asked in asked.items() if is_asked)


def _lines(reviewed: Reviewed) -> list[str]:
    opened = reviewed.opened
    head, last = opened.head, opened.records[-1].leaf
    lines = [
        f"{counted(len(opened.records), 'event')}, the last at {utc(last.at)}",
        f"head of {counted(head.size, 'event')} at {utc(opened.at)} · epoch {opened.epoch}"
        f" of {printing.name(head.origin)} · root {head.root.hex()}",
    ]
    if opened.required is not None:
        lines.append(f"it continues the required head of {counted(opened.required, 'event')}")
    if opened.left_out:
        lines.append(f"not in the bundle: {counted(len(opened.left_out), 'output')} of commands")
    lines += [f"erased: {_erasure(record)}" for record in opened.erased]
    lines += [f"erased since, and still in here: {_erasure(one)}" for one in reviewed.erased_since]
    return lines


def _erasure(record: Record) -> str:
    """Return which fields of an event were erased and why, printable."""
    erasure, leaf = record.erasure, record.leaf
    assert erasure is not None  # it is of those that were
    labels = "".join(f" {label}" for label in leaf.labels)
    fields = ", ".join(map(printing.escape, erasure.fields))
    what = f"event {leaf.seq} {printing.escape(leaf.kind)}{labels}: {fields}"
    return f"{what} by event {erasure.by}, {printing.quoted(erasure.reason)}"


def _erased_document(record: Record) -> dict[str, Any]:
    erasure, leaf = record.erasure, record.leaf
    assert erasure is not None  # as above
    return {
        "event": leaf.seq,
        "kind": leaf.kind,
        "labels": leaf.labels,
        "fields": erasure.fields,
        "reason": erasure.reason,
        "by": erasure.by,
    }


def _document(reviewed: Reviewed) -> dict[str, Any]:
    opened = reviewed.opened
    return {
        "origin": opened.head.origin,
        "events": len(opened.records),
        "size": opened.head.size,
        "root": opened.head.root.hex(),
        "at": opened.at,
        "epoch": opened.epoch,
        "required": opened.required,
        "left_out": opened.left_out,
        "erased": list(map(_erased_document, opened.erased)),
        "erased_since": list(map(_erased_document, reviewed.erased_since)),
    }


def _refused(problem: Problem) -> Verdict:
    fault = Fault("bundle", printing.escape(problem.detail))
    return Verdict(
        checks=(("bundle", False),),
        faults=(fault,),
        lines=(),
        summary="the bundle does not hold; do not rely on it",
        document={
            "findings": [verdicts.fault_document(fault)],
            "task": None,
            "bundle": None,
        },
    )
