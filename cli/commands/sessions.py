"""``begin`` and ``end``: a Session's first and last word."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.operations.sessions import BeginWork, EndSession

app = verbs()


@app.command()
def begin(
    context: typer.Context,
    title: Annotated[
        str | None, typer.Argument(metavar="[TITLE]", help="Of a new Task.", show_default=False)
    ] = None,
    task: Annotated[
        int | None, typer.Option("--task", metavar="N", min=1, help="Join Task N instead.")
    ] = None,
    description: Annotated[str, typer.Option(help="Of a new Task.")] = "",
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Who works.")] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="As what.")] = None,
    parent: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The Session that asked for this one.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Begin a Session: on a new Task, or on one that exists.

    Examples:
      memprove begin "Fix nested list parsing"
      memprove begin --task 3
      memprove begin --task 3 --agent reviewer --role review --parent 6

    """
    call = invoked(context, as_json=as_json)
    begun = call.execute(
        BeginWork(
            task=task,
            new_task=title,
            description=description,
            agent=agent,
            role=role,
            parent=parent,
        )
    )
    call.answer(begun, receipts.begun(begun))
    if begun.parent is not None:
        call.note([f"use Session {begun.session}: memprove <verb> --session {begun.session}"])


@app.command()
def end(
    context: typer.Context,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What the next one should know.")] = "",
    abandoned: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="End Session N, which somebody left behind."),
    ] = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """End a Session; its Task stays as it is.

    Examples:
      memprove end --note "the lexer is done, the parser is not"
      memprove end --abandoned 4

    """
    call = invoked(context, as_json=as_json)
    ended = call.execute(EndSession(note=note, abandoned=abandoned, session=session))
    call.answer(ended, receipts.ended(ended))
