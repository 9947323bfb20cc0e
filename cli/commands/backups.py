"""``backup``: the whole ledger as one file."""

from typing import Annotated

import typer

from memprove.cli import options, progress
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.cli.words import given_path
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import counted
from memprove.ledger.operations.ledgers import BackUpLedger
from memprove.ledger.paths import to_text

app = verbs()


@app.command()
def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file.")],
    as_json: options.Json = False,
) -> None:
    """Write the whole ledger to a new file, and verify the copy.

    Others go on writing meanwhile. The signing key and the tokens are not in it.

    Examples:
      memprove backup ~/backups/ledger-friday.db

    """
    call = invoked(context, as_json=as_json)
    path = given_path(file).absolute()
    with progress.shown("copied and verified", call.output) as shown:
        told = call.execute(BackUpLedger(file=to_text(path), progress=shown))
    where = printing.code(told.file)
    call.answer(told, f"{counted(told.size, 'event')} in {where}, verified · root {told.root}")
