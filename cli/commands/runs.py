"""``run``: run a command as if we were not there, and record what really happened."""

import math
from contextlib import suppress
from typing import Annotated

import typer

from memprove.cli import document, options
from memprove.cli.invocation import Invocation, flush, invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given
from memprove.ledger.domain import printing
from memprove.ledger.domain.events import RunKind
from memprove.ledger.recording import Recorded, RunOptions, record
from memprove.ledger.service import Ledger

app = verbs()


def _finite(seconds: float | None) -> float | None:
    if seconds is not None and not math.isfinite(seconds):
        raise typer.BadParameter("not a number of seconds")
    return seconds


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    context: typer.Context,
    command: Annotated[
        list[str], typer.Argument(metavar="CMD [ARG]...", help="What to run.", show_default=False)
    ],
    kind: Annotated[
        RunKind | None, typer.Option(help="What it shows; else told from the command.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            min=0,
            callback=_finite,
            help="End it after S seconds: exit code 124.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to run what would not be recorded.")
    ] = False,
    junit: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="The JUnit XML report that it writes.", show_default=False
        ),
    ] = "",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No last line on stderr.")] = False,
    session: options.SessionNumber = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The last line on stderr is one JSON document.")
    ] = False,
) -> int:
    """Run a command and record it: command, tree, output, exit code.

    The exit code is the command's own, whatever memprove itself meets; 125 is ours (wrong usage,
    --strict). Options after the command are the command's. Standard output is the command's alone.

    Examples:
      memprove run -- pytest -q
      memprove run --kind build --timeout 600 -- make all
      memprove run pytest -x tests/test_parser.py
      memprove run --junit report.xml -- pytest --junit-xml report.xml

    """
    call = invoked(context)
    flush()
    recorded = record(
        Ledger(call.caller()),
        list(map(given, command)),
        RunOptions(
            kind=kind, timeout_s=timeout, session=session, strict=strict, junit=given(junit)
        ),
    )
    return tell(call, recorded, quiet=quiet, as_json=as_json)


def tell(
    call: Invocation, recorded: Recorded, *, quiet: bool = False, as_json: bool = False
) -> int:
    """Say what was recorded; return the command's exit code, whatever happens here."""
    with suppress(Exception):
        if as_json:
            call.output.trace(document.encode(recorded).decode())
            return recorded.code
        call.note(recorded.said)
        if recorded.label and not quiet:
            call.output.say(_last_line(recorded))
    return recorded.code


def _last_line(recorded: Recorded) -> str:
    words = [recorded.label, str(recorded.verdict or ""), f"{recorded.duration_ms / 1000:.1f} s"]
    if recorded.label.startswith("w"):
        words.append("(no Session)")
    why = f": {printing.escape(recorded.why)}" if recorded.why else ""
    return " ".join(words) + why
