"""What test runners report: a JUnit file with many tests, and counts from the end of output."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final
from xml.parsers import expat

from bench.recorded import recordings
from bench.result import Result
from bench.samples import Samples, alternate, median, p95, processor, spread
from bench.scene import Scene

from memprove.ledger.capture.junit import Report, read_junit
from memprove.ledger.capture.reports import RUNNERS, count

TESTS: Final = 10_000
ENDING: Final = 1024 * 1024


def measure_junit(place: Scene) -> Iterator[Result]:
    """Measure reading each test's outcome from a report as pytest writes it."""
    file = place.folder("junit") / "report.xml"
    file.write_text(_report())

    def read() -> None:
        report = read_junit(file, before=None)
        assert isinstance(report, Report), report
        assert len(report.outcomes) == TESTS

    yield _row(
        "junit",
        f"`read_junit`, {TESTS:,} tests, {file.stat().st_size / 1e6:.1f} MB : expat alone",
        alternate(
            place.rounds(20),
            {"ours": processor(read), "floor": processor(partial(_parsed, file))},
        ),
    )


def measure_count(place: Scene) -> Iterator[Result]:
    """Measure looking for the summaries of all runners in the end of long output."""
    output = recordings(ENDING)[-ENDING:]
    assert count(output, b"") is not None
    yield _row(
        "count",
        f"`count`, {len(RUNNERS)} runners, 1 MiB of all their outputs : SHA-256 of the same bytes",
        alternate(
            place.rounds(20),
            {
                "ours": processor(lambda: count(output, b"")),
                "floor": processor(lambda: sha256(output).digest()),
            },
        ),
    )


def _report() -> str:
    cases = "".join(_case(number) for number in range(TESTS))
    return (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
        f'<testsuite name="pytest" errors="0" failures="{TESTS // 50}" skipped="{TESTS // 50}"'
        f' tests="{TESTS}" time="61.5">{cases}</testsuite></testsuites>'
    )


def _case(number: int) -> str:
    module = f"tests.part{number % 40}.test_module_{number // 50}"
    inside = {
        7: f'<failure message="assert {number} == 0">def test_it():\n&gt;  assert {number} == 0\n'
        f"E  assert {number} == 0\n\n{module}.py:{number}: AssertionError</failure>",
        8: '<skipped type="pytest.skip" message="not here">not here</skipped>',
    }.get(number % 50, "")
    return (
        f'<testcase classname="{module}" name="test_that_it_parses[case-{number}]"'
        f' time="0.{number % 1000:03}">{inside}</testcase>'
    )


def _parsed(file: Path) -> None:
    with file.open("rb") as stream:
        expat.ParserCreate().ParseFile(stream)


def _row(name: str, what: str, taken: Samples) -> Result:
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
        allowed=0.0,
        bound="told",
        spread=spread(ours, floor),
    )
