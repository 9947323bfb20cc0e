"""The gate: what completes a Task, and which Problem says why not."""

import pytest
from support.capsules import OLD, TREE, Story, counts, today
from support.expected import problem

from memprove.ledger.domain.completion import judge
from memprove.ledger.domain.events import Completion, Judged, RunKind


@pytest.fixture
def story() -> Story:
    story = Story()
    story.session()
    return story


def test_red_fix_green_completes(story: Story) -> None:
    story.run("pytest", counts(2, 1), tree=OLD)
    story.run("pytest", counts(3))
    done = judge(story.evidence(today(TREE, {OLD: ["a.py"]})))
    assert done == Completion(judged=(Judged(run="r2", verdict="passed", fresh=True),), tree=TREE)


def test_green_red_on_one_tree_does_not(story: Story) -> None:
    story.run("pytest", counts(3))
    story.run("pytest", counts(2, 1))
    with problem("run_failed", "r2"):
        judge(story.evidence())


def test_green_on_the_tree_before_and_red_on_todays_does_not(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD)
    story.run("pytest", counts(2, 1))
    with problem("run_failed", "r2"):
        judge(story.evidence())


def test_red_elsewhere_after_green_on_todays_tree_completes(story: Story) -> None:
    story.run("pytest", counts(3))
    story.run("pytest", counts(2, 1), tree=OLD)
    assert [one.run for one in judge(story.evidence()).judged] == ["r1"]


def test_red_green_on_one_tree_completes_on_the_later(story: Story) -> None:
    story.run("pytest", counts(2, 1))
    story.run("pytest", counts(3))
    assert [one.run for one in judge(story.evidence()).judged] == ["r2"]


def test_nothing_run_does_not_complete(story: Story) -> None:
    with problem("no_passed_run"):
        judge(story.evidence())


def test_a_command_of_kind_other_never_completes(story: Story) -> None:
    story.run("true", kind=RunKind.OTHER)
    with problem("no_passed_run"):
        judge(story.evidence())
    with problem("no_passed_run"):
        judge(story.evidence(), runs=["r1"])


@pytest.mark.parametrize("kind", [RunKind.TEST, RunKind.BUILD, RunKind.LINT])
def test_a_passed_run_of_a_kind_that_counts_completes(story: Story, kind: RunKind) -> None:
    story.run("make", counts(1), kind=kind)
    assert judge(story.evidence()).judged == (Judged(run="r1", verdict="passed", fresh=True),)


@pytest.mark.parametrize(
    ("code", "run"),
    [
        ("run_failed", {"tests": counts(2, 1)}),
        ("run_vacuous", {"tests": counts(0)}),
        ("run_vacuous", {"tests": counts(0, skipped=4)}),
        ("run_vacuous", {"tests": None}),
        ("run_masked", {"tests": counts(3), "masked": "a pipe"}),
    ],
)
def test_a_check_that_contradicts_stops_all_others(
    story: Story, code: str, run: dict[str, object]
) -> None:
    story.run("ruff check", kind=RunKind.LINT)
    story.run("pytest", **run)  # type: ignore[arg-type]
    with problem(code, "r2"):
        judge(story.evidence())
    with problem(code, "r2"):
        judge(story.evidence(), accept_stale="why")
    with problem(code, "r2"):
        judge(story.evidence(), runs=["r1"])
    if code == "run_failed":
        with problem(code, "r2"):
            judge(story.evidence(), accept_untested="why")
    else:
        assert judge(story.evidence(), accept_untested="why").accept_untested == "why"


def test_a_run_that_moved_its_tree_does_not_complete(story: Story) -> None:
    story.run("pytest", counts(3), moved=("a.py",))
    with problem("evidence_stale", "r1"):
        judge(story.evidence())
    story.run("ruff check", kind=RunKind.LINT)
    judge(story.evidence())


def test_a_run_that_was_interrupted_or_lost_decides_nothing(story: Story) -> None:
    story.run("pytest", counts(3))
    story.run("pytest", signal=2)
    story.start("pytest")
    assert [one.run for one in judge(story.evidence()).judged] == ["r1"]


def test_only_interrupted_and_lost_runs_are_no_evidence(story: Story) -> None:
    story.run("pytest", signal=2)
    story.start("pytest")
    with problem("no_passed_run"):
        judge(story.evidence())


def test_a_run_on_another_tree_is_stale_and_the_paths_are_named(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD)
    changed = today(TREE, {OLD: ["a.py", "b.py", "c.py", "d.py"]})
    with problem(
        "evidence_stale", "r1: a.py, b.py, c.py changed; rerun it with `memprove rerun r1`"
    ):
        judge(story.evidence(changed))
    with problem("evidence_stale", "r1: paths unknown"):
        judge(story.evidence())


