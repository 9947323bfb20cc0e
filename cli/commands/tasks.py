"""``tasks`` and ``task``: what there is to do, and where it stands."""

from typing import Annotated

import typer

from memprove.cli import options, tables
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.domain.events import TaskState
from memprove.ledger.domain.lines import utc
from memprove.ledger.operations.tasks import CreateTask, ListTasks, MoveTask, ReadTask, TaskTold

app = verbs()
below = verbs(help="Add, show and move Tasks.")
app.add_typer(below, name="task")

Number = Annotated[int, typer.Argument(metavar="N", min=1, help="The Task's number.")]


@app.command()
def tasks(
    context: typer.Context,
    status: Annotated[
        list[TaskState] | None, typer.Option(help="Only Tasks in this state; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most N, up to 100.")] = 20,
    after: Annotated[int, typer.Option(metavar="N", min=0, help="Only Tasks after number N.")] = 0,
    as_json: options.Json = False,
) -> None:
    """List the Workspace's Tasks by number.

    Examples:
      memprove tasks
      memprove tasks --status in_progress --status blocked
      memprove tasks --limit 100 --after 100 --json

    """
    call = invoked(context, as_json=as_json)
    listed = call.execute(ListTasks(states=tuple(status or ()), limit=limit, after=after))
    if as_json:
        call.answer(listed)
        return
    rows = [
        (str(task.number), task.state.value, utc(task.updated_at), printing.quoted(task.title))
        for task in listed.tasks
    ]
    if rows:
        tables.show(call.output, ("Task", "State", "Changed", "Title"), rows)
    else:
        call.output.print("no Tasks")
    if listed.next is not None:
        call.note([f"more follow: memprove tasks --after {listed.next}"])


@below.command()
def add(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="At most 200 characters.")],
    description: Annotated[str, typer.Option(metavar="TEXT", help="What is to be done.")] = "",
    backlog: Annotated[bool, typer.Option("--backlog", help="Not to be done yet.")] = False,
    as_json: options.Json = False,
) -> None:
    """Add a Task without beginning it.

    Examples:
      memprove task add "Try Windows line ends"
      memprove task add "Drop Python 3.11" --description "after October 2027" --backlog

    """
    call = invoked(context, as_json=as_json)
    state = TaskState.BACKLOG if backlog else TaskState.PENDING
    _tell(call, call.execute(CreateTask(title=title, description=description, state=state)))


@below.command()
def show(
    context: typer.Context,
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="The Task's number.")
    ] = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """Show a Task, the current one if none is named.

    Examples:
      memprove task show
      memprove task show 3 --json

    """
    from memprove.cli import capsules  # late: the other verbs print no Capsule

    call = invoked(context, as_json=as_json, session=session)
    capsule = call.execute(ReadTask(task=number))
    call.answer(capsule, *capsules.task(capsule))


@below.command(name="set")
def set_state(
    context: typer.Context,
    number: Number,
    state: Annotated[TaskState, typer.Argument(help="Where it goes.", show_default=False)],
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    as_json: options.Json = False,
) -> None:
    """Move a Task to another state; to completed only as `complete` would.

    Examples:
      memprove task set 3 blocked --comment "waits for the parser"
      memprove task set 4 canceled

    """
    call = invoked(context, as_json=as_json)
    _tell(call, call.execute(MoveTask(task=number, state=state, comment=comment)))


def _tell(call: Invocation, told: TaskTold) -> None:
    call.answer(told, f"Task {told.task} {told.state} {printing.quoted(told.title)}")
