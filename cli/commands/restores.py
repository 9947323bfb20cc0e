"""``restore`` and ``adopt``: go on under a new origin, after a backup or without the key."""

from typing import Annotated

import typer

from memprove.cli import options, progress
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given_path
from memprove.ledger.domain import printing
from memprove.ledger.operations.restores import Restored

app = verbs()


@app.command()
def restore(
    context: typer.Context,
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="What `backup` wrote.")],
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Put a backup in the ledger's place, as the owner, under a new origin.

    The backup is verified first. The database that is there is kept aside, never deleted. What is
    known to be lost is recorded.

    Examples:
      memprove restore ~/backups/ledger-friday.db

    """
    from memprove.ledger.restoring import Restoring  # late: help needs none of it

    call = invoked(context, as_json=as_json, from_agent=from_agent)
    file = given_path(backup).absolute()
    with progress.shown("verified", call.output) as shown:
        told = Restoring(call.caller()).restore(file, shown)
    _tell(call, told)


@app.command()
def adopt(
    context: typer.Context,
    copied: Annotated[
        bool, typer.Option("--copied", help="This is a copy; the original goes on elsewhere.")
    ] = False,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Go on with a ledger whose signing key is not here, as the owner, under a new origin.

    Without its key a ledger can be read and verified only.

    Examples:
      memprove adopt
      memprove adopt --copied

    """
    from memprove.ledger.restoring import Restoring  # late, as above

    call = invoked(context, as_json=as_json, from_agent=from_agent)
    _tell(call, Restoring(call.caller()).adopt(copied=copied))


def _tell(call: Invocation, told: Restored) -> None:
    lines = [
        f"event {told.seq} begins the origin {printing.name(told.origin)}",
        f"  after {printing.name(told.before)}, which ended with event {told.seq - 1}",
        "  events that are lost: "
        + ("none known" if not told.lost else f"{told.lost[0]} to {told.lost[1]}"),
    ]
    if told.revived:
        lines.append("  payloads that were erased since the backup are back, of the events")
        lines.append(
            f"  {', '.join(map(str, told.revived))}: erase them anew, `memprove redact NUMBER`"
        )
    if told.aside:
        lines.append(f"  what was here before is kept in {printing.code(told.aside)}")
    lines.append(
        "  whoever has a trust file of their own sees `restored` until it has these lines,"
    )
    lines.append(f"  the first in the place of that of {printing.name(told.before)}")
    lines += (f"  {printing.escape(line)}" for line in told.trust)
    call.answer(told, *lines)
