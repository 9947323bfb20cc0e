"""``mcp``: the ledger as tools of an agent's client."""

from enum import StrEnum
from typing import Annotated

import typer

from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.cli.version import VERSION
from memprove.cli.words import given_path

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
        named = given_path(config_dir).absolute()
    return serve(named, version=VERSION)


class Client(StrEnum):
    """The clients whose entries we know."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    CURSOR = "cursor"
    VSCODE = "vscode"
    COPILOT = "copilot"
    WINDSURF = "windsurf"
    ZED = "zed"
    CONTINUE = "continue"
    CLINE = "cline"
    OPENCODE = "opencode"


class Scope(StrEnum):
    """For whom an entry is."""

    PROJECT = "project"
    USER = "user"
    LOCAL = "local"


@below.command(name="print-config")
def print_config(
    context: typer.Context,
    client: Annotated[Client, typer.Option(help="In whose format.")] = Client.CLAUDE,
    scope: Annotated[
        Scope | None,
        typer.Option(
            help="For all who work on the project, for you everywhere, for you in this project.",
            show_default="the client's usual one",
        ),
    ] = None,
) -> None:
    """Print the entry by which a client starts the server, and where it belongs.

    Nothing is read from a ledger and nothing is written. There is no token in an entry.

    Examples:
      memprove mcp print-config
      memprove mcp print-config --client codex --scope user

    """
    from memprove.mcp_facade import clients, print_config  # late: no other verb needs them

    call = invoked(context)
    wanted = clients.Scope(scope) if scope is not None else None
    try:
        told = print_config.printed(client, wanted, print_config.start(call.caller()))
    except print_config.ScopeUnknown as unknown:
        raise typer.BadParameter(str(unknown), param_hint="--scope") from None
    call.output.write(told.entry.encode())
    call.note(told.notes)
