"""One line for each kind of thing, cut and uncut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.capsules import OLD, Story, counts, today
from support.texts import hostile

from memprove.ledger.domain import events as e
from memprove.ledger.domain.lines import Lines, counted, utc
from memprove.ledger.domain.record import Erased, Record

LONG = "long text " * 40


def story() -> Story:
    begun = Story()
    begun.session("claude-code")
    return begun


def claim(story: Story, label: str = "c1", changed: tuple[str, ...] = (), limit: int = 400) -> str:
    evidence = story.evidence(today(changes={OLD: changed} if changed else {}))
    return Lines(evidence, limit).claim(evidence.capsule.claims[label])


def run(story: Story, label: str = "r1") -> str:
    evidence = story.evidence()
    return Lines(evidence, 400).run(evidence.capsule.runs[label])


def test_a_proven_claim_shows_command_kind_and_counts() -> None:
    task = story()
    task.run("pytest -q", counts(214))
    task.fact("nested lists parse", "r1")
    assert claim(task) == "c1 r1 `pytest -q` test 214/214 · “nested lists parse”"


def test_a_kind_without_tests_shows_no_counts() -> None:
    task = story()
    task.run("make", counts(3), kind=e.RunKind.BUILD)
    task.fact("it builds", "r1")
    assert claim(task) == "c1 r1 `make` build · “it builds”"


def test_fewer_tests_than_in_the_newest_earlier_pass_show() -> None:
    task = story()
    task.run("pytest", counts(50))
    task.run("pytest", counts(42))
    task.run("pytest", counts(60, 1))
    task.run("pytest", counts(3))
    task.fact("it works", "r4")
    assert claim(task) == "c1 r4 `pytest` test 3/3, 3 tests (42 in r2) · “it works”"
    assert run(task, "r4").startswith("r4 passed test 3/3, 3 tests (42 in r2) 1.9 s tree ")
    assert "tests" not in run(task, "r3")


def test_skipped_tests_are_counted_apart() -> None:
    task = story()
    task.run("pytest", counts(1, skipped=200))
    task.fact("it works", "r1")
    assert claim(task) == "c1 r1 `pytest` test 1/1, 200 skipped · “it works”"


def test_all_runs_behind_a_claim_are_shown() -> None:
    task = story()
    task.run("pytest a", counts(1))
    task.run("pytest b", counts(2), cwd="sub")
    task.fact("both work", "r1", "r2", "d1")
    assert claim(task) == (
        "c1 r1 `pytest a` test 1/1, r2 `pytest b` in `sub` test 2/2 · d1 · “both work”"
    )


def test_a_cut_line_counts_the_runs_after_the_fifth() -> None:
    task = story()
    labels = [task.run(f"pytest {number} {LONG}", counts(1)) for number in range(7)]
    task.fact("all work", *labels)
    assert ", 2 more Runs · “all work”" in claim(task)
    assert len(claim(task)) < 400
    evidence = task.evidence()
    uncut = Lines(evidence).claim(evidence.capsule.claims["c1"])
    assert "r7 `pytest 6 long" in uncut
    assert "…" not in uncut


def test_a_stale_claim_names_three_changed_paths_and_counts_the_rest() -> None:
    task = story()
    task.run("pytest", counts(9), tree=OLD)
    task.fact("it works", "r1")
    changed = ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py")
    assert claim(task, changed=changed) == (
        "c1 r1 `pytest` test 9/9, then `a.py`, `b.py`, `c.py` and 4 more changed · “it works”"
    )


def test_a_stale_claim_whose_changed_paths_are_unknown_says_so() -> None:
    task = story()
    task.run("pytest", counts(9), tree=OLD)
    task.fact("it works", "r1")
    assert claim(task) == "c1 r1 `pytest` test 9/9, paths unknown · “it works”"


@pytest.mark.parametrize(
    ("reason", "shown"), [("timeout", "timeout"), ("“x” · `y`", r"`\u201cx\u201d \xb7 \x60y\x60`")]
)
def test_an_unknown_tree_says_why(reason: str, shown: str) -> None:
    task = story()
    task.run("pytest", counts(9))
    task.fact("it works", "r1")
    evidence = task.evidence(today(None, reason=reason))
    line = Lines(evidence, 400).claim(evidence.capsule.claims["c1"])
    assert line.startswith("c1 r1 `pytest` test 9/9, ")
    assert (
        Lines(evidence, 400).task().startswith(f"Task 3 · in_progress · tree unknown: {shown} · “")
    )


def test_a_claim_whose_run_was_erased_says_that_none_decides() -> None:
    task = story()
    task.run("pytest", counts(9))
    task.records[-1] = Record(task.records[-1].leaf, Erased())
    task.fact("it works", "r1")
    assert claim(task) == "c1 no Run decides · “it works”"


def test_a_product_alone_that_makes_stale_is_named_with_the_remedy() -> None:
    task = story()
    task.run("pytest", counts(9), tree=OLD, products=(".coverage", "out"))
    task.fact("it works", "r1")
    hint = "which r1 itself made: name it in [evidence] ignore"
    assert f"then `.coverage` changed, {hint} · " in claim(task, changed=(".coverage",))
    assert hint not in claim(task, changed=(".coverage", "a.py"))


def test_a_moved_run_says_what_it_changed() -> None:
    task = story()
    task.run("pytest", counts(9))
    task.fact("it works", "r1")
    task.run("pytest", counts(9), moved=("a.snap", "b.snap"))
    assert claim(task) == ("c1 r2 `pytest` test 9/9 moved, it changed tracked files · “it works”")
    assert run(task, "r2") == (
        "r2 moved test 9/9 1.9 s tree 9c1e2ab changed `a.snap`, `b.snap` `pytest`"
    )


@pytest.mark.parametrize(
    ("passed", "failed", "exit", "masked", "shown"),
    [
        (13, 1, 1, "", "test 13/14"),
        (14, 0, 1, "", "test 14/14 failed"),
        (14, 0, 0, "|| true", "test 14/14 masked"),
        (0, 0, 0, "", "test 0/0, 0 tests (5 in r1) vacuous"),
    ],
)
def test_a_refuted_claim_shows_what_refutes_it(
    passed: int, failed: int, exit: int, masked: str, shown: str
) -> None:
    task = story()
    task.run("pytest", counts(5))
    task.fact("it works", "r1")
    task.run("pytest", counts(passed, failed), exit=exit, masked=masked)
    assert claim(task) == f"c1 r2 `pytest` {shown} · “it works”"


def test_an_observed_claim_marks_its_runs() -> None:
    task = story()
    task.run("pytest", counts(3, 1))
    task.fact("the bug is reproduced", "!r1")
    assert claim(task) == "c1 !r1 `pytest` test 3/4 · “the bug is reproduced”"


def test_the_paths_of_a_claim_are_printed() -> None:
    task = story()
    task.fact("it is so", paths=("src/", "a`b", "é", "last"))
    assert claim(task) == r"c1 paths `src/`, `a\x60b`, `\xe9` and 1 more · “it is so”"


def test_a_run_shows_verdict_kind_counts_time_tree_and_command() -> None:
    task = story()
    task.run("pytest -q", counts(214), ms=12_345)
    assert run(task) == "r1 passed test 214/214 12.3 s tree 9c1e2ab `pytest -q`"


def test_a_run_shows_hidden_files_and_an_unknown_tree() -> None:
    task = story()
    task.run("make", kind=e.RunKind.BUILD, hidden=3)
    task.run("make", kind=e.RunKind.BUILD, tree=None, reason="timeout")
    assert run(task) == "r1 passed build 1.9 s tree 9c1e2ab hidden: 3 `make`"
    assert run(task, "r2") == "r2 passed build 1.9 s tree unknown: timeout `make`"


def test_a_run_that_never_ended_has_no_time() -> None:
    task = story()
    task.start("pytest")
    assert run(task) == "r1 lost test tree 9c1e2ab `pytest`"


def test_a_decision_shows_its_title_where_it_is_not_the_choice() -> None:
    task = story()
    task.propose("SQLite", "one file", title="Store", alternatives=("files", "memory"))
    task.propose("SQLite", "one file")
    evidence = task.evidence()
    decided = evidence.capsule.decisions
    assert Lines(evidence, 90).decision(decided["d1"]) == (
        "d1 proposed · “Store”: “SQLite” because “one file”"
    )
    assert Lines(evidence).decision(decided["d1"]) == (
        "d1 proposed · “Store”: “SQLite” because “one file”, not “files”, “memory”"
    )
    assert Lines(evidence).decision(decided["d2"]) == "d2 proposed · “SQLite” because “one file”"


def test_a_session_shows_who_as_what_and_how_it_ended() -> None:
    task = story()
    task.session("codex", "reviewer of all", parent=6)
    task.end(7, "half done")
    task.end(6, abandoned=True)
    evidence = task.evidence()
    lines = [Lines(evidence, 400).session(s) for s in evidence.capsule.sessions.values()]
    assert lines == [
        "Session 6 claude-code abandoned",
        "Session 7 codex (`reviewer of all`) ended, under Session 6 · “half done”",
    ]


def test_a_cut_text_ends_with_an_ellipsis_and_an_uncut_one_is_whole() -> None:
    task = story()
    task.open(LONG)
    evidence = task.evidence()
    item = evidence.capsule.open_items["o1"]
    assert Lines(evidence, 20).item(item) == "o1 “long text long te…”"
    assert Lines(evidence).item(item) == f"o1 “{LONG}”"


def test_the_history_of_a_claim_tells_evidence_and_who_said_it_when() -> None:
    task = story()
    task.run("pytest", counts(1))
    task.run("pytest x", counts(0, 1))
    task.fact("it works", "r1", "r1:tests/a.py::test\x1b", "!r2", "c1")
    task.session("codex")
    task.say(e.CheckpointRecorded(reaffirmed=(e.Reaffirmed(claim="c1"),)))
    task.say(e.CheckpointRecorded(withdrawn=("c1",)))
    evidence = task.evidence()
    assert Lines(evidence).claim_history(evidence.capsule.claims["c1"]) == [
        "  proof withdrawn",
        "  stated 2026-09-21T14:13:28Z by claude-code in Session 6, event 8",
        r"  cites r1 r1:`tests/a.py::test\x1b` !r2 c1",
        "  reaffirmed 2026-09-21T14:13:30Z by codex in Session 7, event 10",
        "  withdrawn 2026-09-21T14:13:31Z by codex in Session 7, event 11",
    ]


def test_a_next_action_names_agent_and_session_if_there_is_one() -> None:
    task = story()
    assert Lines(task.evidence()).next_action() == ""
    task.fact("x", next_action="go on")
    assert Lines(task.evidence()).next_action() == "Next (claude-code, Session 6): “go on”"
    alone = Story()
    alone.add(e.CheckpointRecorded(next_action="go on"))
    assert Lines(alone.evidence()).next_action() == "Next: “go on”"


@given(hostile, st.integers(3, 400))
def test_any_text_stays_on_its_line_between_its_quotes(text: str, limit: int) -> None:
    task = Story(raw=True)
    task.open(text)
    evidence = task.evidence()
    line = Lines(evidence, limit).item(evidence.capsule.open_items["o1"])
    assert line.startswith("o1 “")
    assert line.endswith("”")
    assert line.count("“") == line.count("”") == 1
    assert line.splitlines() == [line]
    assert len(line.encode("utf-16-le")) // 2 <= limit + 3


def test_times_are_utc_to_the_second_and_counts_have_a_plural() -> None:
    assert utc(999) == "1970-01-01T00:00:00Z"
    assert [counted(n, "test") for n in (0, 1, 2)] == ["0 tests", "1 test", "2 tests"]
