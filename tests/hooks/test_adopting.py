"""What a sandboxed shell spooled is the ledger's when the next conversation starts."""

from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate
from support.hook_samples import GREETED
from support.hooked import hook, told

from memprove.ledger.storage.lock import writers_lock

START = GREETED["startup"]
SHUT_IN = {"MEMPROVE_CONFIG_DIR": "/nonexistent", "MEMPROVE_DATA_DIR": ""}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    desk.begin()
    return desk


def spool(desk: Desk) -> None:
    done = desk.memprove("run", "--", "make", "--version", env=SHUT_IN)
    assert "is kept in .memprove/spool/" in done.err, done


def waiting(desk: Desk) -> list[str]:
    return sorted(path.name for path in (desk.folder / ".memprove/spool").glob("*.run"))


def kinds(desk: Desk) -> list[str]:
    return [event["kind"] for event in desk.memprove("log", "--json").json["events"]]


def test_the_start_of_a_conversation_adopts_them_and_shows_them(desk: Desk) -> None:
    spool(desk)
    spool(desk)
    assert "`make --version`" in told(hook(desk, START, cwd=desk.folder / "dir"))
    assert waiting(desk) == []
    assert kinds(desk).count("run.ended") == 2
    assert desk.memprove("verify", "--full").code == 0


def test_a_forged_one_is_set_aside_and_the_pack_is_there(desk: Desk) -> None:
    (desk.folder / ".memprove/spool/1-1.run").write_bytes(b"{}")
    assert "Task 1" in told(hook(desk, START))
    assert waiting(desk) == []
    assert "run.started" not in kinds(desk)


def test_behind_another_writer_they_wait_and_the_pack_is_there(desk: Desk) -> None:
    spool(desk)
    with writers_lock(desk.data, 10):
        assert "Task 1" in told(hook(desk, START))
    assert waiting(desk) == ["1-1.run"]


def test_more_than_there_is_time_for_waits(desk: Desk) -> None:
    folder = desk.folder / ".memprove/spool"
    for number in range(1, 102):
        (folder / f"1-{number}.run").write_bytes(b"{}")
    assert "Task 1" in told(hook(desk, START))
    assert len(waiting(desk)) == 101


def test_a_trial_of_the_hook_records_nothing(desk: Desk) -> None:
    spool(desk)
    before = kinds(desk)
    assert "Task 1" in told(hook(desk, {**START, "source": "doctor"}))
    assert (kinds(desk), waiting(desk)) == (before, ["1-1.run"])
