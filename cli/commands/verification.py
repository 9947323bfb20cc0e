"""``verify``: compute again what a log or a bundle stands for, compare, and judge a Task for CI."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from memprove.cli import document, options, progress, verdicts
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.cli.verdicts import Fault, Format, Verdict
from memprove.cli.words import given, given_path
from memprove.ledger import receipts
from memprove.ledger.exported import read_head
from memprove.ledger.log.report import Report
from memprove.ledger.operations.gates import JudgeTask, TaskJudged
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.problems import Problem

FOUND = 3

app = verbs()


@app.command()
def verify(
    context: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="From the first event on, whatever was verified before.")
    ] = False,
    task: options.TaskNumber = None,
    fresh: Annotated[
        bool,
        typer.Option("--require-fresh", help="Find what the Task claims and today's tree denies."),
    ] = False,
    complete: Annotated[
        bool, typer.Option("--require-complete", help="Find that the Task is not completed.")
    ] = False,
    spooled: Annotated[
        bool, typer.Option("--allow-spooled", help="Let Runs prove that came from the spool.")
    ] = False,
    bundle: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Verify this bundle; no ledger is needed."),
    ] = None,
    trust: Annotated[
        str | None,
        typer.Option(metavar="FILE|git:REV:PATH", help="The keys that the bundle must hold under."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Take trust and ignore list from this commit."),
    ] = None,
    later: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A later bundle of the Task: name what it has erased."),
    ] = None,
    required: Annotated[
        str | None,
        typer.Option(
            "--require-head",
            metavar="FILE",
            help="Find a log, or a bundle, that does not continue this head.",
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="github: as workflow commands; the default where a runner of GitHub reads.",
            case_sensitive=True,
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Verify the ledger: events, chains, tree, signed heads, tables.

    It goes on from where it was verified last; --full, and once a day, from the first event.

    Or a bundle that somebody handed over; and on top a Task, as CI demands it.

    The exit code is 3 if anything is not as it was written, or not as it is required.

    With --require-fresh or --require-complete a Task is judged as well, the current one unless
    --task names another.

    Examples:
      memprove verify
      memprove verify --require-head .memprove/head
      memprove verify --task 3 --require-fresh --require-complete
      memprove verify --bundle task-3.bundle --trust memprove.trust
      memprove verify --bundle task-3.bundle --base origin/main --require-fresh --format github

    """
    form = verdicts.chosen(format, as_json=as_json)
    call = invoked(context, as_json=form is Format.JSON)
    seen = read_head(given_path(required)) if required else None
    if spooled and not (fresh or complete):
        raise typer.BadParameter("--allow-spooled needs --require-fresh or --require-complete")
    if bundle is None:
        if base and not (fresh or complete or task):
            raise typer.BadParameter("--base needs --require-fresh, --require-complete or --task")
        if trust or later:
            raise typer.BadParameter("--trust and --later are for --bundle; a ledger has its pin")
        verdict = _report(call, seen, full)
        if verdict.ok and (fresh or complete or task):
            judged = call.execute(JudgeTask(task=task, base=base or ""))
            verdict = _gate(verdict, judged, fresh, complete, spooled or judged.spooled)
    elif full or not (trust or base):
        raise typer.BadParameter(
            "--bundle needs --trust FILE, --trust git:REV:PATH or --base REV, and takes no --full"
        )
    else:
        from memprove.cli import bundles  # late: only for a bundle

        demand = bundles.Demand(
            trust=given(trust or ""),
            base=base or "",
            required=seen,
            task=task,
            fresh=fresh,
            complete=complete,
            spooled=spooled,
            later=given(later or ""),
        )
        verdict = bundles.judge(Path(given(bundle)), demand)
    try:
        verdicts.tell(call, verdict, form)
    except Problem as unwritable:
        if verdict.ok:
            raise
        call.output.say(str(unwritable))  # that something was found is told by the exit code
    return 0 if verdict.ok else FOUND


def _report(call: Invocation, required: bytes | None, full: bool) -> Verdict:
    with progress.shown("verified", call.output) as shown:
        return _of_report(call.execute(VerifyLedger(shown, required, full)))


def _gate(
    verdict: Verdict, judged: TaskJudged, fresh: bool, complete: bool, spooled: bool
) -> Verdict:
    """Return *verdict* with what the gate says of the Task."""
    evidence = judged.evidence
    checks, faults = verdicts.judged(evidence, fresh=fresh, complete=complete, spooled=spooled)
    told = {
        **verdicts.task_document(evidence),
        "findings": list(map(verdicts.fault_document, faults)),
    }
    return replace(
        verdict,
        checks=verdict.checks + checks,
        faults=faults,
        lines=tuple(verdicts.task_lines(evidence)),
        document={**verdict.document, "task": told},
    )


def _of_report(report: Report) -> Verdict:
    return Verdict(
        checks=tuple((check.check, check.ok) for check in report.checks),
        faults=tuple(Fault(found.check, receipts.finding(found)) for found in report.findings),
        lines=(),
        summary=receipts.verdict(report),
        after=tuple(receipts.protection(report)),
        document=document.document(report),
    )
