"""``log``: the events, in order."""

from typing import Annotated, Final

import typer

from memprove.cli import options, tables
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import utc
from memprove.ledger.operations.ledgers import EventList, EventTold, ReadLog

_POLL_S: Final = 0.5
_COLUMNS: Final = ("Event", "Time", "Kind", "Labels", "By", "Session")

app = verbs()


@app.command()
def log(
    context: typer.Context,
    task: options.TaskNumber = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="The newest N events.")] = 50,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new events until interrupted.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List events, the newest last; `show N` prints one in full.

    With --follow --json each event is a document of its own, one on each line.

    Examples:
      memprove log
      memprove log --task 3 --limit 200 --json
      memprove log --follow

    """
    call = invoked(context, as_json=as_json)
    read = call.execute(ReadLog(task=task, limit=limit))
    if follow:
        _follow(call, task, read)
    elif as_json:
        call.answer(read)
    elif read.events:
        tables.show(call.output, _COLUMNS, list(map(_row, read.events)))
    else:
        call.output.print("no events")


def _follow(call: Invocation, task: int | None, read: EventList) -> None:
    """Print the events of *read*, then new ones as they come, until nobody reads any more."""
    seen = 0
    while True:
        for event in read.events:
            call.answer(event, "  ".join(_row(event)))
            seen = event.seq
        if not read.events:
            call.output.wait(_POLL_S)
        if call.output.gone:
            return
        read = call.execute(ReadLog(task=task, after=seen))


def _row(event: EventTold) -> tuple[str, ...]:
    by = f"{printing.name(event.role)}{' in an agent shell' if event.agent_env else ''}"
    return (
        str(event.seq),
        utc(event.at),
        printing.name(event.kind),
        printing.escape(" ".join(event.labels)),
        f"{by} ({printing.name(event.face)})",
        "" if event.session is None else str(event.session),
    )
