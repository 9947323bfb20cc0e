"""Many processes on one ledger: none fails, nothing is numbered twice, nothing kept is lost."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.ledgers import Project, new_project

from memprove.ledger.domain.labels import split_label
from memprove.ledger.operations.tasks import CreateTask
from memprove.ledger.projections import counter_key

TESTS = Path(__file__).resolve().parent.parent
WRITERS, WRITES, FEW = 16, 50, 8
FACES = ("operations", "commands", "tools")
KILLS, SOME = 20, 5


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def start(
    project: Project, client: str, times: int, face: str = "operations"
) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "support.mixed_writer", str(project.folder), client]
    return subprocess.Popen(
        [*command, str(times), face],
        cwd=TESTS,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _own(errors: str) -> list[str]:
    """Return the lines of *errors* but those that say, as they should, that others write."""
    return [line for line in errors.splitlines() if "ledger_busy" not in line]


def told(output: str) -> list[int]:
    """Return the event numbers of the whole lines in *output*: what was acknowledged."""
    return [int(line.split()[0]) for line in output.splitlines(keepends=True) if line[-1] == "\n"]


@pytest.mark.timeout(400)
def test_sixteen_processes_mix_their_writes(project: Project, thorough: bool) -> None:
    writes = WRITES if thorough else FEW
    faces = [FACES[number % len(FACES)] for number in range(WRITERS)]
    writers = [
        start(project, f"writer-{number}", writes, face) for number, face in enumerate(faces)
    ]
    outcomes = [(*writer.communicate(timeout=380), writer.returncode) for writer in writers]
    ended = [(_own(errors), code) for _, errors, code in outcomes]
    assert ended == [([], 0)] * WRITERS
    acknowledged = [seq for output, _, _ in outcomes for seq in told(output)]
    assert len(acknowledged) == len(set(acknowledged))
    assert all(len(told(output)) >= writes // 2 for output, _, _ in outcomes)
    assert project.size() >= max(acknowledged)
    leaves = [record.leaf for record in project.records()]
    numbered = [
        (counter_key(leaf.stream, leaf.workspace, split_label(label)[0]), label)
        for leaf in leaves
        for label in leaf.labels
    ]
    assert len(numbered) == len(set(numbered))
    project.check_green()


def test_kills_under_two_writers_lose_nothing_acknowledged(
    project: Project, thorough: bool
) -> None:
    moments = random.Random(20)
    acknowledged: list[int] = []
    for number in range(KILLS if thorough else SOME):
        writers = [start(project, f"{side}-{number}", 0) for side in ("left", "right")]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged += told(writer.stdout.readline())
        time.sleep(moments.uniform(0, 0.05))  # the moment is the point here, not a wait
        for writer in writers:
            writer.kill()
        for writer in writers:
            output, errors = writer.communicate(timeout=20)
            assert errors == ""
            acknowledged += told(output)
        acknowledged.append(project.execute(CreateTask(f"after kill {number}")).seq)
    assert project.size() >= max(acknowledged)
    assert len(acknowledged) == len(set(acknowledged))
    project.check_green()
