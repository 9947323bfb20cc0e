"""Rotation in real processes: killed at every step, and many at once; nobody sees a false alarm."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.ledgers import Project, new_project
from support.rotating_victim import STEPS

from memprove.ledger.operations.keys import ReadHead, RotateKey
from memprove.ledger.operations.tasks import CreateTask

TESTS = Path(__file__).resolve().parent.parent
KILLS = 12


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def start(
    project: Project, program: str, *arguments: str, client: str = "shell"
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", f"support.{program}", str(project.folder), *arguments],
        cwd=TESTS,
        env={**project.env, "MEMPROVE_CONTEXT": client},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_one_key(project: Project) -> None:
    """Check that the key of the ledger's epoch is there and no older one; that it goes on."""
    project.execute(CreateTask("after"))
    rotations = sum(event.kind == "key.rotated" for event in project.events())
    numbers = [int(path.stem) for path in project.keys]
    assert min(numbers) == rotations + 1
    project.execute(RotateKey())
    assert [int(path.stem) for path in project.keys] == [rotations + 2]
    assert project.execute(ReadHead()).epoch == rotations + 1
    project.check_green()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_leaves_one_live_key(project: Project, step: str, when: str) -> None:
    before = project.size()
    victim = start(project, "rotating_victim", step, when)
    _, errors = victim.communicate(timeout=60)
    assert (victim.returncode, errors) == (-signal.SIGKILL, "")
    committed = list(STEPS).index(step) >= list(STEPS).index("commit")
    assert project.size() == before + committed
    project.check_green()
    check_one_key(project)


def test_processes_that_rotate_and_append_at_once(project: Project) -> None:
    writers = [start(project, "rotating_writer", "20", client=str(n)) for n in range(6)]
    outcomes = [(*writer.communicate(timeout=200), writer.returncode) for writer in writers]
    assert [(errors, code) for _, errors, code in outcomes] == [("", 0)] * 6
    numbers = [int(line) for output, _, _ in outcomes for line in output.split()]
    assert len(set(numbers)) == 6 * 20
    check_one_key(project)


def test_kills_under_processes_that_rotate_leave_one_live_key(project: Project) -> None:
    moments = random.Random(12)
    for number in range(KILLS):
        writers = [start(project, "rotating_writer", "0", client=f"{n}-{number}") for n in "ab"]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline()
        time.sleep(moments.uniform(0, 0.05))  # the moment is the point here, not a wait
        for writer in writers:
            writer.kill()
        for writer in writers:
            assert writer.communicate(timeout=60)[1] == ""
    check_one_key(project)


def test_readers_that_race_writers_see_no_false_alarm(project: Project) -> None:
    readers = [start(project, "racing_reader") for _ in range(8)]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
    writers = [start(project, "rotating_writer", "10", client=str(n)) for n in range(8)]
    written = [(*writer.communicate(timeout=200), writer.returncode) for writer in writers]
    assert [(errors, code) for _, errors, code in written] == [("", 0)] * 8
    read = [(*reader.communicate(timeout=200), reader.returncode) for reader in readers]
    assert [(errors, code) for _, errors, code in read] == [("", 0)] * 8
    assert not list(project.state_dir.glob("evidence/*"))
    check_one_key(project)
