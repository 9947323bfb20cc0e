"""Bundles with erased payloads, and those of a log that goes on under another origin."""

import json

import pytest
from support.bundles import bundle_of, edited, two_tasks
from support.expected import problem
from support.forgeries_of_origins import (
    AT_ONCE_DATA,
    ENDED_DATA,
    ERASED_DATA,
    ERASED_FORGED,
    NEW,
    OLD,
    ORIGIN_DATA,
    ORIGIN_FORGED,
    ORIGIN_LOG,
    WHOLE_DATA,
    WRONG_TRUST,
)
from support.logs import ORIGIN, TASKS

from memprove.ledger.domain import events as e
from memprove.ledger.log.bundling import check_earlier
from memprove.ledger.log.epochs import Pin, walk_from
from memprove.ledger.log.lines import lines_of_log, lines_of_stream
from memprove.ledger.log.trust import format_pin, parse_trust
from memprove.ledger.log.unbundling import Opened, erased_since, open_bundle

LOG = two_tasks()
BOTH = {pin.verifier.name: pin for pin in (OLD, NEW)}


def opened(data: bytes) -> Opened:
    return open_bundle(data, {ORIGIN: LOG.pin})


def test_an_erased_event_reads_in_a_bundle_as_what_survives() -> None:
    found = opened(ERASED_DATA)
    (record,) = found.erased
    assert isinstance(record.event, e.CheckpointRecorded)
    assert record.event.facts[0].text == "[erased: first]"
    assert found.capsule.claims["c1"].text == "[erased: first]"
    assert found.records[-1].leaf.kind == "payload.erased"


def test_a_claim_that_is_erased_twice_is_one_erasure() -> None:
    log = two_tasks()
    facts = tuple(e.Fact(text=text) for text in ("x", "y"))
    (seq,) = log.append([e.CheckpointRecorded(facts=facts)], task=TASKS[0])
    for fact, reason in (("facts.c4", "first"), ("facts.c5", "second")):
        log.erase(seq, fact, reason=reason)
    found = opened(bundle_of(log))
    (record,) = found.erased
    assert record.erasure is not None
    assert record.erasure.fields == ("facts.c4", "facts.c5")
    texts = [claim.text for claim in found.capsule.claims.values()][-2:]
    assert texts == ["[erased: first]", "[erased: second]"]


def test_an_erased_run_decides_by_what_survives() -> None:
    log = two_tasks()
    before = opened(bundle_of(log)).capsule.runs["r1"]
    for seq in [record.seq for record in opened(bundle_of(log)).records if record.seq > 9][-2:]:
        log.erase(seq)
    found = opened(bundle_of(log))
    after = found.capsule.runs["r1"]
    assert (after.verdict, after.kind, after.tree) == (before.verdict, before.kind, before.tree)
    assert after.started.argv == ("[erased: leak]",)
    assert found.left_out == ()  # the output is gone, and nothing names it


@pytest.mark.parametrize("how", ERASED_FORGED)
def test_a_lie_about_an_erasure_is_refused(how: str) -> None:
    with problem("bundle_invalid"):
        opened(edited(ERASED_DATA, ERASED_FORGED[how]))


def test_what_a_later_bundle_erased_is_named_of_an_earlier_one() -> None:
    before, after = opened(WHOLE_DATA), opened(ERASED_DATA)
    assert before.erased == ()
    assert erased_since(before, after) == after.erased
    assert erased_since(after, after) == ()
    other = opened(bundle_of(LOG, TASKS[1]))
    for one, later in ((before, other), (after, before)):
        with problem("bundle_invalid", "does not go on from the events"):
            erased_since(one, later)


def test_lines_say_what_is_left_of_an_erased_event() -> None:
    log = two_tasks()
    log.erase(5, reason="first")
    with log.store.read() as reader:
        whole = [json.loads(line) for line in lines_of_log(reader)]
        of_task = [json.loads(line) for line in lines_of_stream(reader, "task/one")]
    assert [line for line in whole if line["stream"] == "task/one"] == of_task
    (line,) = [line for line in whole if "erased" in line]
    assert (line["seq"], line["payload"], line["salt"]) == (5, None, None)
    assert line["erased"] == {
        "by": whole[-1]["seq"],
        "fields": ["facts.c1"],
        "left": {"facts": [{"text": "[erased: first]"}]},
        "reason": "first",
    }


# Origins


def test_a_bundle_of_two_origins_holds_under_the_newest_key() -> None:
    for pins in (BOTH, {NEW.verifier.name: NEW}):
        assert open_bundle(AT_ONCE_DATA, pins).epoch == 4
        found = open_bundle(ORIGIN_DATA, pins)
        assert (found.epoch, found.head.origin) == (6, NEW.verifier.name)
        assert len(found.records) == 9


@pytest.mark.parametrize("how", ORIGIN_FORGED)
def test_a_lie_about_an_origin_is_refused(how: str) -> None:
    edit, what = ORIGIN_FORGED[how]
    with problem("bundle_invalid", what):
        open_bundle(edited(ORIGIN_DATA, edit), BOTH)


@pytest.mark.parametrize("trust", WRONG_TRUST)
def test_a_trust_file_that_has_it_otherwise_refuses_the_bundle(trust: str) -> None:
    with problem("bundle_invalid"):
        open_bundle(ORIGIN_DATA, parse_trust(trust))


def test_who_did_not_pin_the_new_origin_is_told_what_it_follows() -> None:
    with problem("bundle_invalid", f"it goes on after {ORIGIN}"):
        open_bundle(ORIGIN_DATA, {ORIGIN: Pin(OLD.verifier)})


def test_a_bundle_of_an_origin_that_ended_holds_only_at_its_end() -> None:
    assert open_bundle(ENDED_DATA, BOTH).epoch == 3
    older = bundle_of(two_tasks(rotating=False))
    pins = {ORIGIN: Pin(LOG.pin.verifier, 1, (99, b"\1" * 32))}
    with problem("bundle_invalid", "are the first of them: export it anew"):
        open_bundle(older, pins)


def test_a_head_of_an_earlier_origin_is_named_as_such_when_it_is_required() -> None:
    head = open_bundle(ENDED_DATA, BOTH).head
    note = two_tasks(rotating=True).head().note
    assert note.decode().startswith(f"{ORIGIN}\n{head.size}\n")
    with problem("bundle_invalid", "save a head of that one"):
        open_bundle(ORIGIN_DATA, BOTH, required=note)
    with ORIGIN_LOG.store.read() as reader, problem("head_invalid", "save a head of what goes on"):
        check_earlier(reader, note, walk_from(reader, NEW))


def test_the_trust_file_has_a_line_for_each_origin() -> None:
    assert parse_trust("".join(map(format_pin, BOTH.values()))) == BOTH
