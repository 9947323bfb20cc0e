"""``mcp``: the ledger as tools of an agent's client."""

from pathlib import Path
from typing import Annotated

import typer

from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.cli.version import VERSION
from memprove.cli.words import given

app = verbs()
below = verbs(help="Serve the ledger to an agent's client over the Model Context Protocol.")
app.add_typer(below, name="mcp")


@below.command()
def serve(
    context: typer.Context,
    config_dir: Annotated[
        str | None,
        typer.Option("--config-dir", metavar="DIR", help="Use the configuration in DIR."),
    ] = None,
) -> int:
    """Serve the ledger's ten tools on stdin and stdout until the client ends.

    A client starts this, by the entry that `memprove init` writes.

    Examples:
      memprove mcp serve
      memprove mcp serve --config-dir ~/.config/memprove

    """
    from memprove.mcp_facade.main import serve  # late: no other verb needs it

    named = invoked(context).config_dir
    if config_dir is not None:
        named = Path(given(config_dir)).expanduser().absolute()
    return serve(named, version=VERSION)
