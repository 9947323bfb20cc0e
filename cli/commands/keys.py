"""``key``: rotate the signing key, as the owner."""

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.operations.keys import RotateKey

app = verbs()
below = verbs(help="Rotate the signing key.")
app.add_typer(below, name="key")


@below.callback()
def key() -> None:
    """Rotate the signing key."""


@below.command()
def rotate(
    context: typer.Context,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Let a new key sign from here on, and erase the old one.

    It happens by itself at the end of each Session, and after 4,096 events.

    Examples:
      memprove key rotate

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    told = call.execute(RotateKey())
    call.answer(told, f"epoch {told.epoch} begins after event {told.seq}; the old key is erased")
