import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.reports import (
    RUNNERS,
    Counts,
    count,
    counts_contradict,
    is_vacuous,
)

CORPUS = Path(__file__).parent / "corpus"
RECORDS: dict[str, dict[str, Any]] = json.loads((CORPUS / "index.json").read_text("ascii"))
INDEX = {name: entry for name, entry in RECORDS.items() if "counts" in entry}


PRINTED_BY_A_TEST = (Counts("pytest", passed=9), Counts("phpunit", passed=99))


def streams(name: str) -> tuple[bytes, bytes]:
    file = CORPUS / name
    out, err = file.with_name(file.name + ".stdout"), file.with_name(file.name + ".stderr")
    return out.read_bytes(), err.read_bytes()


@pytest.mark.parametrize("name", INDEX)
def test_the_counts_of_a_real_run_are_read(name: str) -> None:
    entry = INDEX[name]
    runner = entry["runner"].split()[0]
    expected = None if entry["counts"] is None else Counts(runner, **entry["counts"])
    assert count(*streams(name)) == expected


@pytest.mark.parametrize("name", INDEX)
def test_a_run_cut_off_anywhere_proves_no_more_than_the_whole(name: str) -> None:
    out, err = streams(name)
    whole = count(out, err) or Counts("none")
    may_pass = whole.passed + whole.skipped
    for end in range(0, max(len(out), len(err)), 97):
        cut = count(out[:end], err[:end])
        assert cut is None or cut in PRINTED_BY_A_TEST or cut.passed <= may_pass


@pytest.mark.parametrize("name", INDEX)
def test_line_ends_and_redrawn_lines_change_nothing(name: str) -> None:
    out, err = streams(name)
    redrawn = b"collecting 1\rcollecting 2\r" + out.replace(b"\n", b"\r\n")
    assert count(redrawn, err.replace(b"\n", b"\r\n")) == count(out, err)


def test_the_corpus_is_complete_and_shows_no_machine() -> None:
    files = {file.relative_to(CORPUS).as_posix() for file in CORPUS.glob("*/*/*")}
    assert files == {f"{name}.{stream}" for name in INDEX for stream in ("stdout", "stderr")}
    for name in INDEX:
        assert b"/home/" not in b"".join(streams(name))
        assert b"/root/" not in b"".join(streams(name))


def test_the_corpus_says_how_each_file_was_made() -> None:
    for entry in RECORDS.values():
        assert entry.keys() >= {"command", "exit", "runner", "recorded"}
        assert entry["recorded"] or entry["documentation"]


@pytest.mark.parametrize("runner", RUNNERS)
def test_each_runner_was_recorded_passing_failing_without_tests_and_cut_off(runner: str) -> None:
    entries = [e for name, e in INDEX.items() if name.startswith(f"{runner}/") and e["recorded"]]
    counts = [entry["counts"] for entry in entries]
    assert any(c and c.keys() == {"passed"} for c in counts)
    assert any(c and {"failed", "errors"} & c.keys() for c in counts)
    assert any(c is not None and not {"passed", "failed", "errors"} & c.keys() for c in counts)
    assert any(c and c.keys() == {"skipped"} for c in counts)
    assert any(
        c is None or entry["exit"] in (-9, 137) for c, entry in zip(counts, entries, strict=True)
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3 passed in 0.01s", Counts("pytest", passed=3)),
        ("= 3 passed in 0.01s =", Counts("pytest", passed=3)),
        ("1 passed, 2 warnings in 61.20s (0:01:01)", Counts("pytest", passed=1)),
        ("1 passed in 90000.00s (1 day, 1:00:00)", Counts("pytest", passed=1)),
        ("===== 2 failed, 1 passed in 1.23 seconds =====", Counts("pytest", 1, 2)),
        ("2 passed, 1 rerun in 0.10s", Counts("pytest", passed=2)),
        ("no tests ran in 0.00s", Counts("pytest")),
        ("no tests collected (3 deselected) in 0.01s", Counts("pytest")),
        ("no tests collected, 2 errors in 0.01s", Counts("pytest", errors=2)),
    ],
)
def test_summary_lines_of_pytest(line: str, expected: Counts) -> None:
    assert count(f"...\n{line}\n".encode(), b"") == expected


