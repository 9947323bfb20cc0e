"""How many tests ended how, and what that says about a Run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests ended how, by *runner*.

    Expected failures count as skipped, unexpected successes as what the runner makes of them: the
    same as in the JUnit reports of the same runners.
    """

    runner: str
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    deselected: int = 0

    @property
    def ran(self) -> int:
        """Return how many tests had an outcome that says something."""
        return self.passed + self.failed + self.errors


@dataclass(frozen=True, slots=True)
class Summary:
    """What a runner's summary in a text says, and where in the text it ends."""

    counts: Counts
    end: int


def counts_contradict(counts: Counts, exit_code: int) -> bool:
    """Return whether the output reports failures beside exit code 0: the code is masked."""
    return exit_code == 0 and counts.failed + counts.errors > 0


def is_vacuous(counts: Counts) -> bool:
    """Return whether not a single test ran: none found, all skipped, all deselected."""
    return counts.ran == 0


def last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of *pattern* in *text*."""
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def number(digits: str | None) -> int:
    """Return the number that a summary states; one that it leaves out is 0."""
    return int((digits or "0")[:18])  # no run has more tests; a forged one must not cost time


def numbers(parts: str) -> Mapping[str, int]:
    """Return the numbers in ``2 failed, 1 passed`` by their words."""
    return {word: number(digits) for digits, word in _PART.findall(parts)}


_PART = re.compile(r"(\d+) ([a-z]+(?: [a-z]+)*)", re.ASCII)
