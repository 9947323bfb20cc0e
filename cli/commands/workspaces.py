"""``workspace``: list what is registered; say where one is now."""

from typing import Annotated

import typer

from memprove.cli import options, tables
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.operations.workspaces import ListWorkspaces
from memprove.ledger.setup import attach_here

app = verbs()
below = verbs(help="List Workspaces; attach one that moved.")
app.add_typer(below, name="workspace")


@below.command()
def attach(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="The Workspace's number.")],
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Say, as the owner, that Workspace N is here now.

    Examples:
      memprove workspace attach 2
      memprove -C ~/moved/project workspace attach 2

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    told = attach_here(call.caller(), number)
    call.answer(told, f"Workspace {told.number} attached: {printing.code(told.root)}")


@below.command(name="list")
def list_workspaces(
    context: typer.Context,
    as_json: options.Json = False,
) -> None:
    """List all Workspaces of the ledger.

    Examples:
      memprove workspace list
      memprove workspace list --json

    """
    call = invoked(context, as_json=as_json)
    listed = call.execute(ListWorkspaces())
    if as_json:
        call.answer(listed)
        return
    rows = [
        (str(told.number), printing.code(told.name), printing.code(told.root))
        for told in listed.workspaces
    ]
    tables.show(call.output, ("Workspace", "Name", "Root"), rows)