@pytest.mark.parametrize(
    "line",
    [
        "3 passed",
        "said: 3 passed in 0.01s",
        "3 passed in 0.01s, really",
        "== 3 passed in 0.01s",
        "3 passed in 0.01s ==",
        "passed in 0.01s",
        "Ran 3 tests in 0.001s\n\nOK",
        "-" * 70 + "\nRan 3 tests in 0.001s\n",
    ],
)
def test_lines_that_are_no_summary(line: str) -> None:
    assert count(f"...\n{line}\n".encode(), line.encode()) is None


def test_the_last_summary_counts() -> None:
    printed = b"===== 99 passed in 0.01s =====\n"
    assert count(printed + b"===== 1 failed in 0.10s =====\n", b"") == Counts("pytest", failed=1)


def test_failures_beside_exit_code_0_contradict_it() -> None:
    assert counts_contradict(Counts("pytest", passed=3, failed=1), 0)
    assert counts_contradict(Counts("pytest", passed=3, errors=1), 0)
    assert not counts_contradict(Counts("pytest", passed=3, failed=1), 1)
    assert not counts_contradict(Counts("pytest", passed=3), 0)


def test_a_run_in_which_no_test_had_an_outcome_is_vacuous() -> None:
    assert is_vacuous(Counts("pytest"))
    assert is_vacuous(Counts("pytest", skipped=3, deselected=4))
    assert not is_vacuous(Counts("pytest", passed=1, skipped=3))
    assert not is_vacuous(Counts("pytest", failed=1))


fragments = st.lists(
    st.sampled_from(
        [b"=" * 9, b" ", b"3 passed", b", ", b" in 0.01s", b"\n", b"\r", b"\x1b[31m", b"\x1b]",
         b"-" * 70, b"Ran 2 tests in 0.1s", b"\n\n", b"OK", b"FAILED (failures=1)", b"9" * 5_000,
         b"Test Suites: 1 failed, 1 total\nTests:       1 passed, 1 total\n", b" Test Files  ",
         b"1 passed (1)\n      Tests  ", b"\n\n  2 passing (1ms)", b"\n  1 failing", b"# tests 1\n",
         b"ok  \ta\t0.1s\n", b"=== RUN   T\n", b"--- PASS: T (0.00s)\n",
         b"FAIL\ta [build failed]\n",
         b'{"Action":"pass","Package":"a"', b',"Test":"b"', b"}\n", b"running 2 tests\n",
         b"test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
         b"     Summary [   0.1s] 1 test run: 1 passed, 0 skipped\n", b"\t 1 - a (Skipped)\n",
         b"67% tests passed, 1 tests failed out of 3\n", b"2 examples, 3 failures\n",
         b"Finished in 1 second (files took 1 second to load)\n", b"OK (1 test, 1 assertion)\n",
         b"ERRORS!\nTests: 1, Assertions: 1, Errors: 2.\n", b"Files=1, Tests=1, \nResult: FAIL\n",
         b"Test Summary Report\n", b"a (Wstat: 0 Tests: 1 Failed: 9)\n", b"1..3\n", b"not ok 1\n",
         b"ok 2 # skip\n", b"Bail out!\n"]
    )
).map(b"".join)  # fmt: skip


@given(st.one_of(st.binary(), fragments), st.one_of(st.binary(), fragments))
def test_any_output_can_be_read(stdout: bytes, stderr: bytes) -> None:
    counts = count(stdout, stderr)
    numbers = astuple(counts)[1:] if counts is not None else ()
    assert all(number >= 0 for number in numbers)


@given(fragments)
def test_a_terminal_shows_the_same_as_a_pipe(output: bytes) -> None:
    lines = output.replace(b"\r", b"")
    assert count(lines.replace(b"\n", b"\r\n"), b"") == count(lines, b"")
