"""One invocation of a verb: the ledger as this caller reaches it, and where the answer goes."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from memprove.cli.output import Output
from memprove.ledger.domain import printing
from memprove.ledger.receipts import REPLAYED
from memprove.ledger.settings import Caller

if TYPE_CHECKING:
    from memprove.ledger.operations.base import Operation

ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class Invocation:
    """What a verb works with. *as_json* and *from_agent* are the verb's own options."""

    verb: str = ""
    config_dir: Path | None = None
    output: Output = field(default_factory=Output)
    as_json: bool = False
    from_agent: bool = False
    session: int | None = None

    def caller(self) -> Caller:
        """Return who calls. With *session*, reads are about that Session too."""
        env = dict(os.environ)
        if self.session is not None:
            env["MEMPROVE_SESSION"] = str(self.session)
        return Caller(
            face="cli",
            cwd=here(),
            env=env,
            config_option=self.config_dir,
            from_agent=self.from_agent,
        )

    def execute(self, operation: "Operation[ResultT]") -> ResultT:
        """Execute *operation*; say what the ledger notes beside it, and what the answer does."""
        from memprove.ledger.service import Ledger  # late: help and wrong usage need no ledger

        ledger = Ledger(self.caller())
        try:
            result = ledger.execute(operation)
        finally:
            self.note(ledger.notes)
        if getattr(result, "replayed", False):
            self.note([REPLAYED])
        self.note(getattr(result, "notes", ()))
        return result

    def note(self, notes: Iterable[str]) -> None:
        """Say *notes*, which may hold what others wrote."""
        self.output.say(*map(printing.escape, notes))

    def answer(self, value: object, *lines: str) -> None:
        """Print *value* as a document if that was asked for, else *lines*."""
        if self.as_json:
            from memprove.cli import document  # late: only for --json

            self.output.write(document.encode(value))
        else:
            self.output.print(*lines)


def invoked(
    context: typer.Context,
    *,
    as_json: bool = False,
    from_agent: bool = False,
    session: int | None = None,
) -> Invocation:
    """Return the Invocation that the options of *context* and of the verb make."""
    globally = context.find_object(Invocation) or Invocation()
    return replace(globally, as_json=as_json, from_agent=from_agent, session=session)


def here() -> Path:
    """Return the working directory; one that was removed under us, by the name it had."""
    try:
        return Path.cwd()
    except OSError:
        return Path(os.environ.get("PWD") or os.sep)


def flush() -> None:
    """Write out what Python holds back, before another process writes to the same streams."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
