"""``head``: print the newest signed head, or keep it elsewhere."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import here, invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given_path
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted
from memprove.ledger.operations.keys import ReadHead

app = verbs()


@app.command()
def head(
    context: typer.Context,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write it to FILE, and replace it.")
    ] = None,
    git_ref: Annotated[
        bool, typer.Option("--git-ref", help="Store it in the repository, under refs/memprove/.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Print the newest signed head, or keep it elsewhere.

    It says how many events there are, and the root over them. Keep it where nobody who can write
    the ledger can write; `verify --require-head FILE` then finds a ledger that was cut short, put
    back to an older copy or told anew.

    Examples:
      memprove head
      memprove head --save .memprove/head
      memprove head --git-ref

    """
    call = invoked(context, as_json=as_json)
    told = call.execute(ReadHead())
    note = told.note.encode()
    lines = []
    if save is not None or git_ref:
        from memprove.ledger import exported  # late: to print needs none of it

        if save is not None:
            file = given_path(save)
            exported.save_head(file, note)
            lines.append(f"{counted(told.size, 'event')} · saved to {printing.code(str(file))}")
        if git_ref:
            ref = exported.store_head(here(), told.origin, note)
            lines.append(f"{counted(told.size, 'event')} · stored as {printing.code(ref)}")
    call.answer(told, *(lines or told.note.splitlines()))
