"""A process that writes to a ledger through all kinds of operations, and says what was kept.

``python -P -m support.mixed_writer FOLDER CLIENT COUNT``: a line ``seq label…`` on stdout for each
acknowledged write, as soon as it is; COUNT 0 goes on for ever. The environment names the ledger.
"""

import os
import sys
from itertools import count
from pathlib import Path

from support.ledgers import run_ended, run_started

from memprove.ledger.domain.events import Fact, RunKind, TaskState
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.runs import EndRun, StartRun
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask, MoveTask
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller


def main(folder: str, client: str, times: int) -> None:
    ledger = Ledger(Caller("cli", Path(folder), {**os.environ, "MEMPROVE_CONTEXT": client}))
    tell(ledger.execute(BeginWork(new_task=f"work of {client}", agent=client)).seq)
    for number in count(1):
        if number == times:
            break
        write(ledger, client, number)
    if times:
        tell(ledger.execute(EndSession(note="done")).seq)


def write(ledger: Ledger, client: str, number: int) -> None:
    match number % 5:
        case 0:
            told = ledger.execute(CreateTask(f"task {number} of {client}"))
            tell(told.seq, f"t{told.task}")
            assert told.task is not None
            tell(ledger.execute(MoveTask(told.task, TaskState.BACKLOG)).seq)
        case 1 | 2:
            fact = Fact(text=f"fact {number} of {client}")
            noted = ledger.execute(RecordCheckpoint((fact,), (f"item {number} of {client}",)))
            tell(noted.seq, *noted.claims, *noted.open_items)
        case 3:
            decision = ledger.execute(ProposeDecision(f"choice {number}", "this", "so it is"))
            tell(decision.seq, decision.decision)
        case _:
            begun = ledger.execute(StartRun(run_started("true", kind=RunKind.OTHER)))
            tell(begun.seq, begun.run)
            tell(ledger.execute(EndRun(begun, run_ended(begun.run, kind=RunKind.OTHER))).seq)


def tell(seq: int, *labels: str) -> None:
    print(seq, *labels, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
