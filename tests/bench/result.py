"""What a row of the benchmark came to, as a table for people and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

NOISY: Final = 0.25
"""From this spread of its pairs on, a row is called noisy: measure again before you believe it."""

Bound = Literal["at most", "at least", "told"]


@dataclass(frozen=True, slots=True)
class Result:
    """One row. *ratio* is figure : floor; *allowed* is what the target compares it with.

    *also* is another way to meet the target; where it was met, the row is ok. *figure_p95* and
    *floor_p95* are one sample in twenty's; *spread* is the noise of the ratio.
    """

    name: str
    what: str
    unit: str
    figure: float
    floor: float
    ratio: float
    allowed: float
    bound: Bound
    figure_p95: float = 0.0
    floor_p95: float = 0.0
    spread: float = 0.0
    also: bool = False
    must: bool = True
    note: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether the target is met. What is only told has none."""
        within = self.ratio <= self.allowed if self.bound == "at most" else True
        within = within and (self.ratio >= self.allowed if self.bound == "at least" else True)
        return (within or self.also) and self.must

    @property
    def verdict(self) -> str:
        """Return ``ok`` or ``missed``, and whether to doubt it."""
        said = "-" if self.bound == "told" else "ok" if self.ok else "missed"
        return f"{said} (noisy)" if self.spread >= NOISY else said


@dataclass(frozen=True, slots=True)
class Failed:
    """A row that could not be measured."""

    name: str
    why: str


def as_json(results: Sequence[Result | Failed]) -> str:
    """Return *results* as one document."""
    rows = [
        {**asdict(r), "ok": r.ok, "verdict": r.verdict} if isinstance(r, Result) else asdict(r)
        for r in results
    ]
    return json.dumps({"rows": rows}, indent=2, sort_keys=True)


HEADINGS: Final = ("row", "figure", "floor", "ratio", "target", "", "what")


def lines(results: Sequence[Result | Failed]) -> list[str]:
    """Return *results* as the lines of a table, its notes below it."""
    cells = [HEADINGS, *map(_cells, results)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    notes = [f"{r.name}: {r.note}" for r in results if isinstance(r, Result) and r.note]
    return [*table, "", *notes] if notes else table


def _cells(result: Result | Failed) -> tuple[str, ...]:
    if isinstance(result, Failed):
        return (result.name, "-", "-", "-", "-", "not measured", result.why)
    sign = {"at most": "≤ ", "at least": "≥ ", "told": ""}[result.bound]
    target = f"{sign}{result.allowed:g}" if sign else "-"
    ratio = f"{result.ratio:.2f}"
    figure = _amount(result.figure, result.figure_p95, result.unit)
    floor = _amount(result.floor, result.floor_p95, result.unit)
    return (result.name, figure, floor, ratio, target, result.verdict, result.what)


def _amount(middle: float, high: float, unit: str) -> str:
    """Return a median, and the 95th percentile where there is one."""
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    text = f"{middle:.{digits}f}"
    return f"{text} ({high:.{digits}f}) {unit}" if high else f"{text} {unit}"
