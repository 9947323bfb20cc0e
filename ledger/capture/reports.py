"""Test counts from what a test runner wrote, or nothing where it wrote none.

Each runner closes with a summary in a form of its own; the last text in exactly that form is
taken. A test can print such a text as well. Where the runner's own follows it, as it does unless
the run was cut off, the forgery is passed over; a program that writes its forgery last, after the
runner or in place of it, cannot be told from the runner by its output, only by a report file.
"""

import re
from collections.abc import Callable
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


def count(stdout: bytes, stderr: bytes) -> Counts | None:
    """Return the counts in the ends of a command's output, by the first runner that knows them."""
    texts = (_plain(stdout), _plain(stderr))
    found = (read(text) for read in RUNNERS.values() for text in texts)
    return next((counts for counts in found if counts is not None), None)


def counts_contradict(counts: Counts, exit_code: int) -> bool:
    """Return whether the output reports failures beside exit code 0: the code is masked."""
    return exit_code == 0 and counts.failed + counts.errors > 0


def is_vacuous(counts: Counts) -> bool:
    """Return whether not a single test ran: none found, all skipped, all deselected."""
    return counts.ran == 0


_PYTEST_PART = r"\d+ [a-z]+(?: [a-z]+)?"
_PYTEST_SUMMARY = re.compile(
    rf"^(?P<rule>=+ )?(?P<parts>no tests ran|no tests collected(?: \(\d+ deselected\))?"
    rf"|\d+(?:/\d+)? tests? collected(?: \(\d+ deselected\))?|{_PYTEST_PART})"
    rf"(?P<more>(?:, {_PYTEST_PART})*)"
    r" in \d+\.\d+(?:s| seconds)(?: \(\d+(?: days?, \d+)?:\d\d:\d\d\))?(?(rule) =+)$",
    re.MULTILINE,
)


def read_pytest(text: str) -> Counts | None:
    """Read ``=== 2 failed, 1 passed in 0.12s ===``; with ``-q`` the line has no rule around it."""
    summary = _last(_PYTEST_SUMMARY, text)
    if summary is None:
        return None
    numbers: dict[str, int] = {}
    for part in f"{summary['parts']}{summary['more']}".split(", "):
        number, _, outcome = part.partition(" ")
        if number.isascii() and number.isdecimal():
            numbers[outcome] = _number(number)
    return Counts(
        "pytest",
        passed=numbers.get("passed", 0) + numbers.get("xpassed", 0),
        failed=numbers.get("failed", 0),
        errors=numbers.get("error", 0) + numbers.get("errors", 0),
        skipped=numbers.get("skipped", 0) + numbers.get("xfailed", 0),
        deselected=numbers.get("deselected", 0),
    )


_UNITTEST_SUMMARY = re.compile(
    r"^-{70}\nRan (?P<ran>\d+) tests? in \d+\.\d+s\n\n"
    r"(?:OK|FAILED|NO TESTS RAN)(?: \((?P<details>[a-z0-9=, ]+)\))?$",
    re.MULTILINE,
)


def read_unittest(text: str) -> Counts | None:
    """Read ``Ran 3 tests in 0.001s``, a blank line, ``FAILED (failures=1, skipped=1)``.

    Python 3.12.1 alone leaves skipped tests out of the first number: too few have passed then.
    """
    summary = _last(_UNITTEST_SUMMARY, text)
    if summary is None:
        return None
    details = re.findall(r"([a-z ]+)=(\d+)", summary["details"] or "")
    numbers = {name.strip(): _number(number) for name, number in details}
    failed = numbers.get("failures", 0) + numbers.get("unexpected successes", 0)
    errors = numbers.get("errors", 0)
    skipped = numbers.get("skipped", 0) + numbers.get("expected failures", 0)
    passed = max(0, _number(summary["ran"]) - failed - errors - skipped)
    return Counts("unittest", passed, failed, errors, skipped)


RUNNERS: dict[str, Callable[[str], Counts | None]] = {
    "pytest": read_pytest,
    "unittest": read_unittest,
}
"""How to read each runner's summary, in the order in which they are tried."""


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def _plain(output: bytes) -> str:
    """Return *output* as lines without colours; what a carriage return redraws is a line too."""
    text = _ESCAPES.sub("", output.decode("utf-8", "replace"))
    return re.sub(r"\r+\n|\r", "\n", text)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    last = None
    for match in pattern.finditer(text):
        last = match
    return last


def _number(digits: str) -> int:
    return int(digits[:18])  # no run has more tests than that; a forged one must not cost time
