"""``hook``: its help; a call is answered in ``cli/main.py``, before any of this is imported."""

from typing import Annotated

import typer

from memprove.cli.verbs import verbs

app = verbs()


@app.command()
def hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="SessionStart, for example.")],
) -> None:
    """Answer an event of an agent's client, which calls this.

    The event's JSON document comes on stdin. At SessionStart the answer is one JSON document with
    the opening statement and the Pack. The exit code is 0 whatever happens, within 2 seconds.
    Events that are not known are passed over.

    Examples:
      memprove hook SessionStart < event.json

    """
