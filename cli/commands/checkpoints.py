"""``checkpoint``: state what is known, what is open and what comes next."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import invoked
from memprove.cli.statement import Statement, read_statement
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.domain.events import Fact
from memprove.ledger.domain.labels import split_evidence
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.problems import ARGUMENT_INVALID

app = verbs()


def _texts(name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=help)
    return option


@app.command()
def checkpoint(
    context: typer.Context,
    fact: Annotated[
        list[str] | None,
        _texts("--fact", "TEXT", "What is so, with its evidence: 'it works [r1 !r3]'."),
    ] = None,
    opened: Annotated[list[str] | None, _texts("--open", "TEXT", "What is left undone.")] = None,
    closed: Annotated[list[str] | None, _texts("--close", "LABEL", "o1: done now.")] = None,
    reaffirm: Annotated[
        list[str] | None, _texts("--reaffirm", "LABEL", "c3: it is still so.")
    ] = None,
    withdraw: Annotated[
        list[str] | None, _texts("--withdraw", "LABEL", "c2: it is not so.")
    ] = None,
    next_action: Annotated[
        str, typer.Option("--next", metavar="TEXT", help="What to do next.")
    ] = "",
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE|-",
            help="Read all of this as JSON: facts, open_items, closed_items, reaffirm, withdraw,"
            " next_action.",
        ),
    ] = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """State facts with their evidence, open items, the next action.

    A fact's last [...] is evidence if each word in it is a label: r1 (a Run that passed),
    r1:tests/test_x.py::test_y (one test in it), !r3 (a Run that failed), c2, d1. All options but
    --next may be repeated.

    Examples:
      memprove checkpoint --fact "nested lists parse [r3]" --next "try the fuzz corpus"
      memprove checkpoint --fact "the bug is there [!r1]" --open "Windows line ends not tried"
      memprove checkpoint --close o1 --reaffirm c3 --withdraw c2
      echo '{"facts": ["it works [r2]"], "next_action": "ship"}' | memprove checkpoint --from -

    """
    call = invoked(context, as_json=as_json)
    given = read_statement(source) if source is not None else Statement()
    if given.next_action and next_action:
        raise ARGUMENT_INVALID("the next action is given twice, by --next and --from")
    done = call.execute(
        RecordCheckpoint(
            facts=(*given.stated(), *(_fact(text) for text in fact or ())),
            open_items=(*given.open_items, *(opened or ())),
            closed_items=(*given.closed_items, *(closed or ())),
            reaffirm=(*map(str, given.reaffirm), *(reaffirm or ())),
            withdraw=(*map(str, given.withdraw), *(withdraw or ())),
            next_action=next_action or given.next_action or "",
            session=session if session is not None else given.session,
        )
    )
    call.answer(done, receipts.checkpointed(done))


def _fact(text: str) -> Fact:
    said, evidence = split_evidence(text)
    return Fact(text=said, evidence=evidence)
