"""``doctor``: try the wiring between the ledger and the clients, and say what to do."""

from typing import TYPE_CHECKING, Any

import typer

from memprove.cli import options, tables
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTY = 1

app = verbs()


@app.command()
def doctor(context: typer.Context, as_json: options.Json = False) -> int:
    """Try what is installed here, as a client would, and say what to do where it does not work.

    The server in `.mcp.json` is started and spoken to, the hook is called, both with next to no
    environment. Looked at are versions, permissions, the file system, the newest head and the
    remembered one, entries that are there twice, gone again, personal or not trusted. Nothing is
    appended to the ledger.

    The exit code is 1 if there is a fault; a warning is none.

    Examples:
      memprove doctor
      memprove doctor --json

    """
    # Late: a shell starts another one only when it is asked to.
    from memprove.hooks.doctor.examine import examine
    from memprove.ledger.findings import State

    call = invoked(context, as_json=as_json)
    found = examine(call.caller())
    faults = [one for one in found if one.state is State.FAULT]
    if as_json:
        call.answer({"ok": not faults, "findings": found})
    else:
        rows = [(one.check, one.state.value, printing.escape(one.what)) for one in found]
        tables.show(call.output, ("CHECK", "STATE", "WHAT"), rows)
        call.output.print(*_cures(found))
    return FAULTY if faults else 0


def _cures(found: Any) -> "Iterator[str]":
    yield ""
    to_do = [one for one in found if one.cure]
    yield from (f"{one.state.value}: {one.check}: {printing.escape(one.cure)}" for one in to_do)
    if not to_do:
        yield "all is as it should be"
