"""``claims``: what was stated, uncut, and what stands behind it today."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.domain.evidence import ProofState
from memprove.ledger.operations.packs import ReadClaims

app = verbs()


@app.command()
def claims(
    context: typer.Context,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLAIM]...", help="Only these: c3, or 3.", show_default=False),
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only stale ones.")] = False,
    refuted: Annotated[bool, typer.Option("--refuted", help="Only refuted ones.")] = False,
    task: options.TaskNumber = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """Print claims in full: proof on today's tree, evidence, history.

    Withdrawn claims are printed only by name.

    Examples:
      memprove claims
      memprove claims c3 c7
      memprove claims --stale --refuted --json

    """
    wanted = {ProofState.STALE: stale, ProofState.REFUTED: refuted}
    call = invoked(context, as_json=as_json, session=session)
    read = call.execute(
        ReadClaims(
            claims=tuple(labels or ()),
            states=tuple(state for state, asked in wanted.items() if asked),
            task=task,
        )
    )
    call.answer(read.told, *receipts.claims(read))
