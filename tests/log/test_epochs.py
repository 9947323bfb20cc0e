"""Key epochs: which key may sign which head, and what a walk believes."""

import random
from collections.abc import Callable

import pytest
from msgspec import structs
from support.expected import problem
from support.logs import ORIGIN, Log, a_run, a_task, registered

from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import encode
from memprove.ledger.log.epochs import (
    Epoch,
    EpochInvalid,
    Epochs,
    Pin,
    WrongEpoch,
    first_epoch,
    walk,
    walk_from,
)
from memprove.ledger.log.reading import check_head
from memprove.ledger.storage.interface import StoredHead
from memprove.ledger.tlog.head import Head, open_head, sign_head
from memprove.ledger.tlog.note import Signer, format_vkey

ENDS = (4, 8, 11)
"""The numbers of the rotations in ``rotated``."""


def rotated() -> tuple[Log, list[Signer]]:
    """Return a log of four epochs, and their keys."""
    log = Log().begin()
    signers = [log.signer]
    log.append([registered(), a_task()])
    log.rotate()
    signers.append(log.signer)
    for _ in range(3):
        log.append([a_run()])
    log.rotate()
    signers.append(log.signer)
    log.append([a_run(), a_run()])
    log.rotate()
    signers.append(log.signer)
    log.append([a_run()])
    return log, signers


def epochs_of(log: Log) -> Epochs:
    with log.store.read() as reader:
        return walk_from(reader, log.pin)


def open_log(log: Log) -> Head:
    with log.store.read() as reader:
        return check_head(reader, log.pin).head


def key(number: int) -> Signer:
    return Signer(ORIGIN, random.Random(number).randbytes(32))


def roots(log: Log, size: int) -> bytes:
    """Return the root over the first *size* events of *log*."""
    short = Log()
    short.put_events(log.disk.state.events[:size])
    return bytes.fromhex(short.verify().root)


# Which key speaks for what


def test_a_walk_from_the_pin_finds_every_epoch() -> None:
    log, signers = rotated()
    epochs = epochs_of(log)
    assert [(epoch.number, epoch.first) for epoch in epochs] == [(1, 1), (2, 5), (3, 9), (4, 12)]
    assert [epoch.verifier for epoch in epochs] == [signer.verifier for signer in signers]
    assert epochs.newest.number == len(epochs) == 4


def test_a_head_belongs_to_the_epoch_that_has_its_last_event() -> None:
    log, signers = rotated()
    epochs = epochs_of(log)
    held = [epochs.holding(size) for size in range(13)]
    assert [epoch and epoch.number for epoch in held] == [None, *[1] * 4, *[2] * 4, *[3] * 3, 4]
    assert epochs.of_size(ENDS[0]) == signers[0].verifier
    assert epochs.of_size(ENDS[0] + 1) == signers[1].verifier
    with pytest.raises(EpochInvalid, match="no pinned key"):
        epochs.of_size(0)


def test_a_log_of_several_epochs_opens_and_verifies() -> None:
    log, _ = rotated()
    assert open_log(log).size == 12
    report = log.verify()
    assert report.ok, report.findings
    assert (report.signed, report.epoch_protected) == (12, 11)


def test_without_a_rotation_there_is_one_epoch_and_nothing_is_under_an_erased_key() -> None:
    log = Log().begin()
    assert [epoch.number for epoch in epochs_of(log)] == [1]
    assert log.verify().epoch_protected == 0


@pytest.mark.parametrize("start", range(4))
def test_a_walk_goes_on_from_where_another_one_was(start: int) -> None:
    log, _ = rotated()
    whole = list(epochs_of(log))
    with log.store.read() as reader:
        assert list(walk(reader, whole[start])) == whole[start:]


@pytest.mark.parametrize("upto", range(13))
def test_a_walk_ends_where_it_is_told(upto: int) -> None:
    log, _ = rotated()
    whole = list(epochs_of(log))
    with log.store.read() as reader:
        part = list(walk(reader, whole[0], upto=upto))
    assert part == whole[: 1 + sum(end <= upto for end in ENDS)]


def test_heads_of_rotations_are_kept() -> None:
    log, _ = rotated()
    assert [size for size, head in sorted(log.disk.state.heads.items()) if head.keep] == list(ENDS)


# A later epoch pinned


@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_key_of_a_later_epoch_can_be_pinned(number: int) -> None:
    log, signers = rotated()
    log.pin = Pin(signers[number - 1].verifier, ENDS[number - 2] + 1)
    assert [epoch.number for epoch in epochs_of(log)] == list(range(number, 5))
    assert open_log(log).size == 12
    failed = {check.check for check in log.verify().checks if not check.ok}
    assert failed == {"heads"}, "heads before the pin hold under no pinned key"


def test_a_pin_from_where_no_rotation_names_it_is_found() -> None:
    log, signers = rotated()
    log.pin = Pin(signers[1].verifier, 6)
    assert not log.verify().ok
    with log.store.read() as reader:
        assert first_epoch(reader, log.pin) == Epoch(1, signers[1].verifier, 6)


def test_a_log_ends_where_its_pin_says() -> None:
    log, _ = rotated()
    log.pin = structs.replace(log.pin, until=(12, bytes.fromhex(log.verify().root)))
    assert log.verify().ok
    assert open_log(log).size == 12
    log.append([a_run()])
    assert not log.verify().ok
    with problem("ledger_forked", "end at 12 events, it has 13"):
        open_log(log)


