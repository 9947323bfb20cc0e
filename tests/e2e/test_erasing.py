"""Erasing among other writers, on a full disk, and killed in the middle."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.children import exit_code_of
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import Fact
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.erasures import RedactEvent
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ReadTask
from memprove.ledger.problems import Problem
from memprove.ledger.service import Ledger
from memprove.ledger.storage import sqlite_scrub

TESTS = Path(__file__).resolve().parent.parent
SECRET = "correct horse battery"
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return begun(new_project(tmp_path))


def begun(project: Project) -> Project:
    project.execute(BeginWork(new_task="t"))
    project.execute(RecordCheckpoint(facts=(Fact(text=SECRET),)))
    return project


def redact(project: Project) -> None:
    Ledger(project.caller()).execute(RedactEvent("c1", "a leak"))


def is_erased(project: Project) -> bool:
    """Tell whether the fact reads as erased, having checked that the ledger is whole."""
    project.check_green()
    return project.execute(ReadTask()).claims["c1"].text != SECRET


def test_others_append_while_events_are_erased(project: Project) -> None:
    for number in range(10):
        project.execute(RecordCheckpoint(facts=(Fact(text=f"{SECRET} {number}"),)))
    command = [sys.executable, "-m", "support.mixed_writer", str(project.folder)]
    writers = [
        subprocess.Popen(
            [*command, f"writer-{number}", "15"],
            cwd=TESTS,
            env=project.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    for number in range(1, 12):
        Ledger(project.caller()).execute(RedactEvent(f"c{number}", "a leak", task=1))
    outcomes = [(writer.communicate(timeout=100)[1], writer.returncode) for writer in writers]
    assert outcomes == [(b"", 0)] * 3
    assert SECRET.encode() not in project.everything_stored()
    project.check_green()


@needs_fork
@pytest.mark.parametrize("step", ["plan", "scrub", "during"])
def test_killed_in_the_middle_it_is_erased_with_its_tombstone_or_not(
    project: Project, step: str
) -> None:

    def work() -> None:
        if step == "during":
            os._exit(_killed_at_random(project))
        setattr(sqlite_scrub, step, lambda *_: os._exit(9))
        redact(project)

    assert exit_code_of(work) == 9
    assert is_erased(project) == (step == "scrub") or step == "during"
    redact(project)
    assert is_erased(project)
    assert SECRET.encode() not in project.everything_stored()


def _killed_at_random(project: Project) -> int:
    """Kill a process that erases, after some of the calls that it makes."""
    left = random.Random(os.getpid()).randrange(200, 20_000)

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            os._exit(9)

    sys.setprofile(count)
    redact(project)
    return 9


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Project]:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    data = tmp_path / "data"
    data.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", data]).returncode:
        pytest.skip("this system mounts no tmpfs")
    yield begun(new_project(tmp_path))
    subprocess.run(["umount", data], check=True)


@pytest.mark.parametrize("free", [0, 4, 16, 24, 48, 96, 160, 200])
def test_on_a_full_disk_it_is_erased_with_its_tombstone_or_not(small: Project, free: int) -> None:
    ballast = small.data_dir / "ballast"
    room = os.statvfs(small.data_dir)
    ballast.write_bytes(b"x" * (room.f_bavail * room.f_frsize - free * 1024))
    told = ""
    try:
        redact(small)
    except Problem as problem:
        told = problem.code
    ballast.unlink()
    assert told in ("", "disk_full", "erasure_unfinished")
    assert is_erased(small) == (told != "disk_full")
    assert (SECRET.encode() in small.everything_stored()) == bool(told)
    redact(small)
    assert is_erased(small)
    assert SECRET.encode() not in small.everything_stored()
