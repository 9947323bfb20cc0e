"""The summaries of rspec, phpunit and prove, and the Test Anything Protocol itself."""

import re
from collections import Counter

from memprove.ledger.capture.counts import Counts, Summary, last, number

_FLAGS = re.MULTILINE | re.ASCII

_RSPEC = re.compile(
    r"^Finished in [0-9a-z. ]{1,60} \(files took [0-9a-z. ]{1,60} to load\)\n"
    r"(?P<examples>\d+) examples?, (?P<failures>\d+) failures?(?:, (?P<pending>\d+) pending)?"
    r"(?:, (?P<errors>\d+) errors? occurred outside of examples)?$",
    _FLAGS,
)


def read_rspec(text: str) -> Summary | None:
    """Read ``3 examples, 1 failure, 1 pending`` below ``Finished in 0.02 seconds (files …)``."""
    summary = last(_RSPEC, text)
    if summary is None:
        return None
    failed, skipped = number(summary["failures"]), number(summary["pending"])
    passed = max(0, number(summary["examples"]) - failed - skipped)
    counts = Counts("rspec", passed, failed, number(summary["errors"]), skipped)
    return Summary(counts, summary.end())


_PHPUNIT = re.compile(
    r"^OK \((?P<passed>\d+) tests?, \d+ assertions?\) *$"
    r"|^(?P<head>OK, but [^\n]{1,60}!|[A-Z]+!) *\n"
    r"Tests: (?P<tests>\d+), Assertions: \d+(?P<more>(?:, [A-Za-z ]+: \d+)*)\. *$"
    r"|^No tests executed! *$",
    _FLAGS,
)


def read_phpunit(text: str) -> Summary | None:
    """Read ``OK (3 tests, 3 assertions)``, or ``Tests: 3, Assertions: 2, Failures: 1.``.

    Until version 9 a class without tests is one test that is nothing but a warning.
    """
    summary = last(_PHPUNIT, text)
    if summary is None:
        return None
    if summary["tests"] is None:
        return Summary(Counts("phpunit", number(summary["passed"])), summary.end())
    said = {
        name: number(digits) for name, digits in re.findall(r"([A-Z]\w+): (\d+)", summary["more"])
    }
    skipped = said.get("Skipped", 0) + said.get("Incomplete", 0)
    skipped += said.get("Warnings", 0) if summary["head"] == "WARNINGS!" else 0
    failed, errors = said.get("Failures", 0), said.get("Errors", 0)
    passed = max(0, number(summary["tests"]) - failed - errors - skipped)
    return Summary(Counts("phpunit", passed, failed, errors, skipped), summary.end())


_DIRECTIVE = re.compile(r"# *(?:skip|todo)\b", re.IGNORECASE)
_TEST = re.compile(r"^(?P<verdict>ok|not ok) \d+\b(?P<rest>[^\n]*)$", _FLAGS)

_PROVE = re.compile(
    r"^Files=\d+, Tests=(?P<tests>\d+), [^\n]+\nResult: (?:PASS|FAIL|NOTESTS)$", _FLAGS
)
_PROVE_FILE = re.compile(
    r"^[^\n]+ \(Wstat: \d+(?: \([^()\n]*\))? Tests: \d+ Failed: (?P<failed>\d+)\)$", _FLAGS
)
_PROVE_SKIPPED = re.compile(r"^[^\n]+ \.\.+ skipped: [^\n]*$", _FLAGS)


def read_prove(text: str) -> Summary | None:
    """Read ``Files=2, Tests=6, …`` and the report of failed files above it.

    Skipped tests are seen only with ``-v``, and skipped files. A file that fails without a failed
    test (it died, its plan is wrong) is an error.
    """
    summary = last(_PROVE, text)
    if summary is None:
        return None
    report = text.rfind("\nTest Summary Report\n", 0, summary.start())
    begin = summary.start() if report < 0 else report
    failures = [number(m["failed"]) for m in _PROVE_FILE.finditer(text, begin, summary.start())]
    tests = _TEST.finditer(text, 0, begin)
    skipped = sum(_DIRECTIVE.search(test["rest"]) is not None for test in tests)
    passed = max(0, number(summary["tests"]) - sum(failures) - skipped)
    skipped += sum(1 for _ in _PROVE_SKIPPED.finditer(text, 0, begin))
    counts = Counts("prove", passed, sum(failures), failures.count(0), skipped)
    return Summary(counts, summary.end())


_TAP = re.compile(
    r"^1\.\.(?P<plan>\d+)(?P<why> *#[^\n]*)?$|^(?P<bail>Bail out!)[^\n]*$|" + _TEST.pattern, _FLAGS
)


def read_tap(text: str) -> Summary | None:
    """Read the Test Anything Protocol: a plan ``1..3``, lines ``ok 1 - name`` and ``not ok 2``.

    Several programs may have written one after the other. Without a plan it is no TAP; tests that
    were planned and did not run are errors. A file that skips itself plans ``1..0 # SKIP``.
    """
    total: Counter[str] = Counter()
    end = 0
    for match in _TAP.finditer(text):
        end = match.end()
        if match["plan"] is not None:
            total["plans"] += 1
            total["planned"] += number(match["plan"])
            total["skipped"] += bool(match["why"] and _DIRECTIVE.search(match["why"]))
        elif match["bail"]:
            total["bails"] += 1
        else:
            total["seen"] += 1
            is_directed = _DIRECTIVE.search(match["rest"])
            total["skipped" if is_directed else match["verdict"]] += 1
    if not total["plans"]:
        return None
    errors = max(total["planned"] - total["seen"], total["bails"], 0)
    return Summary(Counts("tap", total["ok"], total["not ok"], errors, total["skipped"]), end)