@pytest.mark.parametrize(("size", "code"), [(12, "ledger_forked"), (13, "ledger_truncated")])
def test_a_log_that_ends_otherwise_than_its_pin_says_is_refused(size: int, code: str) -> None:
    log, _ = rotated()
    log.pin = structs.replace(log.pin, until=(size, b"r" * 32))
    with problem(code):
        open_log(log)
    assert not log.verify().ok


# Wrong keys


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_newest_head_under_an_older_key_is_of_the_wrong_epoch(number: int) -> None:
    log, signers = rotated()
    head = open_head(log.head().note, signers[3].verifier)
    log.edit_head(12, sign_head(head, signers[number - 1]))
    with problem("wrong_epoch", f"epoch {number}"):
        open_log(log)
    (found,) = log.verify().findings
    assert (found.check, found.code) == ("head", "wrong_epoch")


@pytest.mark.parametrize("end", ENDS)
def test_a_rotation_under_a_later_key_does_not_hold(end: int) -> None:
    log, signers = rotated()
    kept = log.disk.state.heads[end]
    epochs = epochs_of(log)
    head = epochs.open(kept.note, end)
    log.edit_head(end, sign_head(head, signers[3]))
    with problem("ledger_damaged", f"event {end}"):
        open_log(log)
    assert not log.verify().ok
    with pytest.raises(WrongEpoch, match="epoch 4"):
        epochs.open(log.disk.state.heads[end].note, end)


def test_a_head_under_a_key_that_nobody_knows_does_not_hold() -> None:
    log, signers = rotated()
    head = open_head(log.head().note, signers[3].verifier)
    log.edit_head(12, sign_head(head, key(99)))
    with problem("ledger_damaged", "does not hold"):
        open_log(log)


# Rotations that do not hold


def take_head(log: Log) -> None:
    del log.disk.state.heads[8]


def another_size(log: Log) -> None:
    log.disk.state.heads[8] = StoredHead(8, log.disk.state.heads[4].note, True)


def another_payload(log: Log) -> None:
    named = e.KeyRotated(epoch=3, key=format_vkey(key(99).verifier))
    log.edit_event(8, lambda event: structs.replace(event, payload=encode(named)))


def another_kind(log: Log) -> None:
    log.edit_event(8, lambda event: structs.replace(event, kind="token.revoked"))


def no_payload(log: Log) -> None:
    log.edit_event(8, lambda event: structs.replace(event, payload=None, salt=None))


def another_leaf(log: Log) -> None:
    log.edit_event(8, lambda event: structs.replace(event, leaf=log.disk.state.events[3].leaf))


def another_node(log: Log) -> None:
    log.disk.state.nodes[2, 0] = b"n" * 32


@pytest.mark.parametrize(
    "edit",
    [
        take_head,
        another_size,
        another_payload,
        another_kind,
        no_payload,
        another_leaf,
        another_node,
    ],
    ids=lambda edit: edit.__name__,
)
def test_a_rotation_that_was_edited_does_not_pass(edit: Callable[[Log], None]) -> None:
    log, _ = rotated()
    edit(log)
    with problem("ledger_damaged"):
        open_log(log)
    assert not log.verify().ok


@pytest.mark.parametrize("number", [1, 2, 4, 5])
def test_an_epoch_that_does_not_follow_does_not_pass(number: int) -> None:
    log = Log().begin()
    log.rotate()
    log.rotate(epoch=number)
    log.append([a_run()])
    with problem("ledger_damaged", "after 2"):
        open_log(log)
    (first, *_) = log.verify().findings
    assert (first.check, first.seq) == ("epochs", 3)


def test_a_rotation_to_a_key_of_another_log_does_not_pass() -> None:
    log = Log().begin()
    other = Signer("memprove.local/other", b"s" * 32)
    log.append([e.KeyRotated(epoch=2, key=format_vkey(other.verifier))])
    with problem("ledger_damaged", "a key of another log"):
        open_log(log)
    assert not log.verify().ok


@pytest.mark.parametrize("vkey", ["", "nonsense", f"{ORIGIN}+00000000+AQ=="])
def test_a_rotation_to_what_is_no_key_does_not_pass(vkey: str) -> None:
    log = Log().begin()
    log.append([e.KeyRotated(epoch=2, key=vkey)])
    with problem("ledger_damaged", "event 2"):
        open_log(log)
    assert not log.verify().ok


def test_a_rotation_head_of_another_tree_does_not_pass() -> None:
    log, signers = rotated()
    log.edit_head(8, sign_head(Head(ORIGIN, 8, b"r" * 32), signers[1]))
    with problem("ledger_damaged", "event 8"):
        open_log(log)
    found = log.verify().findings
    assert ("epochs", 8) in [(finding.check, finding.seq) for finding in found]


def test_the_kept_heads_of_all_epochs_sign_one_history() -> None:
    log, signers = rotated()
    for end, signer in zip(ENDS, signers, strict=False):
        head = open_head(log.disk.state.heads[end].note, signer.verifier)
        assert (head.size, head.root) == (end, roots(log, end))
