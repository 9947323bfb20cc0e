"""``context``: what the local file says, which nobody has checked."""

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.operations.contexts import ReadContext
from memprove.ledger.service import Ledger

app = verbs()


@app.command()
def context(
    context: typer.Context,
    as_json: options.Json = False,
) -> None:
    """Print which Task and Session the local files point to.

    No ledger and no token is read; what is printed is not checked.

    Examples:
      memprove context
      memprove context --json

    """
    call = invoked(context, as_json=as_json)
    told = Ledger(call.caller()).look(ReadContext())
    call.answer(told, *receipts.context(told))
