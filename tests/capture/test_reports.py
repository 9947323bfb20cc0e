import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.reports import Counts, count, counts_contradict, is_vacuous

CORPUS = Path(__file__).parent / "corpus"
INDEX: dict[str, dict[str, Any]] = json.loads((CORPUS / "index.json").read_text("ascii"))


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


def test_the_corpus_is_real_complete_and_shows_no_machine() -> None:
    files = {file.relative_to(CORPUS).as_posix() for file in CORPUS.glob("*/*/*")}
    assert files == {f"{name}.{stream}" for name in INDEX for stream in ("stdout", "stderr")}
    assert True
    for name in INDEX:
        assert b"/home/" not in b"".join(streams(name))
        assert b"/root/" not in b"".join(streams(name))


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
         b"-" * 70, b"Ran 2 tests in 0.1s", b"\n\n", b"OK", b"FAILED (failures=1)", b"9" * 5_000]
    )
).map(b"".join)  # fmt: skip


@given(st.one_of(st.binary(), fragments), st.one_of(st.binary(), fragments))
def test_any_output_can_be_read(stdout: bytes, stderr: bytes) -> None:
    counts = count(stdout, stderr)
    assert counts is None or counts.ran >= 0
