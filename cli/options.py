"""Options that several verbs have, each described once."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
FromAgent = Annotated[
    bool,
    typer.Option("--from-agent", help="Do this from an agent's shell; it is recorded as such."),
]
SessionNumber = Annotated[
    int | None,
    typer.Option("--session", metavar="N", min=1, help="Act in Session N."),
]
TaskNumber = Annotated[
    int | None, typer.Option("--task", metavar="N", min=1, help="Of Task N, not the current one.")
]
