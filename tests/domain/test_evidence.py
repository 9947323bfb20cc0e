"""What Runs prove today: the deciding Run, freshness, and the table of proofs row by row."""

import pytest
from support.capsules import OLD, TREE, Story, counts, today

from memprove.ledger.domain import events as e
from memprove.ledger.domain.evidence import Evidence, Proof, ProofState, Today

OLDER = "0ddba11" + "0" * 33


def green(story: Story, tree: str | None = TREE) -> str:
    return story.run("pytest", counts(3), tree=tree)


def red(story: Story, tree: str | None = TREE) -> str:
    return story.run("pytest", counts(2, 1), tree=tree)


def proof(story: Story, now: Today | None = None) -> Proof:
    evidence = story.evidence(now)
    return evidence.prove(evidence.capsule.claims["c1"])


def state(story: Story, now: Today | None = None) -> ProofState:
    return proof(story, now).state


def claimed(tree: str | None = TREE, paths: tuple[str, ...] = ()) -> Story:
    """Return a Task in which c1 cites r1, which passed on *tree*."""
    story = Story()
    story.session()
    green(story, tree)
    story.fact("it works", "r1", paths=paths)
    return story


# The table of proofs


def test_withdrawn_comes_before_all() -> None:
    story = claimed()
    red(story)
    story.say(e.CheckpointRecorded(withdrawn=("c1",)))
    assert state(story) is ProofState.WITHDRAWN


def test_a_claim_that_cites_no_run_is_asserted() -> None:
    story = Story()
    story.fact("because of a claim and a Decision", "c2", "d1")
    assert state(story) is ProofState.ASSERTED


def test_a_claim_that_cites_only_a_failed_run_is_observed() -> None:
    story = Story()
    red(story)
    story.fact("the bug is reproduced", "!r1")
    green(story)
    assert state(story) is ProofState.OBSERVED
    assert [run.label for run in proof(story).runs] == ["r1"]


def test_a_failed_run_beside_a_passed_one_takes_nothing_away() -> None:
    story = Story()
    red(story, OLD)
    green(story)
    story.fact("it was broken and is not", "!r1", "r2")
    assert state(story) is ProofState.PROVEN


def test_green_then_red_is_refuted() -> None:
    story = claimed()
    red(story)
    assert state(story) is ProofState.REFUTED
    assert [run.label for run in proof(story).runs] == ["r2"]


@pytest.mark.parametrize(("tests", "masked"), [(counts(3), "|| true"), (counts(0), ""), (None, "")])
def test_a_masked_or_vacuous_run_refutes(tests: e.TestCounts | None, masked: str) -> None:
    story = claimed()
    story.run("pytest", tests, masked=masked)
    assert state(story) is ProofState.REFUTED


def test_one_of_two_checks_that_fails_refutes() -> None:
    story = claimed()
    story.run("ruff check", kind=e.RunKind.LINT, counts_needed=False)
    story.fact("it works and is tidy", "r1", "r2")
    story.run("ruff check", kind=e.RunKind.LINT, exit=1)
    evidence = story.evidence()
    found = evidence.prove(evidence.capsule.claims["c2"])
    assert (found.state, [run.label for run in found.runs]) == (ProofState.REFUTED, ["r3"])


def test_a_changed_tree_makes_stale_and_names_the_paths() -> None:
    found = proof(claimed(OLD), today(changes={OLD: ["lexer.py"]}))
    assert (found.state, found.paths) == (ProofState.STALE, ("lexer.py",))


def test_a_moved_run_makes_stale() -> None:
    story = claimed()
    story.run("pytest", counts(3), moved=("a.snap",))
    assert state(story) is ProofState.STALE


def test_an_unknown_tree_of_today_makes_stale_and_says_why() -> None:
    found = proof(claimed(), today(None, reason="timeout"))
    assert (found.state, found.reason) == (ProofState.STALE, "tree unknown: timeout")


def test_an_unknown_tree_of_the_run_makes_stale_and_says_why() -> None:
    found = proof(claimed(None))
    assert (found.state, found.reason) == (ProofState.STALE, "tree of r1 unknown: timeout")


def test_paths_that_cannot_be_told_make_stale() -> None:
    assert proof(claimed(OLD)).reason == "paths unknown"
    assert state(claimed(OLD)) is ProofState.STALE


def test_every_deciding_run_passed_on_todays_tree_is_proven() -> None:
    story = claimed()
    story.run("ruff check", kind=e.RunKind.LINT, counts_needed=False)
    story.fact("it works and is tidy", "r1", "r2")
    evidence = story.evidence()
    found = evidence.prove(evidence.capsule.claims["c2"])
    assert (found.state, [run.label for run in found.runs]) == (ProofState.PROVEN, ["r1", "r2"])


# The deciding Run


