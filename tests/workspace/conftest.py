"""A repository, and no settings of git but ours."""

from pathlib import Path

import pytest
from support.git_repository import isolate, new_repository


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return an empty home directory, the only one that git knows."""
    isolate(monkeypatch, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def repository(home: Path, tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")
