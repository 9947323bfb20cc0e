"""The server: how soon it answers, what a call costs beside the bare SDK's, and a Pack."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import scene
from bench.generate import TASK_EVENTS, generate
from bench.result import Result
from bench.samples import alternate, median, p95, seconds, spread
from bench.scene import Scene
from support.wire import Wire, modern, served

BARE = (sys.executable, str(Path(__file__).with_name("bare_server.py")))
IMPORT = (sys.executable, "-c", "import mcp.server.lowlevel")
PACK_S = 0.030
STATUSES = 2


def measure(place: Scene) -> Iterator[Result]:
    """Measure the server."""
    project = scene.repository(place.folder("serving"))
    command = (*scene.memprove(), "mcp", "serve")
    yield _start(place, command, project.folder, project.env)
    with (
        served(project.folder, command, project.env) as ours,
        served(project.folder, BARE) as bare,
    ):
        yield _call(place, ours, bare)
    packed = generate(place.folder("packing"), TASK_EVENTS + 10)
    scene.fill(packed.folder, scene.FILES)
    scene.commit_all(packed.folder)
    with served(packed.folder, command, packed.env) as ours:
        yield _pack(place, ours, packed.folder)


def _start(place: Scene, command: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> Result:
    def answered() -> float:
        began = time.perf_counter()
        with served(folder, command, env) as wire:
            assert len(wire.ask(modern(1, "tools/list"))["result"]["tools"]) == 10
            return time.perf_counter() - began

    def imported() -> None:
        subprocess.run(IMPORT, check=True)

    taken = alternate(place.rounds(20), {"ours": answered, "floor": seconds(imported)})
    return _row(
        "serve",
        "`memprove mcp serve` until its tools/list : `python -c 'import mcp.server.lowlevel'`",
        taken["ours"],
        taken["floor"],
        allowed=1.2,
    )


def _call(place: Scene, ours: Wire, bare: Wire) -> Result:
    taken = alternate(
        place.rounds(300),
        {"ours": _calling(ours, "context"), "floor": _calling(bare, "noop")},
    )
    return _row(
        "call",
        "tools/call `context` : a tool that does nothing on the bare SDK",
        taken["ours"],
        taken["floor"],
        allowed=2.0,
    )


def _pack(place: Scene, ours: Wire, folder: Path) -> Result:
    def status() -> None:
        subprocess.run(
            ("git", "status", "--porcelain"), cwd=folder, check=True, capture_output=True
        )

    taken = alternate(
        place.rounds(50),
        {"ours": _calling(ours, "pack", {"task": 1}), "status": seconds(status)},
    )
    floor = [PACK_S + STATUSES * one for one in taken["status"]]
    return _row(
        "call-pack",
        f"tools/call `pack`, a Task of 1,000 events, {scene.FILES:,} files"
        " : 30 ms + 2 × `git status`",
        taken["ours"],
        floor,
        allowed=1.0,
    )


def _calling(wire: Wire, name: str, arguments: dict[str, Any] | None = None) -> Callable[[], float]:
    def call() -> None:
        params = {"name": name, "arguments": arguments or {}}
        told = wire.ask(modern(wire.new_id(), "tools/call", params))
        if "error" in told or told["result"].get("isError"):
            raise RuntimeError(f"{name} was answered with {told}")

    return seconds(call)


def _row(name: str, what: str, ours: Any, floor: Any, *, allowed: float) -> Result:
    return Result(
        name=name,
        what=what,
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(floor) * 1e3,
        floor_p95=p95(floor) * 1e3,
        ratio=median(ours) / median(floor),
        allowed=allowed,
        bound="at most",
        spread=spread(ours, floor),
    )
