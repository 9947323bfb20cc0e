"""``export``: hand a Task to somebody who has no ledger, or the log to another program."""

from enum import StrEnum
from typing import Annotated

import typer

from memprove.cli import options, progress
from memprove.cli.destination import STDOUT, destination
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given, given_path
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted
from memprove.ledger.exported import read_head
from memprove.ledger.operations.exports import Exported, ExportLines, ExportTask

app = verbs()


class Form(StrEnum):
    """What to export."""

    BUNDLE = "bundle"
    JSONL = "jsonl"


@app.command()
def export(
    context: typer.Context,
    task: options.TaskNumber = None,
    form: Annotated[
        Form,
        typer.Option("--format", help="bundle: a Task with proofs; jsonl: events, one a line."),
    ] = Form.BUNDLE,
    to: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, not stdout."),
    ] = None,
    outputs: Annotated[
        bool, typer.Option("--outputs", help="Put what the commands wrote into the bundle as well.")
    ] = False,
    since: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Show that the log continues the signed head in FILE (repeatable)."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Export a Task as a bundle that others can verify, or events as JSON lines.

    A bundle is of one Task. jsonl without --task is the whole log. A file is replaced only once the
    new one is whole. --json prints what was written, and needs -o.

    Examples:
      memprove export --task 3 -o task-3.bundle
      memprove export --task 3 --since .memprove/head -o task-3.bundle
      memprove export --format jsonl | grep run.ended

    """
    if form is Form.JSONL and (outputs or since):
        raise typer.BadParameter("--outputs and --since are for bundles")
    if as_json and to in (None, STDOUT):
        raise typer.BadParameter("--json needs -o FILE: stdout is the export's")
    call = invoked(context, as_json=as_json)
    heads = tuple(read_head(given_path(file)) for file in since or ())
    with destination(None if to is None else given(to), call.output) as take:
        if form is Form.BUNDLE:
            done = call.execute(ExportTask(take, task=task, since=heads, outputs=outputs))
        else:
            with progress.shown("exported", call.output) as shown:
                done = call.execute(ExportLines(take, task=task, progress=shown))
    _tell(call, done, to)


def _tell(call: Invocation, done: Exported, to: str | None) -> None:
    if to in (None, STDOUT):
        return
    what = "log" if done.task is None else f"Task {done.task}"
    size = f"{counted(done.events, 'event')} of {done.size}, {counted(done.length, 'byte')}"
    call.answer(done, f"{what} exported to {printing.code(str(to))} · {size}")