def test_red_then_green_is_proven_by_the_newest() -> None:
    story = claimed()
    red(story)
    green(story)
    assert state(story) is ProofState.PROVEN
    assert [run.label for run in proof(story).runs] == ["r3"]


def test_a_run_on_todays_tree_comes_before_a_newer_one_on_another() -> None:
    story = claimed()
    red(story, OLD)
    assert state(story) is ProofState.PROVEN
    assert state(story, today(OLD)) is ProofState.REFUTED


def test_without_a_run_on_todays_tree_the_newest_decides() -> None:
    story = claimed(OLD)
    red(story, OLDER)
    assert state(story) is ProofState.REFUTED


def test_a_tree_that_differs_only_in_what_is_ignored_is_todays() -> None:
    story = claimed(OLD)
    assert state(story, today(changes={OLD: []})) is ProofState.PROVEN


@pytest.mark.parametrize("signal", [2, 15])
def test_an_interrupted_run_never_decides(signal: int) -> None:
    story = claimed()
    story.run("pytest", signal=signal)
    assert state(story) is ProofState.PROVEN


def test_a_crash_decides_and_refutes() -> None:
    story = claimed()
    story.run("pytest", signal=11, crashed=True)
    assert state(story) is ProofState.REFUTED


def test_a_lost_run_never_decides() -> None:
    story = claimed()
    story.start("pytest")
    assert state(story) is ProofState.PROVEN


def test_another_command_or_folder_is_another_check() -> None:
    story = claimed()
    story.run("pytest -x", counts(1, 1))
    story.run("pytest", counts(1, 1), cwd="sub")
    assert state(story) is ProofState.PROVEN
    assert [run.label for run in story.evidence().checks()] == ["r1", "r2", "r3"]


def test_no_run_of_a_check_that_only_got_lost_decides() -> None:
    story = Story()
    story.start("pytest")
    evidence = story.evidence()
    assert evidence.deciding((("pytest",), "")) is None
    assert evidence.checks() == []


# The ignore list and a claim's paths


def test_a_changed_ignore_list_makes_stale() -> None:
    found = proof(claimed(), today(ignore=("*.md",)))
    assert (found.state, found.reason) == (ProofState.STALE, "the ignore list changed")


def test_a_run_under_the_same_ignore_list_holds() -> None:
    story = Story()
    story.run("pytest", counts(1), ignore=("*.md",))
    story.fact("it works", "r1")
    assert state(story, today(ignore=("*.md",))) is ProofState.PROVEN


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("README.md", ProofState.PROVEN),
        ("src2/a.py", ProofState.PROVEN),
        ("src/a.py", ProofState.STALE),
        ("src", ProofState.STALE),
        ("setup.py", ProofState.STALE),
    ],
)
def test_only_a_change_in_the_claims_paths_makes_it_stale(changed: str, found: ProofState) -> None:
    story = claimed(OLD, paths=("src/", "setup.py"))
    assert state(story, today(changes={OLD: [changed]})) is found


# What is asked of the working tree


def test_the_trees_in_question_are_those_of_deciding_runs_newest_first() -> None:
    story = claimed(OLD)
    green(story, OLDER)
    story.run("ruff check", kind=e.RunKind.LINT, tree=OLD)
    story.run("make", kind=e.RunKind.BUILD, tree=None)
    story.run("make all", kind=e.RunKind.BUILD)
    trees = story.evidence().trees_in_question()
    assert [tree.id for tree in trees] == [OLD, OLDER]


def test_with_an_ignore_list_the_tree_of_every_run_is_in_question() -> None:
    story = claimed(OLDER)
    green(story, OLD)
    assert [tree.id for tree in story.evidence().trees_in_question()] == [OLD]
    trees = story.evidence(today(ignore=("*.md",))).trees_in_question()
    assert [tree.id for tree in trees] == [OLD, OLDER]


def test_of_a_test_that_was_cited_the_newest_run_with_an_outcome_decides() -> None:
    story = Story()
    for _ in range(3):
        green(story)
    story.fact("it works", "r1:t.py::a")
    outcomes = {
        "r1": {"t.py::a": "passed"},
        "r2": {"t.py::a": "failed", "t.py::b": "passed"},
        "r3": {"t.py::a": "skipped"},
    }
    capsule = story.capsule()
    evidence = Evidence(capsule, today(), lambda run: outcomes[run.label])
    refuted = evidence.prove(capsule.claims["c1"])
    assert refuted.state is ProofState.REFUTED
    (ground,) = refuted.grounds
    assert (ground.run.label, ground.outcome, ground.flaky) == ("r2", "failed", True)
    outcomes["r2"]["t.py::a"] = "passed"
    assert evidence.prove(capsule.claims["c1"]).state is ProofState.PROVEN
