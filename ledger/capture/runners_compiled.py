"""The summaries of ``go test``, ``cargo test``, ``cargo nextest`` and ``ctest``."""

import re
from collections import Counter, defaultdict

from memprove.ledger.capture.counts import Counts, Summary, last, number, numbers

_FLAGS = re.MULTILINE | re.ASCII

_GO = re.compile(
    r"^=== RUN   (?P<run>)[^\n]+$"
    r"|^ *--- (?P<test>PASS|FAIL|SKIP): [^\n]+ \(\d+\.\d+s\)$"
    r"|^(?P<package>ok  |FAIL|\?   )\t[^\s\[]+(?P<rest>[\t ][^\n]*)(?=\n)"
    r'|^\{(?:"Time":"[^"\n]*",)?"Action":"(?P<action>pass|fail|skip)","Package":"(?P<name>[^"\n]+)"'
    r'(?P<in_test>,"Test":"[^\n]*")?(?:,"Elapsed":[0-9.e+-]+)?(?:,"FailedBuild":"[^"\n]*")?\}$',
    _FLAGS,
)


def read_go(text: str) -> Summary | None:
    """Read ``ok`` or ``FAIL`` and a package, one line for each package, or the same in JSON.

    With ``-v`` or ``-json`` tests are counted, their parts too. Without, they are not to be seen:
    each package that has tests to run is counted as one. A package that failed without a failed
    test (it cannot be built, it exits) is an error.
    """
    packages = _Packages()
    end = None
    for match in _GO.finditer(text):
        if packages.add(match):
            end = match.end()
    return None if end is None else Summary(packages.counts(), end)


class _Packages:
    """The results of packages, each added with the tests that came before its result."""

    def __init__(self) -> None:
        self._total: Counter[str] = Counter()
        self._text: Counter[str] | None = None
        self._json: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, match: re.Match[str]) -> bool:
        """Add one line; return whether it closes a package."""
        if match["action"]:
            tests = self._json[match["name"]]
            if match["in_test"]:
                tests[match["action"]] += 1
                return False
            self._close(tests, failed=match["action"] == "fail")
            del self._json[match["name"]]
            return True
        if match["package"]:
            self._close_text(match["package"], match["rest"])
            return True
        self._text = Counter() if self._text is None else self._text
        if match["test"]:
            self._text[match["test"].lower()] += 1
        else:
            self._text["run"] += 1
        return False

    def _close_text(self, verdict: str, rest: str) -> None:
        tests, self._text = self._text, None
        failed = verdict == "FAIL"
        if tests is not None and tests["run"]:
            self._close(tests, failed=failed)
        elif verdict == "ok  " and "[no tests to run]" not in rest:
            self._total["pass"] += 1
        elif failed:
            self._total["error" if rest.endswith(" failed]") else "fail"] += 1

    def _close(self, tests: Counter[str], *, failed: bool) -> None:
        self._total.update(tests)
        if failed and not tests["fail"]:
            self._total["error"] += 1

    def counts(self) -> Counts:
        total = self._total
        return Counts("go", total["pass"], total["fail"], total["error"], total["skip"])


_CARGO = re.compile(
    r"^running (?P<running>\d+) tests?$"
    r"|^test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; "
    r"(?P<ignored>\d+) ignored; (?P<measured>\d+) measured; (?P<filtered>\d+) filtered out"
    r"(?:; finished in \d+\.\d+s)?$",
    _FLAGS,
)


def read_cargo(text: str) -> Summary | None:
    """Read ``test result: ok. 3 passed; 0 failed; …``, one line for each binary.

    A binary that said ``running 2 tests`` and no result has ended before its time: an error.
    """
    total: Counter[str] = Counter()
    begun, end = False, None
    for match in _CARGO.finditer(text):
        end = match.end()
        if match["running"]:
            total["unfinished"] += begun
            begun = True
            continue
        begun = False
        for name in ("passed", "failed", "ignored", "measured", "filtered"):
            total[name] += number(match[name])
    if end is None:
        return None
    counts = Counts(
        "cargo",
        passed=total["passed"] + total["measured"],
        failed=total["failed"],
        errors=total["unfinished"] + begun,
        skipped=total["ignored"],
        deselected=total["filtered"],
    )
    return Summary(counts, end)


_NEXTEST = re.compile(
    r" {5}Summary \[[^\]\n]{1,24}\] \d+(?:/\d+)? tests? run: (?P<parts>\d+ [0-9a-z ,()]+?)"
    r"(?: *$|(?=  ))",  # in a terminal its lines are filled with spaces and flow on
    _FLAGS,
)


def read_nextest(text: str) -> Summary | None:
    """Read ``Summary [   0.02s] 4 tests run: 3 passed, 1 failed, 2 skipped``.

    What it skips it does not tell apart: tests that are ignored, tests that a filter left out.
    """
    summary = last(_NEXTEST, text)
    if summary is None:
        return None
    said = numbers(re.sub(r"\([^()]*\)", "", summary["parts"]))
    counts = Counts(
        "nextest",
        passed=said.get("passed", 0),
        failed=said.get("failed", 0) + said.get("timed out", 0),
        errors=said.get("exec failed", 0),
        skipped=said.get("skipped", 0),
    )
    return Summary(counts, summary.end())


_CTEST = re.compile(
    r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)$"
    r"|^No tests were found!!!$",
    _FLAGS,
)
_CTEST_NOT_RUN = re.compile(r"^ *\t? *\d+ - [^\n]* \((?P<why>Skipped|Disabled)\)$", _FLAGS)


def read_ctest(text: str) -> Summary | None:
    """Read ``67% tests passed, 1 tests failed out of 3`` and the skipped tests named below it.

    The line counts skipped tests among the passed ones, and disabled tests not at all.
    """
    summary = last(_CTEST, text)
    if summary is None:
        return None
    why = Counter(match["why"] for match in _CTEST_NOT_RUN.finditer(text, summary.end()))
    failed = number(summary["failed"])
    passed = max(0, number(summary["total"]) - failed - why["Skipped"])
    return Summary(Counts("ctest", passed, failed, skipped=why.total()), summary.end())
