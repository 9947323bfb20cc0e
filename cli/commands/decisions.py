"""``decide`` and ``decisions``: record a choice; as the owner, accept or reject it."""

from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.ledger import receipts
from memprove.ledger.domain.events import DecisionState
from memprove.ledger.operations.decisions import DecideDecision, DecisionTold, ProposeDecision

app = verbs()
below = verbs(help="Accept, reject and list Decisions.")
app.add_typer(below, name="decisions")

Label = Annotated[str, typer.Argument(metavar="LABEL", help="A Decision: d1.")]
Comment = Annotated[str, typer.Option(metavar="TEXT", help="Why.")]


@app.command()
def decide(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What is decided.")],
    choice: Annotated[str, typer.Option(metavar="TEXT", help="What is chosen.")],
    rationale: Annotated[str, typer.Option(metavar="TEXT", help="Why.")],
    alternative: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What is not chosen; repeatable.")
    ] = None,
    supersedes: Annotated[
        str, typer.Option(metavar="LABEL", help="The Decision it takes the place of: d1.")
    ] = "",
    cites: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Evidence: r1; repeatable.")
    ] = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """Propose a Decision: a choice with its reasons and alternatives.

    Examples:
      memprove decide lexer --choice "write it by hand" --rationale "error positions matter"
      memprove decide cache --choice none --rationale "40 ms is enough" --alternative LRU --cites r4

    """
    call = invoked(context, as_json=as_json)
    told = call.execute(
        ProposeDecision(
            title=title,
            choice=choice,
            rationale=rationale,
            alternatives=tuple(alternative or ()),
            supersedes=supersedes,
            evidence=tuple(cites or ()),
            session=session,
        )
    )
    call.answer(told, receipts.decided(told))


@below.command()
def accept(
    context: typer.Context,
    label: Label,
    comment: Comment = "",
    task: options.TaskNumber = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Accept a Decision, as the owner.

    Examples:
      memprove decisions accept d1
      memprove decisions accept d2 --task 3 --comment "until the next release"

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    _tell(call, call.execute(DecideDecision(label, DecisionState.ACCEPTED, comment, task)))


@below.command()
def reject(
    context: typer.Context,
    label: Label,
    comment: Comment = "",
    task: options.TaskNumber = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Reject a Decision, as the owner.

    Examples:
      memprove decisions reject d1 --comment "measure first"

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    _tell(call, call.execute(DecideDecision(label, DecisionState.REJECTED, comment, task)))


@below.command(name="list")
def list_decisions(
    context: typer.Context,
    task: options.TaskNumber = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """List the Decisions of a Task.

    Examples:
      memprove decisions list
      memprove decisions list --task 3 --json

    """
    from memprove.cli.capsules import plain_lines  # late: the other verbs print no Capsule
    from memprove.ledger.operations.tasks import ReadTask

    call = invoked(context, as_json=as_json, session=session)
    capsule = call.execute(ReadTask(task=task))
    decisions = list(capsule.decisions.values())
    lines = plain_lines(capsule)
    document = {"task": capsule.number, "task_id": capsule.id, "decisions": decisions}
    call.answer(document, *(map(lines.decision, decisions) if decisions else ("no Decisions",)))


def _tell(call: Invocation, told: DecisionTold) -> None:
    call.answer(told, receipts.decided(told))
