"""Clocks that step back, zones, and an hour that comes twice change only the times shown."""

import re
import shutil
from pathlib import Path

import pytest
from support.command_line import MEMPROVE, Desk, desk_with_ledger
from support.git_repository import isolate
from support.ledgers import Clock, Project, new_project

from memprove.ledger.domain.events import Fact, TaskState
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.ledgers import ReadLog
from memprove.ledger.operations.packs import ReadPack
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import ListTasks, MoveTask

HOUR = 3_600_000
STEPS = {
    "forward": (1_000,) * 6,
    "an hour back": (1_000, -HOUR, 1_000, 1_000, -HOUR, 1_000),
    "a day back and on": (-24 * HOUR, 1, 48 * HOUR, -1, -HOUR, 0),
    "standing still": (-1_000,) * 6,  # each operation comes a second after the one before
}


def told_over(base: Path, steps: tuple[int, ...]) -> tuple[str, list[str], Project]:
    """Do the same work under a clock that steps so; return the Pack without times, and the log."""
    project = new_project(base, repository=True)
    turns = iter(steps)

    def turn() -> None:
        project.clock.turn(next(turns))

    project.execute(BeginWork(new_task="first", agent="a"))
    turn()
    project.run()
    turn()
    project.execute(RecordCheckpoint((Fact(text="one", evidence=("r1",)),), ("left",)))
    turn()
    project.run("make", exit=1, passed=1, failed=2)
    turn()
    project.execute(RecordCheckpoint((Fact(text="two"),), next_action="go on"))
    turn()
    project.execute(EndSession(note="stopped"))
    turn()
    pack = project.execute(ReadPack(task=1)).pack
    log = [record.leaf.kind for record in project.records()]
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", pack), log, project


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_the_pack_and_the_log_are_in_the_order_of_the_work(
    tmp_path: Path, steps: tuple[int, ...]
) -> None:
    straight, straight_log, _ = told_over(tmp_path / "straight", STEPS["forward"])
    pack, log, project = told_over(tmp_path / "stepped", steps)
    assert (pack, log) == (straight, straight_log)
    project.check_green()


@pytest.mark.parametrize("back", [0, -HOUR, -24 * HOUR])
def test_the_task_that_is_gone_on_with_is_the_one_that_changed_last(
    tmp_path: Path, back: int
) -> None:
    project = new_project(tmp_path)
    for title in ("older", "newer"):
        project.execute(BeginWork(new_task=title))
        project.execute(EndSession())
        project.clock.turn(back)
    stranger = {"MEMPROVE_CONTEXT": "of somebody who begins"}
    assert project.execute(ReadPack(), **stranger).task == 2
    project.execute(MoveTask(1, TaskState.BLOCKED))
    assert project.execute(ReadPack(), **stranger).task == 1


def test_the_hour_that_comes_twice_is_told_apart(tmp_path: Path) -> None:
    before_and_after = (1_793_494_800_000, 1_793_498_400_000)  # 01:00 twice in New York
    clock = Clock()
    project = new_project(tmp_path)
    for now in before_and_after:
        clock.now = project.clock.now = now
        project.execute(BeginWork(new_task=f"at {now}"), TZ="America/New_York")
    tasks = project.execute(ListTasks()).tasks
    assert [task.updated_at - task.created_at for task in tasks] == [0, 0]
    assert tasks[1].created_at - tasks[0].created_at == HOUR
    assert project.execute(ReadLog()).events


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


def test_a_zone_changes_nothing_that_is_kept_or_shown(desk: Desk) -> None:
    desk.begin()
    shown = set()
    for zone in ("UTC", "Pacific/Kiritimati", "No/Such_Zone"):
        shown.add(desk.memprove("log", env={"TZ": zone}).out)
    assert len(shown) == 1


def test_processes_whose_clocks_differ_write_one_ledger(desk: Desk) -> None:
    if shutil.which("faketime") is None:
        pytest.skip("no faketime here")
    desk.begin()
    for offset in ("+2d", "-400d"):
        done = desk.memprove(
            "checkpoint", "--fact", f"at {offset}", command=("faketime", "-f", offset, *MEMPROVE)
        )
        assert done.code == 0, done
        ran = desk.memprove("run", "--", "true", command=("faketime", "-f", offset, *MEMPROVE))
        assert ran.code == 0, ran
    assert [claim["text"] for claim in desk.memprove("claims", "--json").json["claims"]] == [
        "at +2d",
        "at -400d",
    ]
    events = desk.memprove("log", "--json").json["events"]
    took = [event["payload"]["duration_ms"] for event in events if event["kind"] == "run.ended"]
    assert len(took) == 2
    assert min(took) >= 0
    assert desk.memprove("verify").code == 0
