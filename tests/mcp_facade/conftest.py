"""A repository with a ledger, and a server of the tools there."""

from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate
from support.tools import Served


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


@pytest.fixture
def served(desk: Desk) -> Served:
    return Served(desk.folder, dict(desk.env))
