"""``init``: make a ledger, its keys and tokens, and register the Workspace."""

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.setup import SetUp, set_up

app = verbs()


@app.command()
def init(
    context: typer.Context,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Make what is missing: ledger, keys, tokens, this Workspace.

    A ledger that is there is used, never replaced.

    Examples:
      memprove init
      memprove -C ~/project init
      MEMPROVE_DATA_DIR=/var/lib/memprove memprove init

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    made = set_up(call.caller())
    call.answer(made, *_lines(made))


def _lines(made: SetUp) -> list[str]:
    workspace = made.workspace
    state = "registered" if workspace.seq else "registered before"
    return [
        f"ledger {'made' if made.created else 'used'} in {printing.code(str(made.data_dir))}",
        f"configuration, keys and tokens in {printing.code(str(made.config_dir))}",
        f"Workspace {workspace.number} {state}: {printing.code(workspace.root)}",
    ]
