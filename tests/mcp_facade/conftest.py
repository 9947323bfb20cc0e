"""Servers to speak to: one for what leaves no trace, new ones for what does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.wire import EXECUTABLE, Wire, served


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The real executable, without a ledger, for a whole module; nobody shakes hands with it."""
    folder = tmp_path_factory.mktemp("shared")
    env = {"MEMPROVE_CONFIG_DIR": str(folder / "config"), "MEMPROVE_TOKEN": "not-a-token"}
    with served(folder, EXECUTABLE, env) as wire:
        yield wire


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Wire]:
    """The real executable, without a ledger."""
    env = {"MEMPROVE_CONFIG_DIR": str(tmp_path / "config")}
    with served(tmp_path, EXECUTABLE, env) as wire:
        yield wire


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[Wire]:
    """Our loop and server with tools that a test can time; the handshake is done."""
    with served(tmp_path) as wire:
        wire.open()
        yield wire
