"""Cases for JUnit reports: for each producer a project, and the report that it writes.

outcomes.json says how each test ends, as a person reads it off the project.
"""

from capture.corpus import cases_compiled, cases_javascript, cases_python, cases_scripts
from capture.corpus.case import Case

PYTEST_CLASSES = """
import pytest

class TestA:
    @pytest.mark.parametrize("value", [1, "a/b", "a::b", "é"])
    def test_value(self, value):
        assert value != "a/b"

    class TestInner:
        def test_inner(self):
            pass

@pytest.fixture
def broken_after():
    yield
    raise RuntimeError("tear-down fails")

def test_fails_after(broken_after):
    pass

@pytest.mark.skip(reason="not here")
def test_is_skipped():
    pass

@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False

@pytest.mark.xfail(strict=True)
def test_passes_unexpectedly():
    pass
"""
FLAKY = """
tries = []

def test_flaky():
    tries.append(1)
    assert len(tries) == 2

def test_always_fails():
    assert False
"""
DESCRIBED = """
describe("outer", () => {
  describe("inner", () => {
    it("passes", () => {});
    it("fails", () => { throw new Error("no"); });
  });
  it.skip("is skipped", () => {});
});
it("passes", () => {});
"""
NEXTEST_PROFILE = """
[profile.default]
fail-fast = false
[profile.default.junit]
path = "report.xml"
"""


def _pytest(source: str, *arguments: str, file: str = "tests/test_it.py") -> Case:
    command = ["pytest", "--junitxml=report.xml", "-p", "no:cacheprovider", *arguments]
    return Case({file: source}, " ".join(command), report="report.xml")


def _javascript(case: Case, command: str) -> Case:
    return Case(case.files, command, report="report.xml")


RUST = {**cases_compiled.NEXTEST["failing"].files, ".config/nextest.toml": NEXTEST_PROFILE}

JUNIT = {
    "pytest": _pytest(PYTEST_CLASSES),
    "pytest-xunit1": _pytest(PYTEST_CLASSES, "-o", "junit_family=xunit1"),
    "pytest-class-in-root": _pytest(PYTEST_CLASSES, file="test_it.py"),
    "pytest-reruns": _pytest(FLAKY, "-p", "pytest_rerunfailures", "--reruns", "2"),
    "pytest-zero": _pytest("", "-k nothing"),
    "pytest-broken": _pytest("import nowhere"),
    "unittest": Case(
        {"test_it.py": cases_python.UNITTEST_MIXED},
        "python -m xmlrunner --output-file report.xml",
        report="report.xml",
    ),
    "jest": _javascript(
        Case({"package.json": "{}", "it.test.js": DESCRIBED}, ""),
        "JEST_JUNIT_OUTPUT_FILE=report.xml jest --reporters=jest-junit",
    ),
    "jest-file": _javascript(
        Case(
            {"package.json": "{}", "it.test.js": DESCRIBED, "b.test.js": 'throw new Error("x");'},
            "",
        ),
        "JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_OUTPUT_FILE=report.xml "
        "JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true jest --reporters=jest-junit",
    ),
    "vitest": _javascript(
        Case({"package.json": "{}", "src/it.test.mjs": DESCRIBED}, ""),
        "vitest run --globals --reporter=junit --outputFile=report.xml",
    ),
    "mocha": _javascript(
        Case({"test/it.cjs": DESCRIBED}, ""),
        "mocha --extension cjs --reporter mocha-junit-reporter "
        "--reporter-options mochaFile=report.xml",
    ),
    "mocha-xunit": _javascript(
        Case({"test/it.cjs": DESCRIBED}, ""),
        "mocha --extension cjs --reporter xunit --reporter-options output=report.xml",
    ),
    "node": _javascript(
        Case({"it.test.js": 'const { describe, it } = require("node:test");' + DESCRIBED}, ""),
        "node --test --test-reporter=junit --test-reporter-destination=report.xml",
    ),
    "node-cancelled": _javascript(
        cases_javascript.NODE["cancelled"],
        "node --test --test-reporter=junit --test-reporter-destination=report.xml",
    ),
    "gotestsum": Case(
        cases_compiled.GO["failing"].files,
        "gotestsum --junitfile report.xml -- -count=1 ./...",
        report="report.xml",
    ),
    "gotestsum-broken": Case(
        cases_compiled.GO["broken"].files,
        "gotestsum --junitfile report.xml -- -count=1 ./...",
        report="report.xml",
    ),
    "phpunit": Case(
        cases_scripts.PHPUNIT["failing"].files,
        "phpunit --log-junit report.xml tests",
        report="report.xml",
    ),
    "ctest": Case(
        cases_compiled.CTEST["failing"].files,
        "cmake -S . -B b && cd b && ctest --output-junit ../report.xml",
        report="report.xml",
    ),
    "rspec": Case(
        cases_scripts.RSPEC["failing"].files,
        "rspec --format RspecJunitFormatter --out report.xml",
        report="report.xml",
    ),
    "nextest": Case(RUST, "cargo nextest run", report="target/nextest/default/report.xml"),
    "nextest-retries": Case(
        {**cases_compiled.NEXTEST["aborts"].files, ".config/nextest.toml": NEXTEST_PROFILE},
        "cargo nextest run --retries 1",
        report="target/nextest/default/report.xml",
    ),
}
