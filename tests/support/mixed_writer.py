"""A process that writes to a ledger through one of its faces, and says what was kept.

``python -P -m support.mixed_writer FOLDER CLIENT COUNT [FACE]``: a line ``seq label…`` on stdout
for each acknowledged write, as soon as it is; COUNT 0 goes on for ever. The environment names the
ledger. FACE is ``operations`` of all kinds; ``commands``, with a process for each ``run``; or
``tools``, by a server of its own.
"""

import io
import json
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

from support.ledgers import run_ended, run_started
from support.wire import EXECUTABLE, Wire, call, served

from memprove.ledger.domain.events import Fact, RunKind, TaskState
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.runs import EndRun, StartRun
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask, MoveTask
from memprove.ledger.problems import LEDGER_BUSY, Problem
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller

ResultT = TypeVar("ResultT")


def main(folder: str, client: str, times: int, face: str = "operations") -> None:
    os.environ["MEMPROVE_CONTEXT"] = client
    os.chdir(folder)
    match face:
        case "operations":
            ledger = Ledger(Caller("cli", Path(folder), dict(os.environ)))
            tell(patiently(ledger, BeginWork(new_task=f"work of {client}", agent=client)).seq)
            repeat(lambda number: write(ledger, client, number), times)
            if times:
                tell(patiently(ledger, EndSession(note="done")).seq)
        case "commands":
            command("begin", f"work of {client}", "--json")
            repeat(lambda number: type_in(client, number), times)
        case _:
            with served(Path(folder), EXECUTABLE) as wire:
                wire.open()
                ask(wire, "begin", new_task=f"work of {client}")
                repeat(lambda number: use(wire, client, number), times)


def patiently(ledger: Ledger, operation: Operation[ResultT]) -> ResultT:
    """Do as the Problem says when others take all the time there is: try again."""
    while True:
        try:
            return ledger.execute(operation)
        except Problem as problem:
            if problem.kind is not LEDGER_BUSY:
                raise


def repeat(do: Callable[[int], None], times: int) -> None:
    for number in count(1):
        if number == times:
            break
        do(number)


def type_in(client: str, number: int) -> None:
    """Use the command line."""
    if number % 5:
        command("checkpoint", "--fact", f"fact {number} of {client}", "--json")
    else:
        from memprove.cli import app  # late: most writers are started often and do not need it

        assert app.run(["run", "--quiet", "--", "true"]) == 0


def command(*arguments: str) -> None:
    """Call a verb whose answer says which event it made."""
    from memprove.cli import app

    stdout, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
    try:
        code = app.run(arguments)
        sys.stdout.seek(0)
        answer = sys.stdout.read()
    finally:
        sys.stdout = stdout
    if code:
        return command(*arguments)
    return tell(json.loads(answer)["seq"])


def use(wire: Wire, client: str, number: int) -> None:
    """Use the tools."""
    if number % 2:
        ask(wire, "checkpoint", facts=[f"fact {number} of {client}"])
    else:
        ask(wire, "decide", title=f"choice {number}", choice="this", rationale="so it is")


def ask(wire: Wire, tool: str, **arguments: object) -> None:
    answer = wire.ask(call(wire.new_id(), tool, arguments))["result"]
    if answer["isError"]:
        assert answer["structuredContent"]["code"] == "ledger_busy", answer
        return ask(wire, tool, **arguments)
    return tell(answer["structuredContent"]["seq"])


def write(ledger: Ledger, client: str, number: int) -> None:
    match number % 5:
        case 0:
            told = patiently(ledger, CreateTask(f"task {number} of {client}"))
            tell(told.seq, f"t{told.task}")
            assert told.task is not None
            tell(patiently(ledger, MoveTask(told.task, TaskState.BACKLOG)).seq)
        case 1 | 2:
            fact = Fact(text=f"fact {number} of {client}")
            noted = patiently(ledger, RecordCheckpoint((fact,), (f"item {number} of {client}",)))
            tell(noted.seq, *noted.claims, *noted.open_items)
        case 3:
            decision = patiently(ledger, ProposeDecision(f"choice {number}", "this", "so it is"))
            tell(decision.seq, decision.decision)
        case _:
            begun = patiently(ledger, StartRun(run_started("true", kind=RunKind.OTHER)))
            tell(begun.seq, begun.run)
            tell(patiently(ledger, EndRun(begun, run_ended(begun.run, kind=RunKind.OTHER))).seq)


def tell(seq: int, *labels: str) -> None:
    print(seq, *labels, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
