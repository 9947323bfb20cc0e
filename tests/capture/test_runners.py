"""What the corpus does not hold: forms of other versions, near misses, several summaries."""

import pytest

from memprove.ledger.capture.reports import Counts, count

JEST = "Test Suites: 1 passed, 1 total\nTests:       {}\nSnapshots:   0 total\nTime:        1 s\n"
VITEST = " Test Files  1 passed (1)\n      Tests  {}\n   Start at  10:00:00\n"
CARGO = "test result: ok. 1 passed; 0 failed; 2 ignored; 3 measured; 4 filtered out\n"
RSPEC = "Finished in 1 minute 2.5 seconds (files took 0.1 seconds to load)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JEST.format("3 passed, 3 total"), Counts("jest", passed=3)),
        (JEST.format("0 total").replace("1 passed", "2 failed"), Counts("jest", errors=2)),
        (VITEST.format("2 passed | 1 expected fail (3)"), Counts("vitest", passed=2, skipped=1)),
        ("\n  1 passing (2m)\n", Counts("mocha", passed=1)),
        ("\n  0 passing (1ms)\n  1 failing\n\n  1) it\n", Counts("mocha", failed=1)),
        ("Error: No test files found\n", Counts("mocha")),
        ("ok  \ta\t1.234s\tcoverage: 80.0% of statements\n", Counts("go", passed=1)),
        ("ok  \ta\t0.1s\tcoverage: [no statements] [no tests to run]\n", Counts("go")),
        ("\ta\t\tcoverage: 0.0% of statements\n?   \tb\t[no test files]\n", Counts("go")),
        ("FAIL\ta [build failed]\nFAIL\n", Counts("go", errors=1)),
        ('{"Action":"skip","Package":"a"}\n', Counts("go")),
        (CARGO, Counts("cargo", passed=4, skipped=2, deselected=4)),
        ("running 1 test\n", Counts("cargo", errors=1)),
        ("     Summary [  61.2s] 4 tests run: 3 passed (1 slow, 2 flaky), 1 timed out, 2 skipped\n",
         Counts("nextest", passed=3, failed=1, skipped=2)),
        ("     Summary [1s] 1/9 tests run: 0 passed, 1 exec failed, 0 skipped\n",
         Counts("nextest", errors=1)),
        ("100% tests passed, 0 tests failed out of 1\n", Counts("ctest", passed=1)),
        (RSPEC + "2 examples, 1 failure\n", Counts("rspec", passed=1, failed=1)),
        (RSPEC + "1 example, 0 failures, 2 errors occurred outside of examples\n",
         Counts("rspec", passed=1, errors=2)),
        ("OK (1 test, 1 assertion)\n", Counts("phpunit", passed=1)),
        ("WARNINGS!\nTests: 2, Assertions: 1, Warnings: 1.\n",
         Counts("phpunit", passed=1, skipped=1)),
        ("FAILURES!\nTests: 2, Assertions: 1, Failures: 1.\n",
         Counts("phpunit", passed=1, failed=1)),
        ("a.t .. skipped: no\nFiles=1, Tests=0,  0 wallclock secs\nResult: NOTESTS\n",
         Counts("prove", skipped=1)),
        ("Files=1, Tests=9,  0 wallclock secs\nResult: PASS\n", Counts("prove", passed=9)),
        ("TAP version 14\nok 1\nnot ok 2 # todo\n1..2\n", Counts("tap", passed=1, skipped=1)),
        ("1..1\nok 1 - # SKIP\n1..1\nok 1\n", Counts("tap", passed=1, skipped=1)),
        ("1..2\nBail out! no use\n", Counts("tap", errors=2)),
    ],
)  # fmt: skip
def test_summaries(text: str, expected: Counts) -> None:
    assert count(text.encode(), b"") == expected
    assert count(b"", text.encode()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Tests:       3 passed, 3 total\n",
        JEST.format("3 passed"),
        VITEST.format("3 passed"),
        VITEST.format("3 passed (3)").replace("Tests  ", "Tests "),  # a run that goes on
        "  3 passing (1ms)\n",
        "\n  3 passing\n",
        "# tests 3\n# pass 3\n# fail 0\n",
        "ok  \texample.com/a\t0.1s",  # the line is not whole
        "ok example.com/a 0.1s\n",
        "--- PASS: TestOne (0.00s)\nPASS\n",
        '{"Action":"pass","Package":"a","Test":"TestOne"}\n',
        '{"Action":"output","Package":"a","Output":"ok  \\ta\\t0.1s\\n"}\n',
        "test result: ok. 3 passed; 0 failed\n",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out, really\n",
        "Summary [   0.1s] 3 tests run: 3 passed, 0 skipped\n",
        "1: 100% tests passed, 0 tests failed out of 1\n",
        "No tests were found!\n",
        "3 examples, 0 failures\n",
        RSPEC + "\n3 examples, 0 failures\n",
        "OK (3 tests)\n",
        "Tests: 3, Assertions: 3.\n",
        "Files=1, Tests=3,  0 wallclock secs\n",
        "ok 1\nok 2\n",
        "    1..1\n    ok 1\n",
    ],
)
def test_texts_that_are_no_summary(text: str) -> None:
    assert count(text.encode(), text.encode()) is None


def test_each_package_and_each_binary_is_added() -> None:
    go = b"ok  \ta\t0.1s\nok  \tb\t(cached)\nFAIL\tc\t0.2s\nFAIL\td [setup failed]\nFAIL\n"
    assert count(go, b"") == Counts("go", passed=2, failed=1, errors=1)
    assert count(CARGO.encode() * 3, b"") == Counts("cargo", 12, skipped=6, deselected=12)


def test_packages_that_write_json_at_once_are_kept_apart() -> None:
    lines = (
        b'{"Action":"pass","Package":"a","Test":"T"}\n{"Action":"fail","Package":"b","Test":"T"}\n'
        b'{"Action":"pass","Package":"a","Elapsed":0.1}\n{"Action":"skip","Package":"b","Test":"U"}'
        b'\n{"Time":"t","Action":"fail","Package":"b","Elapsed":0.2}\n'
    )
    assert count(lines, b"") == Counts("go", passed=1, failed=1, skipped=1)


def test_a_binary_that_ends_before_its_result_is_an_error() -> None:
    text = f"running 4 tests\n{CARGO}running 2 tests\nrunning 1 test\n{CARGO}".encode()
    assert count(text, b"") == Counts("cargo", 8, errors=1, skipped=4, deselected=8)


def test_the_runner_has_the_last_word() -> None:
    printed = b"3 passed in 0.01s\n" + VITEST.format("99 passed (99)").encode()
    ended = JEST.format("1 failed, 1 total").encode() + b"Ran all test suites.\n"
    assert count(printed + ended, b"") == Counts("jest", failed=1)
    assert count(printed + b"and more\n" * 9, ended) == Counts("jest", failed=1)


def test_of_two_runners_the_later_one_is_taken() -> None:
    assert count(b"9 passed in 1s\n1 passed in 0.01s\n1..1\nok 1\n", b"") == Counts("tap", passed=1)
    assert count(b"1..1\nok 1\n1 passed in 0.01s\n", b"") == Counts("pytest", passed=1)


def test_a_terminal_of_nextest_fills_its_lines_with_spaces() -> None:
    line = b"     Summary [   0.024s] 3 tests run: 3 passed, 0 skipped" + b" " * 23
    running = "     Running [ 00:00:00] ████ 3/3: 0 running, 0 passed, 0 skipped".encode()
    assert count(b"PASS   " + line + running, b"") == Counts("nextest", passed=3)
