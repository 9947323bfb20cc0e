"""``context``: what the local file says, which nobody has checked."""

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.operations.contexts import ContextTold, ReadContext
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
    call.answer(told, *_lines(told))


def _lines(told: ContextTold) -> list[str]:
    client = printing.name(told.client)
    if told.context is None:
        return [f"no context of {client} here"]
    found = told.context
    role = f" ({printing.name(found.role)})" if found.role else ""
    agent = f"{printing.name(found.agent)}{role}"
    runs = [f"  {label} {verdict}" for label, verdict in found.runs]
    return [
        f"local files of {client}, not checked",
        f"Task {found.task_number}, Session {found.session_number}, {agent}",
        *runs,
    ]
