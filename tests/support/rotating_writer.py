"""A process that writes and rotates the key in turn: ``-m support.rotating_writer FOLDER COUNT``.

The environment names the ledger and the client session. A line on stdout for each write that is
acknowledged: its event number. COUNT 0 goes on for ever.
"""

import os
import sys
from itertools import count
from pathlib import Path

from memprove.ledger.operations.keys import RotateKey
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask
from memprove.ledger.problems import LEDGER_BUSY, Problem
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller


def main(folder: str, times: int) -> None:
    ledger = Ledger(Caller("cli", Path(folder), dict(os.environ)))
    for number in range(times) if times else count():
        while True:
            try:
                print(write(ledger, number), flush=True)
                break
            except Problem as problem:
                if problem.kind is not LEDGER_BUSY:  # a slow machine is no failure here
                    raise


def write(ledger: Ledger, number: int) -> int:
    match number % 4:
        case 0:
            return ledger.execute(RotateKey()).seq
        case 1:
            return ledger.execute(BeginWork(new_task=f"task {number}")).seq
        case 2:
            return ledger.execute(EndSession(note=f"end {number}")).seq
        case _:
            return ledger.execute(CreateTask(f"plain {number}")).seq


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
