"""A process that reads a ledger until its standard input ends: ``-m support.racing_reader FOLDER``.

The environment names the ledger. What it says at its end is how often it read.
"""

import os
import select
import sys
from pathlib import Path

from memprove.ledger.operations.keys import ReadHead
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.tasks import ListTasks
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller


def main(folder: str) -> None:
    ledger = Ledger(Caller("cli", Path(folder), dict(os.environ)))
    reads, size = 0, 0
    print("reading", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0] or reads < 3:
        ledger.execute(ListTasks())
        head = ledger.execute(ReadHead())
        assert head.size >= size
        size = head.size
        if reads % 50 == 0:
            report = ledger.execute(VerifyLedger(full=reads % 100 == 0))
            assert report.ok, report.findings
            assert report.remembered is not None
        reads += 1
    print(reads)


if __name__ == "__main__":
    main(sys.argv[1])
