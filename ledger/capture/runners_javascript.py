"""The summaries of jest, vitest, mocha and ``node --test``."""

import re

from memprove.ledger.capture.counts import Counts, Summary, last, number, numbers

_FLAGS = re.MULTILINE | re.ASCII

_JEST = re.compile(
    r"^Test Suites: (?P<suites>(?:\d+ [a-z]+, )*)\d+(?: of \d+)? total\n"
    r"Tests:       (?P<tests>(?:\d+ [a-z]+, )*)\d+ total\n"
    r"Snapshots:   [^\n]+\nTime:        [^\n]+$"
    r"|^No tests found, exiting with code [01]$",
    _FLAGS,
)


def read_jest(text: str) -> Summary | None:
    """Read ``Tests:       2 failed, 1 passed, 3 total`` below ``Test Suites: 1 failed, 1 total``.

    A suite that cannot be loaded is an error. The summary does not tell those from suites with
    failed tests: it shows as many as there are failed suites beyond the failed tests.
    """
    summary = last(_JEST, text)
    if summary is None:
        return None
    tests, suites = numbers(summary["tests"] or ""), numbers(summary["suites"] or "")
    failed = tests.get("failed", 0)
    counts = Counts(
        "jest",
        passed=tests.get("passed", 0),
        failed=failed,
        errors=max(0, suites.get("failed", 0) - failed),
        skipped=tests.get("skipped", 0) + tests.get("todo", 0),
    )
    return Summary(counts, summary.end())


_PARTS = r"\d+ [a-z]+(?: [a-z]+)*(?: \| \d+ [a-z]+(?: [a-z]+)*)* \(\d+\)"
_VITEST = re.compile(
    rf"^ Test Files  (?P<files>{_PARTS})\n      Tests  (?P<tests>no tests|{_PARTS})\n"
    r"(?:Type Errors  [^\n]+\n)?(?:     Errors  (?P<errors>\d+) errors?\n)?   Start at  [^\n]+$"
    r"|^No test files found, exiting with code [01]$",
    _FLAGS,
)


def read_vitest(text: str) -> Summary | None:
    """Read ``Tests  2 failed | 1 passed (3)`` below ``Test Files  1 failed (1)``.

    Its picture of a run that goes on has one space where the summary has two. Errors are those
    that belong to no test, and files that cannot be loaded, which are known as in jest.
    """
    summary = last(_VITEST, text)
    if summary is None:
        return None
    tests, files = numbers(summary["tests"] or ""), numbers(summary["files"] or "")
    failed = tests.get("failed", 0)
    counts = Counts(
        "vitest",
        passed=tests.get("passed", 0),
        failed=failed,
        errors=number(summary["errors"]) + max(0, files.get("failed", 0) - failed),
        skipped=tests.get("skipped", 0) + tests.get("todo", 0) + tests.get("expected fail", 0),
    )
    return Summary(counts, summary.end())


_MOCHA = re.compile(
    r"^\n  (?P<passed>\d+) passing \(\d+(?:ms|s|m|h|d)\)"
    r"(?:\n  (?P<pending>\d+) pending)?(?:\n  (?P<failed>\d+) failing)?$"
    r"|^Error: No test files found(?:: [^\n]*)?$",
    _FLAGS,
)


def read_mocha(text: str) -> Summary | None:
    """Read ``3 passing (5ms)`` and the lines for ``pending`` and ``failing`` below it."""
    summary = last(_MOCHA, text)
    if summary is None:
        return None
    passed, pending, failed = (number(summary[name]) for name in ("passed", "pending", "failed"))
    return Summary(Counts("mocha", passed, failed, skipped=pending), summary.end())


_NODE = re.compile(
    r"^(?P<sign>[ℹ#]) tests \d+\n(?:(?P=sign) suites \d+\n)?(?P=sign) pass (?P<passed>\d+)\n"
    r"(?P=sign) fail (?P<failed>\d+)\n(?P=sign) cancelled (?P<cancelled>\d+)\n"
    r"(?P=sign) skipped (?P<skipped>\d+)\n(?P=sign) todo (?P<todo>\d+)\n"
    r"(?P=sign) duration_ms [0-9.]+$",
    _FLAGS,
)


def read_node(text: str) -> Summary | None:
    """Read the lines ``tests 3`` to ``duration_ms 40.2``, after ``#`` in TAP, else after ``ℹ``."""
    summary = last(_NODE, text)
    if summary is None:
        return None
    counts = Counts(
        "node",
        passed=number(summary["passed"]),
        failed=number(summary["failed"]),
        errors=number(summary["cancelled"]),
        skipped=number(summary["skipped"]) + number(summary["todo"]),
    )
    return Summary(counts, summary.end())
