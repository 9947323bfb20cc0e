"""The summaries of pytest and unittest."""

import re

from memprove.ledger.capture.counts import Counts, Summary, last, number

_PYTEST_PART = r"\d+ [a-z]+(?: [a-z]+)?"
_PYTEST = re.compile(
    rf"^(?P<rule>=+ )?(?P<parts>no tests ran|no tests collected(?: \(\d+ deselected\))?"
    rf"|\d+(?:/\d+)? tests? collected(?: \(\d+ deselected\))?|{_PYTEST_PART})"
    rf"(?P<more>(?:, {_PYTEST_PART})*)"
    r" in \d+\.\d+(?:s| seconds)(?: \(\d+(?: days?, \d+)?:\d\d:\d\d\))?(?(rule) =+)$",
    re.MULTILINE | re.ASCII,
)


def read_pytest(text: str) -> Summary | None:
    """Read ``=== 2 failed, 1 passed in 0.12s ===``; with ``-q`` the line has no rule around it."""
    summary = last(_PYTEST, text)
    if summary is None:
        return None
    said: dict[str, int] = {}
    for part in f"{summary['parts']}{summary['more']}".split(", "):
        digits, _, outcome = part.partition(" ")
        if digits.isascii() and digits.isdecimal():
            said[outcome] = number(digits)
    counts = Counts(
        "pytest",
        passed=said.get("passed", 0) + said.get("xpassed", 0),
        failed=said.get("failed", 0),
        errors=said.get("error", 0) + said.get("errors", 0),
        skipped=said.get("skipped", 0) + said.get("xfailed", 0),
        deselected=said.get("deselected", 0),
    )
    return Summary(counts, summary.end())


_UNITTEST = re.compile(
    r"^-{70}\nRan (?P<ran>\d+) tests? in \d+\.\d+s\n\n"
    r"(?:OK|FAILED|NO TESTS RAN)(?: \((?P<details>[a-z0-9=, ]+)\))?$",
    re.MULTILINE | re.ASCII,
)


def read_unittest(text: str) -> Summary | None:
    """Read ``Ran 3 tests in 0.001s``, a blank line, ``FAILED (failures=1, skipped=1)``.

    Python 3.12.1 alone leaves skipped tests out of the first number: too few have passed then.
    """
    summary = last(_UNITTEST, text)
    if summary is None:
        return None
    details = re.findall(r"([a-z ]+)=(\d+)", summary["details"] or "", re.ASCII)
    said = {name.strip(): number(digits) for name, digits in details}
    failed = said.get("failures", 0) + said.get("unexpected successes", 0)
    errors = said.get("errors", 0)
    skipped = said.get("skipped", 0) + said.get("expected failures", 0)
    passed = max(0, number(summary["ran"]) - failed - errors - skipped)
    return Summary(Counts("unittest", passed, failed, errors, skipped), summary.end())
