"""The gate of CI: what it lets through, and what it names where it does not."""

import pytest
from support.capsules import NO_OUTPUT, OLD, START, TREE, Story, counts, example, today

from memprove.ledger.domain import events as e
from memprove.ledger.domain.events import RunKind, TaskState
from memprove.ledger.domain.evidence import Evidence
from memprove.ledger.domain.gate import shortfalls

CHANGED = today(TREE, {OLD: ["lexer.py", "b.py"]})


@pytest.fixture
def story() -> Story:
    story = Story()
    story.session()
    return story


def found(evidence: Evidence, *, complete: bool = False) -> list[tuple[str, str]]:
    missed = shortfalls(evidence, fresh=not complete, complete=complete)
    return [(shortfall.label, shortfall.state) for shortfall in missed]


def test_what_is_proven_on_this_tree_passes(story: Story) -> None:
    story.run("pytest", counts(3))
    story.fact("it works", "r1")
    story.fact("somebody said so")
    assert found(story.evidence()) == []


def test_a_stale_claim_is_named_with_its_command_and_what_changed(story: Story) -> None:
    story.run("pytest -q", counts(3), tree=OLD)
    story.fact("it works", "r1")
    (missed,) = shortfalls(story.evidence(CHANGED), fresh=True, complete=False)
    assert (missed.label, missed.state, missed.paths) == ("c1", "stale", ("lexer.py", "b.py"))
    assert missed.line == (
        "c1 r1 `pytest -q` test 3/3, then `lexer.py`, `b.py` changed · “it works”"
    )


def test_a_refuted_claim_and_the_run_that_fails_here_are_named(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD)
    story.fact("it works", "r1")
    story.run("pytest", counts(2, 1))
    assert found(story.evidence(CHANGED)) == [("c1", "refuted"), ("r2", "failed")]


def test_the_gravest_comes_first() -> None:
    missed = found(example().evidence(CHANGED))
    assert missed == [("c3", "refuted"), ("c5", "stale"), ("r9", "failed")]


def test_a_withdrawn_claim_is_not_in_the_way(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD)
    story.fact("it works", "r1")
    story.run("pytest", counts(3))
    story.run("make", kind=RunKind.BUILD, tree=OLD)
    story.fact("it builds", "r3")
    story.say(e.CheckpointRecorded(withdrawn=("c2",)))
    assert found(story.evidence(CHANGED)) == []


def test_where_the_tree_is_unknown_nothing_passes(story: Story) -> None:
    story.run("pytest", counts(3))
    story.fact("it works", "r1")
    (missed,) = shortfalls(
        story.evidence(today(None, reason="filter_untrusted: lfs")), fresh=True, complete=False
    )
    assert (missed.label, missed.state) == ("tree", "unknown")
    assert "filter_untrusted: lfs" in missed.line


def test_a_run_on_an_unknown_tree_proves_nothing(story: Story) -> None:
    story.run("pytest", counts(3), tree=None)
    story.fact("it works", "r1")
    assert found(story.evidence()) == [("c1", "stale")]


def test_a_task_that_claims_nothing_and_ran_nothing_does_not_pass(story: Story) -> None:
    story.fact("trust me")
    assert found(story.evidence()) == [("Task 3", "unproven")]
    story.run("true", kind=RunKind.OTHER)
    assert found(story.evidence()) == [("Task 3", "unproven")]


def test_without_claims_a_check_must_have_passed_here(story: Story) -> None:
    story.run("pytest -q", counts(3), tree=OLD)
    (missed,) = shortfalls(story.evidence(CHANGED), fresh=True, complete=False)
    assert missed.line == "r1 `pytest -q` test 3/3, then `lexer.py`, `b.py` changed"
    story.run("pytest -q", counts(3))
    assert found(story.evidence(CHANGED)) == []


def test_only_the_newest_state_counts_as_completed(story: Story) -> None:
    assert found(story.evidence(), complete=True) == [("Task 3", "in_progress")]
    story.move(TaskState.IN_PROGRESS, TaskState.COMPLETED)
    assert found(story.evidence(), complete=True) == []
    story.move(TaskState.COMPLETED, TaskState.IN_PROGRESS)
    assert found(story.evidence(), complete=True) == [("Task 3", "in_progress")]


def test_nothing_demanded_is_nothing_missed(story: Story) -> None:
    assert shortfalls(story.evidence(), fresh=False, complete=False) == ()


def spooled_run(story: Story, passed: int, failed: int = 0) -> None:
    """Add a Run that came from the spool, as `xaaaaa1`."""
    argv, state = ("pytest",), e.TreeState(id=TREE)
    story.add(
        e.RunStarted(argv=argv, cwd="", worktree="main", kind=RunKind.TEST, tree=state),
        labels=("xaaaaa1",),
    )
    story.add(
        e.RunEnded(
            run="xaaaaa1",
            kind=RunKind.TEST,
            exit=1 if failed else 0,
            signal=None,
            duration_ms=1,
            stdout=NO_OUTPUT,
            stderr=NO_OUTPUT,
            tree=state,
            counts=counts(passed, failed),
            counts_needed=True,
            spooled=1,
            spooled_at=START,
        )
    )


def test_hearsay_proves_only_where_it_is_allowed(story: Story) -> None:
    spooled_run(story, 3)
    assert found(story.evidence()) == [("Task 3", "unproven")]
    story.fact("it works", "xaaaaa1")
    assert found(story.evidence()) == [("c1", "spooled")]
    assert shortfalls(story.evidence(), fresh=True, complete=False, spooled=True) == ()


def test_a_failure_by_hearsay_speaks_against(story: Story) -> None:
    spooled_run(story, 2, 1)
    assert ("xaaaaa1", "failed") in found(story.evidence())
