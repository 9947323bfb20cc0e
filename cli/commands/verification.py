"""``verify``: compute again everything that the log stands for, and compare."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from memprove.cli import options, progress
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted
from memprove.ledger.exported import read_head
from memprove.ledger.log.report import Finding, Report
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.problems import Problem

FOUND = 3

app = verbs()


class Format(StrEnum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@app.command()
def verify(
    context: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="Compute all of it again, whatever was verified before.")
    ] = False,
    format: Annotated[
        Format, typer.Option(help="github: as workflow commands.", case_sensitive=True)
    ] = Format.TEXT,
    require_head: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The log must continue the signed head in FILE."),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Verify the ledger: events, chains, tree, signed heads, tables.

    The exit code is 3 if anything is not as it was written.

    Examples:
      memprove verify
      memprove verify --require-head .memprove/head
      memprove verify --full --format github
      memprove verify --json

    """
    as_json = as_json or format is Format.JSON
    call = invoked(context, as_json=as_json)
    required = read_head(Path(given(require_head)).expanduser()) if require_head else None
    with progress.shown("verified", call.output) as shown:
        report = call.execute(VerifyLedger(progress=shown, required=required))
    try:
        _tell(call, report, Format.JSON if as_json else format)
    except Problem as unwritable:
        if report.ok:
            raise
        call.output.say(str(unwritable))  # that something was found is told by the exit code
    return 0 if report.ok else FOUND


def _tell(call: Invocation, report: Report, format: Format) -> None:
    match format:
        case Format.JSON:
            call.answer(report)
        case Format.TEXT:
            call.output.print(*_text(report))
        case Format.GITHUB:
            call.output.print(*_github(report))
        case unknown:
            assert_never(unknown)


def _text(report: Report) -> list[str]:
    lines = [f"{'ok    ' if check.ok else 'FAILED'} {check.check}" for check in report.checks]
    lines += [f"  {_finding(finding)}" for finding in report.findings]
    return [*lines, _summary(report), *([_ranges(report)] if report.origin else [])]


def _summary(report: Report) -> str:
    if report.ok:
        erased = f" · {counted(report.erased, 'payload')} erased" if report.erased else ""
        return f"{counted(report.size, 'event')} verified{erased} · root {report.root}"
    found = counted(len(report.findings), "finding")
    return (
        f"{found} in {counted(report.size, 'event')} · the newest head that holds: {report.signed}"
    )


def _ranges(report: Report) -> str:
    """Return which events are protected by what: a signature, an erased key, our memory."""
    remembered = f"remembered {_upto(report.remembered or 0)}"
    if report.remembered is None and report.unremembered:
        remembered = f"remembered: none ({printing.escape(report.unremembered)})"
    ranges = (
        f"signed {_upto(report.signed)}",
        f"under erased keys {_upto(report.epoch_protected)}",
        remembered,
    )
    return " · ".join(ranges)


def _upto(size: int) -> str:
    return f"1–{size}" if size else "none"


def _finding(finding: Finding) -> str:
    where = f"event {finding.seq}: " if finding.seq is not None else ""
    code = f"{finding.code}: " if finding.code else ""
    return f"{finding.check}: {where}{code}{printing.escape(finding.what)}"


def _github(report: Report) -> list[str]:
    """Return workflow commands; what they say is escaped as GitHub reads it back."""
    errors = [f"::error title=memprove verify::{_data(_finding(f))}" for f in report.findings]
    return [*errors, f"::notice title=memprove verify::{_data(_summary(report))}"]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
