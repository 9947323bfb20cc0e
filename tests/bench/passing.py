"""What passes through ``memprove run``: how fast, beside a plain pipe, and in how much memory."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench import scene
from bench.result import Result
from bench.samples import alternate, median, processor, spread
from bench.scene import Scene
from support.ledgers import Project, new_project

from memprove.ledger.capture.streams import Sink
from memprove.ledger.domain.redaction import Redactor

MIB: Final = 1024 * 1024
LEAST_RATE: Final = 300e6
LEAST_SHARE: Final = 0.3
MOST_BYTES: Final = 100e6
TARGETED: Final = ("pass-text", "pass-zero")
TEXT_BYTES: Final = 64 * MIB
CHUNK: Final = 256 * 1024
TIMED: Final = Path(__file__).with_name("timed.py")


def text(size: int) -> bytes:
    """Return *size* bytes as a build or a test suite prints them."""
    lines = (
        f"[{n % 100:3}%] Building C object lib/CMakeFiles/part{n % 37}.dir/module_{n}.c.o\n"
        f"tests/test_module_{n}.py::test_that_it_parses_{n * 7919 % 1000} PASSED [{n % 100:3}%]\n"
        f"2026-01-02T03:04:{n % 60:02} INFO worker-{n % 8} handled request {n} in {n % 90} ms\n"
        for n in range(size // 150)
    )
    return "".join(lines).encode()[:size].ljust(size, b"\n")


def measure(place: Scene) -> Iterator[Result]:
    """Measure text, zero bytes and one line without an end, of a child through pipes."""
    size = _size(place)
    base = place.folder("passing")
    project = new_project(base)
    lines, line = base / "lines.log", base / "line.log"
    lines.write_bytes(text(TEXT_BYTES))
    line.write_bytes(text(TEXT_BYTES).replace(b"\n", b" "))
    for name, what, words in (
        ("pass-text", "lines of text", _cat(lines, size)),
        ("pass-zero", "zero bytes", ["head", "-c", str(size), "/dev/zero"]),
        ("pass-line", "one line without an end", _cat(line, size)),
    ):
        passing, peaks = _through(project, [*scene.memprove(), "run", "-q", "--", *words])
        plain, _ = _through(project, words)
        taken = alternate(place.rounds(5), {"ours": passing, "plain": plain})
        yield _rate(name, what, size, taken["ours"], taken["plain"], max(peaks))


def _size(place: Scene) -> int:
    """Return how many bytes go through, in whole files."""
    asked = place.gigabytes * 10**9 or (256 if place.quick else 1024) * MIB
    return -(-asked // TEXT_BYTES) * TEXT_BYTES


def _cat(file: Path, size: int) -> list[str]:
    return ["cat", *[str(file)] * (size // TEXT_BYTES)]


def _rate(
    name: str, what: str, size: int, ours: Sequence[float], plain: Sequence[float], peak: float
) -> Result:
    rate, floor = size / median(ours), size / median(plain)
    told = name not in TARGETED
    targets = "" if told else " (and ≥ 300 MB/s, < 100 MB)"
    return Result(
        name=name,
        what=f"{what} through `memprove run`, {size / 1e9:.2f} GB : a plain pipe{targets}",
        unit="MB/s",
        figure=rate / 1e6,
        floor=floor / 1e6,
        ratio=rate / floor,
        allowed=0.0 if told else LEAST_SHARE,
        bound="told" if told else "at least",
        spread=spread(ours, plain),
        must=told or (rate >= LEAST_RATE and peak < MOST_BYTES),
        note=f"peak memory {peak / 1e6:.0f} MB",
    )


def measure_digest(place: Scene) -> Iterator[Result]:
    """Measure what a stream costs in process while it flows."""
    data = memoryview(text(TEXT_BYTES))

    def feed(take: Callable[[memoryview], object]) -> None:
        for start in range(0, len(data), CHUNK):
            take(data[start : start + CHUNK])

    taken = alternate(
        place.rounds(10),
        {
            "sink": processor(lambda: feed(Sink(Redactor().data).feed)),
            "digest": processor(lambda: feed(hashlib.sha256().update)),
        },
    )
    ours, floor = taken["sink"], taken["digest"]
    yield Result(
        name="digest",
        what="a stream's Sink as text flows by : SHA-256 of the same bytes",
        unit="MB/s",
        figure=len(data) / median(ours) / 1e6,
        floor=len(data) / median(floor) / 1e6,
        ratio=median(floor) / median(ours),
        allowed=0.0,
        bound="told",
        spread=spread(ours, floor),
    )


def _through(project: Project, command: Sequence[str]) -> tuple[Callable[[], float], list[int]]:
    """Return a measure of *command* with a reader behind it, and its peaks of memory as a list."""
    peaks: list[int] = []

    def measure() -> float:
        timed = subprocess.Popen(
            [sys.executable, str(TIMED), *command],
            cwd=project.folder,
            env=project.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert timed.stdout is not None
        reader = subprocess.Popen(["cat"], stdin=timed.stdout, stdout=subprocess.DEVNULL)
        timed.stdout.close()
        _, said = timed.communicate()
        reader.wait()
        code, taken, peak = json.loads(said)
        if code:
            raise RuntimeError(f"{command[0]} ended with {code}")
        peaks.append(peak)
        return float(taken)

    return measure, peaks
