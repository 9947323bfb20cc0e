"""``complete``: close a Task on what its Runs show."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.operations.tasks import CompleteTask

app = verbs()


@app.command()
def complete(
    context: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...", help="Runs that must have passed: r3.", show_default=False
        ),
    ] = None,
    accept_stale: Annotated[
        str, typer.Option(metavar="REASON", help="As the owner, accept Runs on another tree.")
    ] = "",
    accept_untested: Annotated[
        str, typer.Option(metavar="REASON", help="As the owner, accept that nothing passed.")
    ] = "",
    session: options.SessionNumber = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Complete the Task if its tests, builds or lints passed on today's tree.

    The Session stays open. What the owner accepts in place of proof is shown for ever.

    Examples:
      memprove complete
      memprove complete r12
      memprove complete --accept-untested "only the README changed"

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    done = call.execute(
        CompleteTask(
            runs=tuple(runs or ()),
            accept_stale=accept_stale,
            accept_untested=accept_untested,
            session=session,
        )
    )
    call.answer(done, receipts.completed(done))
