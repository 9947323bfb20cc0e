"""Servers to speak to: one for what leaves no trace, new ones for what does, one with a ledger."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate
from support.tools import Served
from support.wire import EXECUTABLE, Wire
from support.wire import served as serving


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The real executable, without a ledger, for a whole module; nobody shakes hands with it."""
    folder = tmp_path_factory.mktemp("shared")
    env = {"MEMPROVE_CONFIG_DIR": str(folder / "config"), "MEMPROVE_TOKEN": "not-a-token"}
    with serving(folder, EXECUTABLE, env) as wire:
        yield wire


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Wire]:
    """The real executable, without a ledger."""
    env = {"MEMPROVE_CONFIG_DIR": str(tmp_path / "config")}
    with serving(tmp_path, EXECUTABLE, env) as wire:
        yield wire


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[Wire]:
    """Our loop and server with tools that a test can time; the handshake is done."""
    with serving(tmp_path) as wire:
        wire.open()
        yield wire


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a ledger."""
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


@pytest.fixture
def served(desk: Desk) -> Served:
    """A server of the ten tools there, in the test's own process."""
    return Served(desk.folder, dict(desk.env))
