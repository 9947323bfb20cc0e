"""``redact``: erase, as the owner, what should never have been recorded."""

from pathlib import Path
from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.operations.erasures import ErasedEvent, RedactEvent

app = verbs()


@app.command()
def redact(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(metavar="LABEL|N", help="r3, x4k2ab, w1, c7, o4, d1, t3, s2, or an event."),
    ],
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; it stands in the place of each text.")
    ],
    field: Annotated[
        list[str] | None, typer.Option(metavar="F", help="Only this field; repeatable.")
    ] = None,
    task: options.TaskNumber = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Erase texts and output for good, as the owner; the ledger still verifies.

    Without --field everything goes that can. Verdict, exit code, counts, kind, tree, citations
    and labels always stay; a command that goes leaves its Check behind. Fields, by kind of event:

    \b
    Task      title, description
    moved     comment, completion.accept_stale, completion.accept_untested
    Session   agent, role, worktree; at its end: note
    Run       argv, cwd, worktree, junit, tree.branch, tree.reason;
              at its end: stdout, stderr, error, masked, moved, products, notes
    checkpoint  facts (facts.c3), opened (opened.o2), next_action
    Decision  title, choice, rationale, alternatives; decided: comment
    Workspace, token  name

    Copies made before (backups, bundles, exports) still hold what is erased here.

    Examples:
      memprove redact r3 --reason "a password in the output"
      memprove redact r3 --field stdout --reason "customer data"
      memprove redact 42 --reason "a private note"

    """  # noqa: D301 (Typer reads the backspace)
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    told = call.execute(
        RedactEvent(target=target, reason=reason, fields=tuple(field or ()), task=task)
    )
    from memprove.ledger.restoring import databases_aside  # late: help needs none of it

    aside = databases_aside(call.caller())
    call.answer(told, *map(_line, told.erased), *map(_untouched, aside))


def _untouched(file: Path) -> str:
    where = printing.code(str(file))
    return f"not touched: {where}, kept by a restore; delete it when nothing in it is missing"


def _line(erased: ErasedEvent) -> str:
    labels = f" {printing.escape(' '.join(erased.labels))}" if erased.labels else ""
    fields = ", ".join(map(printing.escape, erased.fields))
    return f"event {erased.event} {erased.kind}{labels}: {fields} erased by event {erased.by}"
