"""A repository with a ledger, and none of the tester's own surroundings."""

import io
import os
import sys
from pathlib import Path

import pytest
from support.command_line import Desk, Done, Inside, desk_with_ledger
from support.git_repository import isolate

from memprove.cli import app


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


@pytest.fixture
def inside(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Inside:
    """The command at the desk in this very process: for tables of many calls."""
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in desk.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(desk.folder)

    def memprove(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = app.run(arguments)
        return Done(code, *capfdbinary.readouterr())

    return memprove
