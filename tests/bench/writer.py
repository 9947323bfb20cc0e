"""A process that appends: ``python -m bench.writer FOLDER TIMES``; how long each took, in seconds.

It says ``ready``, waits for a line, and tells all at the end: what it prints delays nothing.
"""

import os
import sys
from pathlib import Path

from bench.samples import seconds
from support.ledgers import run_started

from memprove.ledger.domain.events import RunKind
from memprove.ledger.operations.runs import StartRun
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller


def one_event() -> StartRun:
    """Return the operation that is measured: the start of a Run, which judges nothing."""
    return StartRun(run_started("pytest", "-q", kind=RunKind.TEST))


def main(folder: str, times: int) -> None:
    """Append *times* events."""
    ledger = Ledger(Caller("cli", Path(folder), dict(os.environ)))
    append = seconds(lambda: ledger.execute(one_event()))
    print("ready", flush=True)
    sys.stdin.readline()
    print("\n".join([str(append()) for _ in range(times)]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
