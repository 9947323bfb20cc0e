"""What ``verify`` found, for people, for programs and for GitHub: one verdict in three formats."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, assert_never

from memprove.cli import github
from memprove.cli.github import Annotation
from memprove.cli.invocation import Invocation
from memprove.ledger.domain import gate, printing
from memprove.ledger.domain.events import COUNTING
from memprove.ledger.domain.evidence import Evidence
from memprove.ledger.domain.lines import Lines

_TITLE = "memprove verify"


class Format(StrEnum):
    """How to print a verdict."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not hold. *title* is short; *line* is printable already."""

    check: str
    line: str
    title: str = _TITLE
    label: str = ""
    state: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """All that was found.

    *checks*: by name, whether they hold. *lines*: about what was looked at; *after*: more of it,
    for people alone. *document*: what programs get beside ``ok``.
    """

    checks: tuple[tuple[str, bool], ...]
    faults: tuple[Fault, ...]
    lines: tuple[str, ...]
    summary: str
    after: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Tell whether nothing was found."""
        return not self.faults and all(ok for _, ok in self.checks)


def chosen(asked: Format | None, *, as_json: bool) -> Format:
    """Return the format that was asked for; else a runner of GitHub gets its own, others text."""
    if as_json:
        return Format.JSON
    return asked or (Format.GITHUB if github.here() else Format.TEXT)


def tell(call: Invocation, verdict: Verdict, form: Format) -> None:
    """Print *verdict*."""
    match form:
        case Format.JSON:
            call.answer({**verdict.document, "ok": verdict.ok})
        case Format.TEXT:
            call.output.print(*_text(verdict))
        case Format.GITHUB:
            errors = [_annotation(fault) for fault in verdict.faults]
            notice = "\n".join([*verdict.lines, verdict.summary])
            lines = github.annotations(errors, Annotation(_TITLE, notice))
            call.output.print(*github.defused(lines))  # wherever they are printed: a runner reads
        case unknown:
            assert_never(unknown)


def judged(
    evidence: Evidence, *, fresh: bool, complete: bool, spooled: bool
) -> tuple[tuple[tuple[str, bool], ...], tuple[Fault, ...]]:
    """Return the checks of the gate that were asked for, and what they find."""
    checks: list[tuple[str, bool]] = []
    faults: list[Fault] = []
    for name, asked in (("fresh", fresh), ("complete", complete)):
        if asked:
            found = gate.shortfalls(
                evidence, fresh=name == "fresh", complete=name == "complete", spooled=spooled
            )
            checks.append((name, not found))
            faults += [_fault(name, shortfall) for shortfall in found]
    return tuple(checks), tuple(faults)


def task_lines(evidence: Evidence) -> Iterator[str]:
    """Yield what the Task is, and what stands behind its claims and Checks on today's tree."""
    lines, today = Lines(evidence), evidence.today
    yield lines.task()
    if today.tree is not None:
        yield f"on tree {printing.name(today.tree)}"
    proofs = gate.proofs(evidence)
    for state, pairs in groupby(proofs, key=lambda pair: pair[1].state):
        told = [lines.claim(claim, proof) for claim, proof in pairs]
        yield f"{state.capitalize()} ({len(told)})"
        yield from (f"  {line}" for line in told)
    runs = [run for run in evidence.checks() if run.kind in COUNTING]
    if runs:
        yield f"Checks ({len(runs)})"
        yield from (f"  {lines.run(run)}" for run in runs)


def task_document(evidence: Evidence) -> dict[str, Any]:
    """Return the Task for programs, with what stands behind its claims on today's tree."""
    capsule, today = evidence.capsule, evidence.today
    return {
        "task": capsule.number,
        "task_id": capsule.id,
        "title": capsule.title,
        "state": capsule.state,
        "tree": today.tree,
        "reason": today.reason,
        "ignore": today.ignore,
        "claims": [
            {
                "claim": claim.label,
                "text": claim.text,
                "proof": proof.state,
                "spooled": proof.spooled,
                "runs": [run.label for run in proof.runs],
                "changed": proof.paths,
                "reason": proof.reason,
            }
            for claim, proof in gate.proofs(evidence)
        ],
    }


def fault_document(fault: Fault) -> dict[str, Any]:
    """Return *fault* for programs."""
    return {
        "check": fault.check,
        "label": fault.label,
        "state": fault.state,
        "what": fault.line,
        "paths": fault.paths,
    }


def _fault(check: str, shortfall: gate.Shortfall) -> Fault:
    title = f"memprove: {shortfall.label} {shortfall.state}"
    return Fault(check, shortfall.line, title, shortfall.label, shortfall.state, shortfall.paths)


def _text(verdict: Verdict) -> list[str]:
    lines = [f"{'ok    ' if ok else 'FAILED'} {name}" for name, ok in verdict.checks]
    lines += [f"  {_named(fault)}" for fault in verdict.faults]
    return [*lines, *verdict.lines, verdict.summary, *verdict.after]


def _named(fault: Fault) -> str:
    return f"{fault.check}: {fault.state} · {fault.line}" if fault.state else fault.line


def _annotation(fault: Fault) -> Annotation:
    path = fault.paths[0] if fault.paths else ""
    plain = path.isprintable() and path.isascii()
    return Annotation(fault.title, _named(fault), path if plain else "")