def test_a_tree_that_is_not_known_is_stale(story: Story) -> None:
    story.run("pytest", counts(3), tree=None)
    with problem("evidence_stale", "timeout"):
        judge(story.evidence())
    story.run("pytest -q", counts(3))
    with problem("evidence_stale", "no_git"):
        judge(story.evidence(today(None, reason="no_git")))


def test_another_ignore_list_is_stale(story: Story) -> None:
    story.run("pytest", counts(3))
    with problem("evidence_stale", "the ignore list changed"):
        judge(story.evidence(today(TREE, ignore=("*.md",))))


def test_a_run_holds_where_only_ignored_paths_changed(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD, ignore=("*.md",))
    done = judge(story.evidence(today(TREE, {OLD: []}, ignore=("*.md",))))
    assert (done.tree, done.ignore) == (TREE, ("*.md",))


# Labels given


def test_labels_given_stand_for_the_deciding_runs_of_their_checks(story: Story) -> None:
    story.run("pytest", counts(2, 1), tree=OLD)
    story.run("pytest", counts(3))
    story.run("true", kind=RunKind.OTHER)
    done = judge(story.evidence(), runs=["r1", "3", "r3"])
    assert [(one.run, one.fresh) for one in done.judged] == [("r2", True), ("r3", True)]


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        (["r9"], "label_unknown"),
        (["c1"], "label_invalid"),
        (["!r1"], "label_invalid"),
        (["r1:t"], "label_invalid"),
        (["r2"], "evidence_stale"),
        (["r3"], "run_failed"),
        (["r4"], "run_lost"),
        (["r5"], "run_interrupted"),
        (["r6"], "run_moved"),
        (["r1", "r3"], "run_failed"),
    ],
)
def test_a_label_given_that_does_not_hold_is_refused(
    story: Story, runs: list[str], code: str
) -> None:
    story.run("pytest", counts(3))
    story.run("make", kind=RunKind.OTHER, tree=OLD)
    story.run("false", kind=RunKind.OTHER, exit=1)
    story.start("sleep", kind=RunKind.OTHER)
    story.run("yes", kind=RunKind.OTHER, signal=9)
    story.run("gen", kind=RunKind.OTHER, moved=("a.py",))
    judge(story.evidence(), runs=["r1"])
    with problem(code):
        judge(story.evidence(), runs=runs)


def test_a_failed_check_of_kind_other_stops_nothing_unless_named(story: Story) -> None:
    story.run("pytest", counts(3))
    story.run("false", kind=RunKind.OTHER, exit=1)
    assert [one.run for one in judge(story.evidence()).judged] == ["r1"]


# What the owner may change


def test_the_owner_may_want_one_kind_only(story: Story) -> None:
    story.run("ruff check", kind=RunKind.LINT)
    with problem("no_passed_run"):
        judge(story.evidence(), kinds=[RunKind.TEST])
    story.run("pytest", counts(3))
    assert judge(story.evidence(), kinds=[RunKind.TEST])


def test_a_failed_check_stops_even_if_its_kind_does_not_count(story: Story) -> None:
    story.run("pytest", counts(3))
    story.run("ruff check", kind=RunKind.LINT, exit=1)
    with problem("run_failed", "r2"):
        judge(story.evidence(), kinds=[RunKind.TEST])


def test_no_choice_of_kinds_lets_other_count(story: Story) -> None:
    story.run("true", kind=RunKind.OTHER)
    with problem("no_passed_run"):
        judge(story.evidence(), kinds=list(RunKind))


def test_a_stale_pass_may_be_accepted_and_shows_so(story: Story) -> None:
    story.run("pytest", counts(3), tree=OLD)
    done = judge(story.evidence(), accept_stale="only a comment changed")
    assert done.judged == (Judged(run="r1", verdict="passed", fresh=False),)
    assert done.accept_stale == "only a comment changed"
    assert judge(story.evidence(), runs=["r1"], accept_stale="why").judged == done.judged


def test_accepting_what_is_stale_takes_no_failure_and_no_missing_test(story: Story) -> None:
    with problem("no_passed_run"):
        judge(story.evidence(), accept_stale="why")
    story.run("pytest", counts(2, 1), tree=OLD)
    with problem("run_failed", "r1"):
        judge(story.evidence(), accept_stale="why")


def test_an_untested_task_may_be_accepted_and_shows_so(story: Story) -> None:
    done = judge(story.evidence(), accept_untested="documents only")
    assert done == Completion(tree=TREE, accept_untested="documents only")


@pytest.mark.parametrize("field", ["accept_stale", "accept_untested"])
def test_a_reason_has_a_limit(story: Story, field: str) -> None:
    with problem("text_too_long", field.replace("_", "-")):
        judge(story.evidence(), **{field: "r" * 2_001})  # type: ignore[arg-type]
