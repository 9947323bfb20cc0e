"""A bundle proves one Task under a pinned key; each way to lie with one is found."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.bundles import bundle_of, closed, document, edited, two_tasks
from support.expected import problem
from support.forgeries import (
    DATA_ONE,
    FORGED,
    FORGED_EPOCHS,
    LOG,
    MORE,
    ROTATED_DATA,
    SIGNERS,
    rotated,
)
from support.logs import BLOB, DATA, ORIGIN, TASKS, Log, a_task, histories, registered, written

from memprove.ledger.domain.record import Actor
from memprove.ledger.log.append import Appender
from memprove.ledger.log.bundling import check_earlier, make_bundle
from memprove.ledger.log.epochs import Pin, walk_from
from memprove.ledger.log.reading import read_stream
from memprove.ledger.log.unbundling import Opened, open_bundle
from memprove.ledger.problems import Problem
from memprove.ledger.tlog.head import Head, sign_head
from memprove.ledger.tlog.note import Signer

PINS = {ORIGIN: LOG.pin}


def opened(data: bytes, **options: Any) -> Opened:
    return open_bundle(data, PINS, **options)


def test_a_bundle_proves_the_events_of_its_task_and_no_others() -> None:
    found = opened(DATA_ONE)
    with LOG.store.read() as reader:
        assert list(found.records) == read_stream(reader, f"task/{TASKS[0]}")
        assert (found.head.size, found.at) == (reader.size(), LOG.at)
    assert [claim.text for claim in found.capsule.claims.values()] == ["one 0", "one 1", "one 2"]
    assert (found.capsule.id, found.capsule.number, found.epoch) == (TASKS[0], 1, 1)
    assert b"two 0" not in json.dumps(document(DATA_ONE)).encode()


def test_outputs_are_named_and_left_out_unless_asked_for() -> None:
    assert opened(DATA_ONE).left_out == (BLOB,)
    whole = opened(bundle_of(LOG, outputs=True))
    assert (whole.left_out, whole.blob(BLOB)) == ((), DATA)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(histories)
def test_whatever_a_log_holds_its_bundles_hold(history: Any) -> None:
    log = written(history)
    with log.store.read() as reader:
        streams = {event.stream for event in reader.events() if event.kind == "task.created"}
    for stream in streams:
        task = stream.removeprefix("task/")
        with log.store.read() as reader:
            records = read_stream(reader, stream)
        if records[0].leaf.kind == "task.created":
            assert list(opened(bundle_of(log, task)).records) == records


def test_the_same_log_gives_the_same_bundle() -> None:
    assert bundle_of(two_tasks()) == DATA_ONE


# What is found


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_bundle_is_refused(how: str) -> None:
    edit, what = FORGED[how]
    with problem("bundle_invalid", what):
        opened(edited(DATA_ONE, edit))


def test_a_bundle_of_a_stream_that_is_no_task_is_refused() -> None:
    with LOG.store.read() as reader:
        stream = next(one.stream for one in reader.events() if one.stream.startswith("workspace/"))
    with LOG.store.read() as reader:
        data, _ = make_bundle(reader, stream)
    with problem("bundle_invalid", "creation of its Task"):
        opened(data)


def test_another_ledgers_bundle_and_another_key_are_refused() -> None:
    with problem("bundle_invalid", f"no key is trusted for {ORIGIN}"):
        open_bundle(DATA_ONE, {})
    other = Log(seed=2).pin
    with problem("bundle_invalid", "no known key signed it"):
        open_bundle(DATA_ONE, {ORIGIN: other})


def test_a_log_made_anew_by_somebody_without_the_key_is_refused() -> None:
    log = Log(seed=2).begin()
    log.append([a_task()])
    with problem("bundle_invalid", "no known key signed it"):
        opened(bundle_of(log))


def test_what_the_key_signed_but_makes_no_task_is_no_crash() -> None:
    log = Log().begin()
    with log.store.write() as writer:
        appender = Appender(
            writer,
            actor=Actor(installation="i", token="t", role="agent", face="cli"),
            at=1,
            random=random.Random(1).randbytes,
            project=lambda rows, record: None,
        )
        appender.append(a_task(), stream="task/one")  # and no label
        appender.seal(log.signer)
    with problem("bundle_invalid", "make no Task"):
        opened(bundle_of(log, outputs=True))


def leaves_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [p for key, item in value.items() for p in leaves_of(item, (*path, key))]
    if isinstance(value, list):
        return [p for key, item in enumerate(value) for p in leaves_of(item, (*path, key))]
    return [path]


DOCUMENT = document(bundle_of(two_tasks(rotating=True), outputs=True))
PLACES = leaves_of(DOCUMENT)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(PLACES), st.integers(0, 10_000), st.characters(exclude_categories=["Cs"]))
def test_a_character_that_is_changed_anywhere_is_found(
    path: tuple[Any, ...], place: int, character: str
) -> None:
    said = document(closed(DOCUMENT))
    holder = said
    for step in path[:-1]:
        holder = holder[step]
    before = holder[path[-1]]
    text = str(before)
    place %= max(len(text), 1)
    after = text[:place] + character + text[place + 1 :]
    holder[path[-1]] = after
    found = opened_if_any(closed(said))
    harmless = after == before or path[0] == "blobs" or path[-1] == "head"
    assert found is None or (harmless and found == opened(closed(DOCUMENT)).records)


def test_a_bit_that_is_flipped_in_the_file_is_found_or_changes_nothing() -> None:
    chance = random.Random(5)
    whole = opened(DATA_ONE)
    for place in range(0, len(DATA_ONE), 3):
        flipped = bytearray(DATA_ONE)
        flipped[place] ^= 1 << chance.randrange(8)
        assert opened_if_any(bytes(flipped)) in (None, whole.records)


def opened_if_any(data: bytes) -> Any:
    try:
        return opened(data).records
    except Problem as refused:
        if refused.code != "bundle_invalid":
            raise
        return None


# Key epochs


def test_a_bundle_walks_from_the_first_key_to_todays() -> None:
    found = opened(ROTATED_DATA)
    assert (found.epoch, found.head.size, len(found.records)) == (3, 10, 6)


def test_a_log_that_ends_in_a_rotation_is_under_the_key_before_it() -> None:
    log, _ = rotated()
    log.rotate()
    assert opened(bundle_of(log)).epoch == 3


@pytest.mark.parametrize(("first", "epoch"), [(1, 3), (7, 3), (10, 3)])
def test_a_later_key_may_be_pinned(first: int, epoch: int) -> None:
    signer = {1: SIGNERS[0], 7: SIGNERS[1], 10: SIGNERS[2]}[first]
    found = open_bundle(ROTATED_DATA, {ORIGIN: Pin(signer.verifier, first)})
    assert found.epoch == epoch
    with problem("bundle_invalid"):
        open_bundle(ROTATED_DATA, {ORIGIN: Pin(Signer(ORIGIN, b"\7" * 32).verifier, first)})


def test_a_pin_of_what_comes_later_does_not_speak_for_the_bundle() -> None:
    with problem("bundle_invalid", "no pinned key speaks"):
        open_bundle(ROTATED_DATA, {ORIGIN: Pin(SIGNERS[2].verifier, 11)})


def test_an_origin_that_came_to_its_end_has_no_more_events() -> None:
    head = opened(ROTATED_DATA).head
    whole = Pin(SIGNERS[0].verifier, 1, (head.size, head.root))
    assert open_bundle(ROTATED_DATA, {ORIGIN: whole}).head == head
    for until in ((9, head.root), (10, b"\1" * 32)):
        with problem("bundle_invalid", "came to its end at"):
            open_bundle(ROTATED_DATA, {ORIGIN: Pin(SIGNERS[0].verifier, 1, until)})
    with problem("bundle_invalid", "its 10 are the first of them: export it anew"):
        open_bundle(ROTATED_DATA, {ORIGIN: Pin(SIGNERS[0].verifier, 1, (11, head.root))})


@pytest.mark.parametrize("how", FORGED_EPOCHS)
def test_a_forged_epoch_is_refused(how: str) -> None:
    edit, what = FORGED_EPOCHS[how]
    with problem("bundle_invalid", what):
        opened(edited(ROTATED_DATA, edit))


def rewritten(signer: Signer) -> Log:
    """Return another log of ten events with the same first one, all under *signer*."""
    log = Log()
    log.signer = signer
    log.pin = Pin(signer.verifier)
    log.begin()
    log.append([registered(), a_task()])
    log.append([MORE] * 7)
    return log


def test_a_thief_of_todays_key_cannot_rewrite_yesterday() -> None:
    honest = document(ROTATED_DATA)
    lie = document(bundle_of(rewritten(SIGNERS[2])))
    stitched = {**lie, "epochs": honest["epochs"]}
    with problem("bundle_invalid", "does not continue the head of size 9"):
        opened(closed(stitched))


# Heads that are required


def test_a_bundle_continues_an_earlier_head_if_it_was_made_to_show_that() -> None:
    log = two_tasks()
    earlier = log.head().note
    log.append([MORE], task=TASKS[0])
    with log.store.read() as reader:
        size = check_earlier(reader, earlier, walk_from(reader, log.pin))
    shown = bundle_of(log, since=[size])
    assert opened(shown, required=earlier).required == size
    with problem("bundle_invalid", "export it with --since"):
        opened(bundle_of(log), required=earlier)
    newest = log.head().note
    assert opened(shown, required=newest).required == opened(shown).head.size


def test_a_bundle_that_is_older_than_the_required_head_is_refused() -> None:
    log = two_tasks()
    old = bundle_of(log)
    log.append([MORE], task=TASKS[0])
    with problem("bundle_invalid", "are required"):
        opened(old, required=log.head().note)


def test_a_fork_is_seen_by_whoever_holds_the_other_head() -> None:
    size = opened(DATA_ONE).head.size
    forked = sign_head(Head(ORIGIN, size, b"\1" * 32), LOG.signer)
    with problem("bundle_invalid", "forked"):
        opened(DATA_ONE, required=forked)
    older = sign_head(Head(ORIGIN, 3, b"\1" * 32), LOG.signer)
    with problem("bundle_invalid", "does not continue"):
        opened(bundle_of(LOG, since=[3]), required=older)
    with LOG.store.read() as reader, problem("ledger_forked", "another history"):
        check_earlier(reader, older, walk_from(reader, LOG.pin))


def test_a_required_head_must_be_signed_by_the_ledgers_key() -> None:
    other = Signer(ORIGIN, b"\7" * 32)
    forged = sign_head(Head(ORIGIN, 3, b"\1" * 32), other)
    for note in (forged, b"", b"\xff", b"x\n\ny"):
        with problem("bundle_invalid", "required head"):
            opened(DATA_ONE, required=note)
        with LOG.store.read() as reader, problem("head_invalid"):
            check_earlier(reader, note, walk_from(reader, LOG.pin))
