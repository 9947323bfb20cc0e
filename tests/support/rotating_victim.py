"""A process that rotates the key and is killed (SIGKILL) by itself at one step of it.

``python -P -m support.rotating_victim FOLDER STEP WHEN``: STEP is one of ``STEPS``, WHEN is
``before`` or ``after`` it. The environment names the ledger.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from memprove.ledger.log.append import Appender
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.remembered import Memory
from memprove.ledger.operations.keys import RotateKey
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
from memprove.ledger.storage.sqlite import SqliteStore
from memprove.ledger.storage.sqlite_blocks import SqliteWriter

STEPS: Final[dict[str, tuple[type[Any], str]]] = {
    "write-key": (Keys, "create"),
    "append": (Appender, "append"),
    "put-head": (SqliteWriter, "put_head"),
    "commit": (SqliteStore, "_checkpoint"),
    "erase": (Keys, "erase_below"),
    "remember": (Memory, "keep"),
}
"""Each step, in order, and the method that makes it (the commit: what comes next)."""


def main(folder: str, step: str, when: str) -> None:
    kind, name = STEPS[step]
    calls = 1 if step == "erase" else 0  # the first one is of what an earlier crash left
    setattr(kind, name, dying(getattr(kind, name), when, calls))
    caller = Caller("cli", Path(folder), dict(os.environ))
    Ledger(caller).execute(RotateKey())


def dying(step: Callable[..., Any], when: str, calls: int) -> Callable[..., Any]:
    """Return *step*, which kills this process in its call number *calls*, counted from 0."""
    left = iter(range(calls, -1, -1))

    def last(*arguments: Any, **named: Any) -> Any:
        with killing(when if next(left) == 0 else ""):
            return step(*arguments, **named)

    return last


@contextmanager
def killing(when: str) -> Iterator[None]:
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    yield
    if when == "after":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
