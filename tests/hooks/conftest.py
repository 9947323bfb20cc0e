"""A repository with a ledger, and none of the tester's own surroundings."""

from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)
