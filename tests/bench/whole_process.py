"""``memprove run``, from the start of the process to its end, beside in-toto, Python and git."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench import scene
from bench.result import Result
from bench.samples import alternate, median, p95, spread
from bench.scene import Scene

from memprove.ledger.operations.sessions import BeginWork

OVER_PYTHON_S = 0.130
STATUSES = 3


def measure(place: Scene) -> Iterator[Result]:
    """Measure a Run of ``true`` in a Session, in a repository of 2,000 files."""
    base = place.folder("whole_process")
    project = scene.repository(base)
    project.ledger().execute(BeginWork(new_task="measure", agent="bench"))

    def process(*command: str) -> Callable[[], float]:
        return _process(command, project.folder, project.env)

    taken = alternate(
        place.rounds(30),
        {
            "memprove": process(*scene.memprove(), "run", "-q", "--", "true"),
            "in-toto": process(*scene.in_toto_run(base)),
            "python": process(sys.executable, "-c", "pass"),
            "status": process("git", "status", "--porcelain"),
        },
    )
    ours, peer, python, status = taken.values()
    yield Result(
        name="run",
        what=f"`memprove run -- true`, {scene.FILES:,} files : `in-toto-run -m . -p . -- true`",
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(peer) * 1e3,
        floor_p95=p95(peer) * 1e3,
        ratio=median(ours) / median(peer),
        allowed=1.0,
        bound="at most",
        spread=spread(ours, peer),
    )
    over = [mine - bare for mine, bare in zip(ours, python, strict=True)]
    allowed = [OVER_PYTHON_S + STATUSES * one for one in status]
    yield Result(
        name="run-over-python",
        what="the same less `python -c pass` : 130 ms + 3 × `git status`",
        unit="ms",
        figure=median(over) * 1e3,
        figure_p95=p95(over) * 1e3,
        floor=median(allowed) * 1e3,
        floor_p95=p95(allowed) * 1e3,
        ratio=median(over) / median(allowed),
        allowed=1.0,
        bound="at most",
        spread=spread(over, allowed),
        note=f"python {median(python) * 1e3:.0f} ms, git status {median(status) * 1e3:.0f} ms",
    )


def _process(command: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> Callable[[], float]:
    def measure() -> float:
        began = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False)
        taken = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr!r}")
        return taken

    return measure
