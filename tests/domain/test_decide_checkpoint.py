"""Citations and checkpoints: what a Session may state, and which Problem says why not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.capsules import VERDICTS, Story, every_verdict
from support.expected import problem

from memprove.ledger.domain import decide, limits
from memprove.ledger.domain.events import (
    CheckpointRecorded,
    Fact,
    Reaffirmed,
)
from memprove.ledger.domain.run import Verdict


def state(story: Story, **stated: object) -> CheckpointRecorded:
    draft = decide.checkpoint(story.capsule(), **stated)  # type: ignore[arg-type]
    assert isinstance(draft.event, CheckpointRecorded)
    event = draft.event
    assert draft.assigns == ("c",) * len(event.facts) + ("o",) * len(event.opened)
    return event


# Citations


@pytest.mark.parametrize(("label", "verdict"), VERDICTS.items())
def test_only_a_passed_run_is_cited_as_passed(label: str, verdict: Verdict) -> None:
    capsule = every_verdict().capsule()
    assert capsule.runs[label].verdict is verdict
    if verdict is Verdict.PASSED:
        assert state(every_verdict(), facts=[Fact(text="f", evidence=(label,))]).facts
        return
    with problem(f"run_{verdict}", label):
        state(every_verdict(), facts=[Fact(text="f", evidence=(label,))])


@pytest.mark.parametrize(("label", "verdict"), VERDICTS.items())
def test_only_a_failed_run_is_cited_as_failed(label: str, verdict: Verdict) -> None:
    fact = Fact(text="f", evidence=(f"!{label}",))
    if verdict is Verdict.FAILED:
        assert state(every_verdict(), facts=[fact]).facts == (fact,)
        return
    with problem(f"run_{verdict}", label):
        state(every_verdict(), facts=[fact])


def test_an_unfit_verdict_has_a_problem_each() -> None:
    assert set(decide.UNFIT) == set(Verdict) - {Verdict.PASSED}
    assert len(set(decide.UNFIT.values())) == len(decide.UNFIT)


@pytest.mark.parametrize(
    ("citation", "code"),
    [
        ("r99", "label_unknown"),
        ("!r99", "label_unknown"),
        ("c9", "label_unknown"),
        ("d9", "label_unknown"),
        ("o1", "label_invalid"),
        ("w1", "label_invalid"),
        ("s6", "label_invalid"),
        ("t3", "label_invalid"),
        ("nonsense", "label_invalid"),
        ("", "label_invalid"),
        ("!c1", "label_invalid"),
        ("r1:tests/a.py::t", "test_unknown"),
        ("r2:tests/a.py::t", "test_unknown"),
    ],
)
def test_a_false_citation_is_refused(citation: str, code: str) -> None:
    with problem(code):
        state(
            every_verdict(),
            facts=[Fact(text="right", evidence=("r1",)), Fact(text="f", evidence=(citation,))],
        )
    with problem(code):
        decide.propose(
            every_verdict().capsule(),
            title="t",
            choice="c",
            rationale="r",
            evidence=["r1", citation],
        )


def test_claims_and_decisions_are_cited_while_they_stand() -> None:
    story = every_verdict()
    claim, decision = story.fact("one", "r1"), story.propose("c", "r")
    assert state(story, facts=[Fact(text="two", evidence=(claim, decision))]).facts
    story.say(CheckpointRecorded(withdrawn=(claim,)))
    with problem("claim_withdrawn", claim):
        state(story, facts=[Fact(text="two", evidence=(claim,))])


# Checkpoints


def test_a_checkpoint_states_something() -> None:
    with problem("argument_missing"):
        state(every_verdict())
    with problem("argument_missing"):
        state(every_verdict(), facts=[], opened=(), next_action=" \n")


def test_a_checkpoint_takes_all_that_it_is_given() -> None:
    story = every_verdict()
    one, two = story.fact("one"), story.fact("two")
    item = story.open("left")
    event = state(
        story,
        facts=[Fact(text="three", evidence=("r1", "!r2"), paths=("a.py",))],
        opened=["right"],
        closed=[item],
        reaffirm=[one],
        withdraw=[two],
        next_action="go on",
    )
    assert event == CheckpointRecorded(
        facts=(Fact(text="three", evidence=("r1", "!r2"), paths=("a.py",)),),
        opened=("right",),
        closed=(item,),
        reaffirmed=(Reaffirmed(claim=one),),
        withdrawn=(two,),
        next_action="go on",
    )


def test_labels_may_be_given_as_numbers_and_twice() -> None:
    story = every_verdict()
    story.fact("one")
    story.fact("two")
    story.open("left")
    event = state(story, closed=["1", "o1"], reaffirm=["1", "c1"], withdraw=["2", " c2 "])
    assert (event.closed, event.withdrawn) == (("o1",), ("c2",))
    assert event.reaffirmed == (Reaffirmed(claim="c1"),)


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"closed": ["o9"]}, "label_unknown"),
        ({"closed": ["c1"]}, "label_invalid"),
        ({"closed": ["o1"]}, "open_item_closed"),
        ({"reaffirm": ["c9"]}, "label_unknown"),
        ({"reaffirm": ["r1"]}, "label_invalid"),
        ({"reaffirm": ["c1"]}, "claim_withdrawn"),
        ({"withdraw": ["c9"]}, "label_unknown"),
        ({"withdraw": ["c1"]}, "claim_withdrawn"),
        ({"reaffirm": ["c2"], "withdraw": ["2"]}, "argument_invalid"),
        ({"facts": [Fact(text=" ")]}, "argument_missing"),
        ({"facts": [Fact(text="f" * 2_001)]}, "text_too_long"),
        ({"facts": [Fact(text="\ud800")]}, "text_invalid"),
        ({"facts": [Fact(text="f", paths=("",))]}, "argument_missing"),
        ({"facts": [Fact(text="f", paths=("p" * 2_001,))]}, "text_too_long"),
        ({"facts": [Fact(text="f", paths=("p",) * 51)]}, "too_many"),
        ({"facts": [Fact(text="f", evidence=("r1",) * 51)]}, "too_many"),
        ({"opened": [""]}, "argument_missing"),
        ({"opened": ["i" * 2_001]}, "text_too_long"),
        ({"next_action": "n" * 2_001}, "text_too_long"),
        ({"next_action": "\udc80"}, "text_invalid"),
        ({"opened": ["i"] * 51}, "too_many"),
        ({"opened": ["i"] * 25, "facts": [Fact(text="f")] * 26}, "too_many"),
    ],
)
def test_a_checkpoint_that_breaks_a_rule_is_refused(stated: dict[str, object], code: str) -> None:
    story = every_verdict()
    story.fact("one")
    story.fact("two")
    story.say(CheckpointRecorded(withdrawn=("c1",)))
    story.open("left")
    story.say(CheckpointRecorded(closed=("o1",)))
    with problem(code):
        state(story, **stated)


def test_a_fact_equal_to_a_live_claim_reaffirms_it_and_its_evidence_joins() -> None:
    story = every_verdict()
    story.fact("caf\u00e9 works")
    event = state(story, facts=[Fact(text="  cafe\u0301\n works ", evidence=("r1",))])
    assert event == CheckpointRecorded(reaffirmed=(Reaffirmed(claim="c1", evidence=("r1",)),))


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.sampled_from(["NFC", "NFD"])
)
def test_a_fact_stated_again_in_another_form_is_no_new_claim(text: str, form: str) -> None:
    if not text.strip() or len(text) > 200:
        return
    story = Story()
    story.session()
    story.fact(text)
    again = " " + unicodedata.normalize(form, text) + "\t"  # type: ignore[arg-type]
    if len(again) <= limits.STATEMENT:
        assert state(story, facts=[Fact(text=again)]).facts == ()


def test_the_same_fact_twice_in_one_checkpoint_is_one_claim_with_all_evidence() -> None:
    facts = [Fact(text="a b", evidence=("r1",)), Fact(text="a  b", evidence=("!r2", "r1"))]
    assert state(every_verdict(), facts=facts).facts == (Fact(text="a b", evidence=("r1", "!r2")),)


def test_a_fact_reaffirmed_by_label_and_by_text_is_named_once() -> None:
    story = every_verdict()
    story.fact("one")
    facts = [Fact(text="one", evidence=("r1",)), Fact(text="one", evidence=("!r2",))]
    event = state(story, reaffirm=["c1"], facts=facts)
    assert event.reaffirmed == (Reaffirmed(claim="c1", evidence=("r1", "!r2")),)
    assert event.facts == ()


def test_a_fact_equal_to_a_withdrawn_claim_is_a_new_one() -> None:
    story = every_verdict()
    story.fact("one")
    assert state(story, withdraw=["c1"], facts=[Fact(text="one")]).facts == (Fact(text="one"),)
    story.say(CheckpointRecorded(withdrawn=("c1",)))
    assert state(story, facts=[Fact(text="one")]).facts == (Fact(text="one"),)


def test_an_open_item_equal_to_a_live_one_is_not_added_again() -> None:
    story = every_verdict()
    story.open("try Windows")
    assert state(story, opened=["try  Windows", "new", "new ", "other"]).opened == ("new", "other")
    assert state(story, closed=["o1"], opened=["try Windows"]).opened == ("try Windows",)
