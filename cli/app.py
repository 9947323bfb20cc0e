"""The command line as a whole: the table of verbs, and the one place where a failure ends it.

A verb's module is imported when the verb is used, so that ``memprove run`` pays for nothing else.
"""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from memprove.cli import version
from memprove.cli.invocation import Invocation
from memprove.cli.verbs import verb
from memprove.cli.words import given, given_path, text
from memprove.ledger.domain import printing
from memprove.ledger.problems import INTERNAL, OUTPUT_UNWRITABLE, Problem

FAILED: Final = 1
USAGE: Final = 2
RUN_REFUSED: Final = 125
INTERRUPTED: Final = 130

VERBS: Final[Mapping[str, str]] = {
    "init": "setup",
    "doctor": "doctoring",
    "begin": "sessions",
    "run": "runs",
    "rerun": "reruns",
    "checkpoint": "checkpoints",
    "decide": "decisions",
    "end": "sessions",
    "complete": "completions",
    "resume": "packs",
    "context": "contexts",
    "claims": "claims",
    "tasks": "tasks",
    "task": "tasks",
    "decisions": "decisions",
    "log": "logs",
    "show": "shows",
    "verify": "verification",
    "redact": "erasures",
    "backup": "backups",
    "restore": "restores",
    "adopt": "restores",
    "export": "exports",
    "head": "heads",
    "key": "keys",
    "token": "tokens",
    "workspace": "workspaces",
    "mcp": "mcp",
    "hook": "hooks",
}
"""Verb → the module of ``memprove.cli.commands`` that has it, in the order of ``--help``."""

# Typer shows one of its usage errors; all of them, and what else it reports so, have this base.
_Reported: Final[type[Exception]] = typer.BadParameter.__mro__[2]


class Verbs(TyperGroup):
    """The verbs of ``VERBS``, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all verbs."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the verb *cmd_name*, or None."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"memprove.cli.commands.{VERBS[cmd_name]}")
        return verb(module.app, cmd_name)


app = typer.Typer(
    cls=Verbs,
    name="memprove",
    rich_markup_mode=None,  # as in `verbs`
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        version.tell()
        raise typer.Exit


@app.callback()
def memprove(
    context: typer.Context,
    directory: Annotated[
        str | None, typer.Option("-C", metavar="DIR", help="Work in DIR, as if started there.")
    ] = None,
    config_dir: Annotated[
        str | None,
        typer.Option("--config-dir", metavar="DIR", help="Use the configuration in DIR."),
    ] = None,
    asked: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Keep a signed ledger of work: what ran, what it proves today, what comes next."""
    invocation = context.ensure_object(Invocation)
    invocation.verb = context.invoked_subcommand or ""
    if config_dir is not None:
        invocation.config_dir = given_path(config_dir).absolute()
    if directory is not None:
        try:
            os.chdir(given(directory))
        except (OSError, ValueError):
            raise typer.BadParameter(f"no folder to work in: {directory}") from None


def run(arguments: Sequence[str]) -> int:
    """Run the command line *arguments*; return the exit code. Nothing is raised but SystemExit."""
    invocation = Invocation()
    try:
        command = typer.main.get_command(app)
        words = list(map(text, arguments)) or ["--help"]
        return command.main(words, "memprove", standalone_mode=False, obj=invocation) or 0
    except Problem as problem:
        return _fail(invocation, str(problem), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, _Reported):
            return _fail(invocation, f"usage: {_usage(error)}", USAGE)
        if isinstance(error, OSError) and not invocation.output.finish():
            return _fail(invocation, str(OUTPUT_UNWRITABLE(error.strerror)), FAILED)
        if os.environ.get("MEMPROVE_DEBUG") == "1":
            raise
        return _fail(invocation, str(INTERNAL(type(error).__name__)), FAILED)
    finally:
        invocation.output.finish()


def _fail(invocation: Invocation, what: str, code: int) -> int:
    """Say *what* went wrong; return *code*, or what refusals of ``run`` have in its place."""
    invocation.output.say(printing.escape(what))
    return RUN_REFUSED if invocation.verb == "run" else code


def _usage(error: Any) -> str:
    """Return in one line what was wrong with the usage, and where to read on."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "memprove"
    return f"{message}; see `{path} --help`"
