"""A signal that comes while a Run is being recorded: the record is not lost."""

import os
import signal
import time
from pathlib import Path

import pytest
from support.command_line import desk_with_ledger
from support.git_repository import isolate

from memprove.ledger.domain.run import Verdict
from memprove.ledger.recording import Recorded, RunOptions, record
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    return Caller("cli", desk.folder, desk.env)


def recorded_with(caller: Caller, number: int) -> Recorded:
    """Record a command; our process gets signal *number* while the end is recorded."""
    came = []

    def clock() -> int:
        if (caller.cwd / "ended").exists():
            came.append(number)
            os.kill(os.getpid(), number)
        return time.time_ns() // 1_000_000

    command = ["sh", "-c", "touch ended; exit 3"]
    recorded = record(Ledger(caller, clock=clock), command, RunOptions())
    assert came
    return recorded


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_command_has_ended_loses_no_record(caller: Caller, number: int) -> None:
    handler = signal.getsignal(number)
    recorded = recorded_with(caller, number)
    assert (recorded.code, recorded.verdict) == (3, Verdict.FAILED)
    assert recorded.said == ()
    assert signal.getsignal(number) == handler
