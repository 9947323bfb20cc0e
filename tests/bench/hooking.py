"""The SessionStart hook, from the start of the process to its end, beside Python and git."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import scene
from bench.generate import generate
from bench.result import Result
from bench.samples import alternate, median, p95, spread
from bench.scene import Scene
from support.ledgers import Project

from memprove.ledger.operations.sessions import BeginWork

PYTHONS, STATUSES = 9, 2
LARGE_MS = 300.0


def measure(place: Scene) -> Iterator[Result]:
    """Measure the hook on a new Task in a repository of 2,000 files, and on a long Task."""
    project = scene.repository(place.folder("hook"))
    project.ledger().execute(BeginWork(new_task="measure", agent="bench"))
    big = generate(place.folder("hook-big"), place.events)
    taken = alternate(
        place.rounds(30),
        {
            "hook": _process(project, *scene.memprove(), "hook", "SessionStart"),
            "python": _process(project, sys.executable, "-c", "pass"),
            "status": _process(project, "git", "status", "--porcelain"),
            "large": _process(big, *scene.memprove(), "hook", "SessionStart"),
        },
    )
    ours, python, status, large = taken.values()
    floor = [PYTHONS * a + STATUSES * b for a, b in zip(python, status, strict=True)]
    yield Result(
        name="hook",
        what=f"`memprove hook SessionStart`, {scene.FILES:,} files"
        f" : {PYTHONS} × `python -c pass` + {STATUSES} × `git status`",
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(floor) * 1e3,
        floor_p95=p95(floor) * 1e3,
        ratio=median(ours) / median(floor),
        allowed=1.0,
        bound="at most",
        spread=spread(ours, floor),
        note=f"python {median(python) * 1e3:.0f} ms, git status {median(status) * 1e3:.0f} ms",
    )
    yield Result(
        name="hook-large",
        what=f"the same on a Task of 1,000 events among {place.events:,} : {LARGE_MS:.0f} ms",
        unit="ms",
        figure=median(large) * 1e3,
        figure_p95=p95(large) * 1e3,
        floor=LARGE_MS,
        ratio=median(large) * 1e3 / LARGE_MS,
        allowed=1.0,
        bound="at most",
    )


def _process(project: Project, *command: str) -> Callable[[], float]:
    event = {"session_id": "bench", "cwd": str(project.folder), "source": "startup"}
    document = json.dumps({**event, "hook_event_name": "SessionStart"}).encode()
    env = {"HOME": str(Path.home()), "LANG": "C.UTF-8", "MEMPROVE_HOOK_SECONDS": "10"}

    def measure() -> float:
        began = time.perf_counter()
        done = subprocess.run(
            command,
            input=document,
            cwd=project.folder,
            env={**env, **project.env},
            capture_output=True,
            check=False,
        )
        taken = time.perf_counter() - began
        if done.returncode or ("hook" in command and not done.stdout):
            raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr!r}")
        return taken

    return measure
