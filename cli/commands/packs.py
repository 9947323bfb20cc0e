"""``resume``: what the next agent reads first."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.operations.packs import DEFAULT_BUDGET, ReadPack

app = verbs()


@app.command()
def resume(
    context: typer.Context,
    pack: Annotated[bool, typer.Option("--pack", help="The Pack alone.")] = False,
    task: options.TaskNumber = None,
    query: Annotated[
        str, typer.Option(metavar="TEXT", help="What to keep first where not all fits.")
    ] = "",
    budget: Annotated[
        int, typer.Option(metavar="N", help="The most UTF-16 code units, 200 to 50000.")
    ] = DEFAULT_BUDGET,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """Print what stands about a Task: next action, open items, claims, Runs.

    The opening statement comes first, then the Pack. The same ledger, tree, query and budget give
    the same Pack, byte for byte.

    Examples:
      memprove resume
      memprove resume --pack --task 3 --budget 9000
      memprove resume --pack --query "line ends"

    """
    call = invoked(context, as_json=as_json, session=session)
    told = call.execute(ReadPack(task=task, query=query, budget=budget))
    if as_json:
        call.answer(told)
        return
    opening = "" if pack else f"{told.opening}\n\n"
    call.output.write((opening + told.pack).encode())
