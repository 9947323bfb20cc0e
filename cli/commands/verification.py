"""``verify``: compute again everything that the log stands for, and compare."""

from enum import StrEnum
from typing import Annotated, assert_never

import typer

from memprove.cli import options, progress
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted
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
    as_json: options.Json = False,
) -> int:
    """Verify the ledger: events, chains, tree, signed heads, tables.

    The exit code is 3 if anything is not as it was written.

    Examples:
      memprove verify
      memprove verify --full --format github
      memprove verify --json

    """
    as_json = as_json or format is Format.JSON
    call = invoked(context, as_json=as_json)
    with progress.shown("verified", call.output) as shown:
        report = call.execute(VerifyLedger(progress=shown))
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
    return [*lines, _summary(report)]


def _summary(report: Report) -> str:
    if report.ok:
        return f"{counted(report.size, 'event')} verified · root {report.root}"
    found = counted(len(report.findings), "finding")
    return (
        f"{found} in {counted(report.size, 'event')} · the newest head that holds: {report.signed}"
    )


def _finding(finding: Finding) -> str:
    where = f"event {finding.seq}: " if finding.seq is not None else ""
    return f"{finding.check}: {where}{printing.escape(finding.what)}"


def _github(report: Report) -> list[str]:
    """Return workflow commands; what they say is escaped as GitHub reads it back."""
    errors = [f"::error title=memprove verify::{_data(_finding(f))}" for f in report.findings]
    return [*errors, f"::notice title=memprove verify::{_data(_summary(report))}"]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
