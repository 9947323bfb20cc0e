"""The Capsule as a fold: what each event does to it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from support.capsules import START, Story, counts
from support.stories import stories

from memprove.ledger.domain import events as e
from memprove.ledger.domain.capsule import Capsule, fold
from memprove.ledger.domain.record import Erased, Record, Unknown
from memprove.ledger.domain.run import Verdict


def started() -> Story:
    story = Story()
    story.session()
    return story


@settings(deadline=None)
@given(stories(), st.integers(0, 60))
def test_a_fold_goes_on_from_where_one_ended(story: Story, at: int) -> None:
    first, second = story.records[:at], story.records[at:]
    assert fold(second, fold(first)) == fold(story.records)


def test_a_fold_leaves_the_capsule_that_it_goes_on_from_as_it_was() -> None:
    story = started()
    story.open("item")
    before = story.capsule()
    story.open("another")
    story.say(e.CheckpointRecorded(closed=("o1",)))
    after = fold(story.records[-2:], before)
    assert [item.label for item in before.live_items()] == ["o1"]
    assert [item.label for item in after.live_items()] == ["o2"]


def test_no_records_make_no_task() -> None:
    assert fold([]) == Capsule()
    assert not fold([]).exists


def test_a_created_task_has_its_number_from_the_label() -> None:
    capsule = Story("Title").capsule()
    assert (capsule.exists, capsule.number, capsule.title) == (True, 3, "Title")
    assert capsule.workspace == "w"


def test_moves_are_kept_and_the_last_one_is_the_state() -> None:
    story = Story()
    done = e.Completion(accept_untested="docs")
    story.move(e.TaskState.IN_PROGRESS, e.TaskState.COMPLETED, done)
    capsule = story.capsule()
    assert capsule.closed
    assert [move.target for move in capsule.moves] == ["in_progress", "completed"]
    assert capsule.moves[-1].completion == done


def test_a_session_ends_with_a_note_and_a_stranger_ends_nothing() -> None:
    story = started()
    story.end(6, "done")
    story.end(99, "not of this Task")
    sessions = story.capsule().sessions
    assert list(sessions) == [6]
    assert sessions[6].note == "done"
    assert sessions[6].ended is not None


def test_a_run_is_lost_until_it_ends() -> None:
    story = started()
    story.start("pytest")
    story.run("pytest", counts(1))
    story.add(
        e.RunEnded(
            run="r77",
            kind=e.RunKind.OTHER,
            exit=0,
            signal=None,
            duration_ms=1,
            stdout=e.StreamKept(length=0, sha256=""),
            stderr=e.StreamKept(length=0, sha256=""),
            tree=e.TreeState(id=None),
        )
    )
    runs = story.capsule().runs
    assert {label: run.verdict for label, run in runs.items()} == {
        "r1": Verdict.LOST,
        "r2": Verdict.PASSED,
    }
    assert runs["r2"].session == 6


def test_a_checkpoint_labels_facts_then_items() -> None:
    story = started()
    event = e.CheckpointRecorded(
        facts=(e.Fact(text="a", evidence=("d1",)), e.Fact(text="b")),
        opened=("c", "d"),
        next_action="go on",
    )
    story.say(event, "c4", "c5", "o8", "o9")
    capsule = story.capsule()
    assert {label: claim.text for label, claim in capsule.claims.items()} == {"c4": "a", "c5": "b"}
    assert {i.label: i.text for i in capsule.live_items()} == {"o8": "c", "o9": "d"}
    assert capsule.next_action is not None
    assert (capsule.next_action.text, capsule.next_action.agent) == ("go on", "claude-code")


def test_a_checkpoint_without_a_next_action_keeps_the_last_one() -> None:
    story = started()
    story.fact("a", next_action="go on")
    story.fact("b")
    following = story.capsule().next_action
    assert following is not None
    assert following.text == "go on"


def test_a_reaffirmation_joins_evidence_once_and_tells_who() -> None:
    story = started()
    story.run("pytest", counts(1))
    story.fact("a", "r1")
    story.session("codex")
    again = e.Reaffirmed(claim="c1", evidence=("r1", "d1"))
    story.say(e.CheckpointRecorded(reaffirmed=(again,)))
    claim = story.capsule().claims["c1"]
    assert [str(citation) for citation in claim.evidence] == ["r1", "d1"]
    assert [stated.session for stated in claim.reaffirmed] == [7]
    assert claim.stated.session == 6


def test_a_withdrawn_claim_and_a_closed_item_stay_and_say_when() -> None:
    story = started()
    story.fact("a")
    story.open("b")
    story.say(e.CheckpointRecorded(withdrawn=("c1",), closed=("o1",)))
    capsule = story.capsule()
    withdrawn, closed = capsule.claims["c1"].withdrawn, capsule.open_items["o1"].closed
    assert withdrawn == closed
    assert withdrawn is not None
    assert withdrawn.at == START + 1000 * len(story.records)
    assert capsule.live_items() == []


def test_an_accepted_decision_supersedes_a_rejected_one_does_not() -> None:
    story = started()
    story.propose("one", "first")
    story.decide("d1")
    story.propose("two", "better", supersedes="d1")
    story.decide("d2", e.DecisionState.REJECTED)
    story.propose("three", "best", supersedes="d1")
    assert story.capsule().decisions["d1"].state == "accepted"
    story.decide("d3")
    states = [decision.state.value for decision in story.capsule().decisions.values()]
    assert states == ["superseded", "rejected", "accepted"]


def test_an_unknown_or_erased_payload_renumbers_nothing() -> None:
    story = started()
    story.fact("a")
    story.fact("b")
    leaf = story.records[-2].leaf
    story.records[-2] = Record(leaf, Erased())
    story.records.append(Record(leaf, Unknown("claim.split", 1)))
    capsule = story.capsule()
    assert list(capsule.claims) == ["c2"]
    assert capsule.events == len(story.records)


def test_what_follows_an_erased_checkpoint_is_still_told() -> None:
    story = started()
    story.fact("a")
    story.open("b")
    story.records[-2:] = [Record(record.leaf, Erased()) for record in story.records[-2:]]
    again = e.Reaffirmed(claim="c1", evidence=("d1",))
    story.say(e.CheckpointRecorded(reaffirmed=(again,), closed=("o1",), next_action="go on"))
    story.say(e.CheckpointRecorded(withdrawn=("c1",)))
    capsule = story.capsule()
    assert (capsule.claims, capsule.open_items) == ({}, {})
    assert capsule.next_action is not None
