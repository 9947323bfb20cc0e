"""Nothing that a repository or the environment can name is run by us."""

from pathlib import Path

import pytest
from support.git_repository import attempt
from support.hostile_repository import HOSTILE, Hostile

from memprove.ledger.workspace.changes import changes
from memprove.ledger.workspace.repository import root_commits, tracked_under
from memprove.ledger.workspace.tree import read_tree

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    (tmp_path / "tripwire").mkdir()
    return tmp_path / "tripwire" / "fired"


def _make_dirty(repository: Path) -> None:
    (repository / "a.txt").write_text("changed\n")
    (repository / "new.txt").write_text("new\n")


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda row: row.name)
def test_the_tripwire_fires_under_plain_git(
    hostile: Hostile, repository: Path, marker: Path
) -> None:
    environment = hostile.plant(repository, marker)
    _make_dirty(repository)

    attempt(repository, *hostile.control, env=environment)

    assert marker.exists()


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda row: row.name)
def test_nothing_of_ours_fires_the_tripwire(
    hostile: Hostile, repository: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_tree(repository, deadline_s=20)
    environment = hostile.plant(repository, marker)
    _make_dirty(repository)
    marker.unlink(missing_ok=True)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repository)

    after = read_tree(repository, deadline_s=20)
    read_tree(Path(), deadline_s=20)
    for folder in ("sub", "nested", "bare"):
        read_tree(repository / folder, deadline_s=20)
    root_commits(repository, deadline_s=20)
    tracked_under(repository, ".memprove", deadline_s=20)
    changes(repository, before.snapshot, after.snapshot, deadline_s=20)

    assert not marker.exists()
    assert after.id is not None or after.reason.startswith(("filter_untrusted", "submodule_"))
