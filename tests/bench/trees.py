"""The tree of a worktree, read anew each time, beside ``git status`` and ``sha256sum``."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from bench import scene
from bench.result import Result
from bench.samples import alternate, median, p95, spread, with_processor
from bench.scene import Scene

from memprove.ledger.workspace.manifest import read_manifest
from memprove.ledger.workspace.tree import Tree, read_tree

MOST_STATUSES: Final = 6.0
DEADLINE_S: Final = 60.0
MANY_FILES: Final = 50_000
DIRTY: Final[Mapping[int, int]] = {scene.FILES: 200, MANY_FILES: 2_000}
"""Of how many files how many are dirty: half of them changed, half of them untracked."""


def measure(place: Scene) -> Iterator[Result]:
    """Measure repositories, clean and dirty, and a folder outside git."""
    folder = place.folder("outside")
    files = scene.fill(folder, scene.FILES)
    yield _outside(folder, files, place.rounds(20))
    for number, dirty in DIRTY.items():
        if number == MANY_FILES and place.quick:
            break
        folder = place.folder(f"repository{number}")
        files = scene.fill(folder, number)
        scene.commit_all(folder)
        rounds = place.rounds(30 if number == scene.FILES else 12)
        yield _beside_status(f"tree-{number // 1000}k", "all clean", folder, rounds, 0)
        _soil(files, dirty)
        yield _beside_status(
            f"tree-{number // 1000}k-dirty", f"{dirty:,} dirty", folder, rounds, dirty
        )


def _soil(files: Sequence[Path], dirty: int) -> None:
    """Change some of *files*, spread over them, and put new ones beside others."""
    for file in files[:: 2 * len(files) // dirty]:
        file.write_text(file.read_text() + "CHANGED = True\n")
        file.with_name(f"new_{file.name}").write_text(f"NEW = {file.stem!r}\n" * 50)


def _beside_status(name: str, state: str, folder: Path, rounds: int, dirty: int) -> Result:
    def read() -> Tree:
        tree = read_tree(folder, deadline_s=DEADLINE_S)
        assert tree.id is not None, tree.reason
        assert len(tree.changed) == dirty, len(tree.changed)
        return tree

    files = sum(1 for _ in folder.rglob("*.py"))
    status = partial(_run, ["git", "status", "--porcelain"], folder)
    what = f"`read_tree`, {files:,} files, {state} : `git status` there"
    return _row(name, what, read, status, rounds, allowed=MOST_STATUSES)


def _outside(folder: Path, files: Sequence[Path], rounds: int) -> Result:
    program = ["sha256sum"] if shutil.which("sha256sum") else ["shasum", "-a", "256"]
    names = [str(file.relative_to(folder)) for file in files]

    def read() -> Tree:
        tree = read_manifest(folder, deadline_s=DEADLINE_S)
        assert len(tree.changed) == len(files), tree.reason
        return tree

    sums: Callable[[], None] = partial(_run, [*program, *names], folder)
    what = f"`read_manifest`, {len(files):,} files outside git : `{' '.join(program)}` of them"
    return _row("tree-outside", what, read, sums, rounds, allowed=None)


def _row(
    name: str,
    what: str,
    read: Callable[[], Tree],
    beside: Callable[[], None],
    rounds: int,
    allowed: float | None,
) -> Result:
    spent: tuple[list[float], list[float]] = ([], [])
    taken = alternate(
        rounds,
        {
            "ours": with_processor(read, spent[0]),
            "floor": with_processor(beside, spent[1]),
        },
    )
    processor = [median(one) * 1e3 for one in spent]
    ours, floor = taken["ours"], taken["floor"]
    return Result(
        name=name,
        what=what,
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(floor) * 1e3,
        floor_p95=p95(floor) * 1e3,
        ratio=median(ours) / median(floor),
        allowed=allowed or 0.0,
        bound="at most" if allowed else "told",
        spread=spread(ours, floor),
        note=f"processor time {processor[0]:.0f} ms : {processor[1]:.0f} ms,"
        f" {processor[0] / processor[1]:.2f}",
    )


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
