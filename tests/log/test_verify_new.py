"""verify from a verified head on: the same verdict as from the first event on, or none."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log.test_erasures import erase
from msgspec.structs import replace
from support.logs import BLOB, DATA, Log, a_run, a_task, busy_log, histories, registered, run_ended

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.log.epochs import Epoch, Pin
from memprove.ledger.log.reading import check_head
from memprove.ledger.log.report import CHECKS, Report
from memprove.ledger.log.trust import format_pin
from memprove.ledger.log.verified import MOST_NEW, OLDEST_MS, Verified
from memprove.ledger.log.verify_new import verify_new
from memprove.ledger.storage.interface import StoredHead
from memprove.ledger.storage.memory import MemoryDisk
from memprove.ledger.tlog.head import Head, sign_head


def verified(log: Log) -> Verified:
    """Return what is kept once *log* was verified."""
    assert log.verify().ok
    with log.store.read() as reader:
        opened = check_head(reader, log.pin)
    epoch = opened.epochs.holding(opened.head.size)
    assert epoch is not None
    return Verified(format_pin(log.pin), epoch, opened.head, opened.note, opened.head.size, 0)


def verify_on(log: Log, known: Verified, required: bytes | None = None) -> Report | None:
    """Verify what is new in *log*."""
    with log.store.read() as reader:
        return verify_new(
            reader,
            log.pin,
            known,
            project=projections.apply,
            erase=projections.erase,
            required=required,
        )


def grown() -> tuple[Log, Verified]:
    """Return a log with something of everything behind a verified head."""
    log = busy_log()
    known = verified(log)
    log.append([a_task("three"), e.TokenRevoked(token="token")])
    log.rotate()
    log.append([a_run(), run_ended()], blobs=[(BLOB, DATA)])
    log.append([e.TaskMoved(source=e.TaskState.PENDING, target=e.TaskState.BLOCKED)], keep=True)
    log.append([e.SessionStarted(id="later", agent="another")], task="three")
    return log, known


START = grown()[1].head.size
SIZE = grown()[0].verify().size
NODES = sorted(grown()[0].disk.state.nodes)
new_events = pytest.mark.parametrize("seq", range(START + 1, SIZE + 1))


def flip(data: bytes | None) -> bytes:
    assert data
    return bytes((data[0] ^ 1, *data[1:]))


# Green


def test_what_is_new_verifies_and_the_rest_is_said_to_be_skipped() -> None:
    log, known = grown()
    report = verify_on(log, known)
    assert report is not None
    full = log.verify()
    assert report == replace(full, skipped=START, erased=0)
    assert tuple(check.check for check in report.checks) == CHECKS[:-2]


def test_nothing_new_verifies() -> None:
    log = busy_log()
    report = verify_on(log, verified(log))
    assert report is not None
    assert (report.skipped, report.signed) == (report.size, report.size)


@settings(deadline=None)
@given(histories, histories, st.sets(st.integers(0, 8)), st.integers(0, 2**32))
def test_a_log_that_goes_on_anyhow_verifies_as_in_full(
    before: list[tuple[list[e.Event], str, bool]],
    after: list[tuple[list[e.Event], str, bool]],
    rotations: set[int],
    seed: int,
) -> None:
    log = Log().begin()
    for events, task, keep in before:
        log.append(events, task=task, keep=keep)
    if 0 in rotations:
        log.rotate()
    known = verified(log)
    for number, (events, task, keep) in enumerate(after, 1):
        log.append(events, task=task, keep=keep)
        if number in rotations:
            log.rotate()
    full = log.verify()
    report = verify_on(log, known)
    assert report == replace(full, skipped=known.head.size, erased=0)
    if log.disk.state.events[known.head.size :]:
        damage(log, known.head.size, random.Random(seed))
        assert not log.verify().ok
        assert verify_on(log, known) is None


def damage(log: Log, start: int, choose: random.Random) -> None:
    """Change something of an event after *start*."""
    seq = choose.randint(start + 1, len(log.disk.state.events))
    changed: list[dict[str, object]] = [
        {"leaf": flip(log.disk.state.events[seq - 1].leaf)},
        {"salt": b"0" * 16},
        {"payload": None},
        {"payload": None, "salt": None},
        {"stream_seq": 77},
        {"kind": "else"},
    ]
    log.edit_event(seq, lambda event: replace(event, **choose.choice(changed)))


def test_a_rotation_may_be_the_last_that_was_verified() -> None:
    log = busy_log()
    log.rotate()
    known = verified(log)
    log.append([a_task("after")])
    report = verify_on(log, known)
    assert report is not None
    assert report.epoch_protected == known.head.size


@pytest.mark.parametrize("fields", [("title",), ()])
def test_a_tombstone_of_something_that_was_verified_is_looked_at(fields: tuple[str, ...]) -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    log.append([e.SessionStarted(id="i", agent="SECRET"), e.SessionEnded(session=1, note="x")])
    known = verified(log)
    gone = log.disk.state.events[2]
    erase(log, 3, "title")
    erase(log, 4, "agent")
    report = verify_on(log, known)
    assert report is not None, log.verify().findings
    rows = dict(log.disk.state.rows["session"])
    log.disk.state.rows["session"] = {key: value + b" " for key, value in rows.items()}
    assert verify_on(log, known) is None
    log.disk.state.rows["session"] = rows
    log.edit_event(3, lambda _: gone)
    assert verify_on(log, known) is None
    assert not log.verify().ok


# Found


@new_events
@pytest.mark.parametrize(
    "change",
    [
        {"leaf": b"{}"},
        {"payload": b"{}"},
        {"salt": b""},
        {"payload": None, "salt": None},
        {"stream": "task/else"},
        {"stream_seq": 99},
        {"kind": "task.deleted"},
        {"seq": 99},
    ],
    ids=lambda change: ",".join(change),
)
def test_a_new_event_that_was_changed_is_found(seq: int, change: dict[str, object]) -> None:
    log, known = grown()
    log.edit_event(seq, lambda event: replace(event, **change))
    assert verify_on(log, known) is None


@pytest.mark.parametrize("node", [(lv, n) for lv, n in NODES if (n + 1) << lv > START])
def test_a_new_node_that_was_changed_is_found(node: tuple[int, int]) -> None:
    log, known = grown()
    log.disk.state.nodes[node] = flip(log.disk.state.nodes[node])
    assert verify_on(log, known) is None
    del log.disk.state.nodes[node]
    assert verify_on(log, known) is None


def test_new_heads_that_were_changed_are_found() -> None:
    log, known = grown()
    for size, head in list(log.disk.state.heads.items()):
        if size > START:
            log.edit_head(size, flip(head.note))
            assert verify_on(log, known) is None
            log.edit_head(size, head.note)
    assert verify_on(log, known) is not None


def test_a_row_that_new_events_touched_is_found_and_others_only_in_full() -> None:
    log, known = grown()
    before = busy_log().disk.state.rows
    found: list[tuple[str, str]] = []
    missed: list[tuple[str, str]] = []
    for table, rows in log.disk.state.rows.items():
        for key, value in list(rows.items()):
            rows[key] = value + b" "
            (missed if verify_on(log, known) else found).append((table, key))
            assert not log.verify().ok
            rows[key] = value
    changed = {
        (table, key)
        for table, rows in log.disk.state.rows.items()
        for key, value in rows.items()
        if before.get(table, {}).get(key) != value
    }
    assert changed <= set(found)
    assert ("workspace", next(iter(before["workspace"]))) in missed


def test_a_blob_that_a_new_event_names_is_found() -> None:
    log, known = grown()
    log.disk.state.blobs[BLOB] = flip(DATA)
    assert verify_on(log, known) is None


def test_a_log_that_is_not_the_one_that_was_verified_is_read_whole() -> None:
    log, known = grown()
    shorter = Log().begin()
    shorter.append([registered()])
    assert verify_on(shorter, known) is None
    other = Log(seed=2).begin()
    other.append([registered(), *[a_run()] * 30])
    assert verify_on(other, known) is None
    forked = busy_log()
    forked.append([a_task("fork")])
    kept = verified(forked)
    assert verify_on(log, kept) is None


def test_a_stream_that_begins_anew_while_its_beginning_is_hidden_is_found_in_full() -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    known = verified(log)
    log.edit_event(3, lambda event: replace(event, stream="task/hidden"))
    log.put_events(log.disk.state.events)
    log.append([a_task()])
    assert verify_on(log, known) is not None
    assert not log.verify().ok


def test_a_required_head_before_the_verified_one_is_held_against_the_log() -> None:
    log = Log().begin()
    log.append([registered(), a_task()], keep=True)
    note = log.head().note
    log.append([a_task("two")])
    known = verified(log)
    log.append([a_task("three")])
    report = verify_on(log, known, note)
    assert report is not None
    assert report.checks[-1].check == "required"
    forged = sign_head(Head(log.signer.verifier.name, 3, b"r" * 32), log.signer)
    assert verify_on(log, known, forged) is None


# What is not read again


def mutations() -> list[tuple[str, Callable[[Log], None]]]:
    """Return a mutation of each thing that is behind the head."""

    def event(**change: object) -> Callable[[Log], None]:
        return lambda log: log.edit_event(5, lambda stored: replace(stored, **change))

    def head(log: Log) -> None:
        size = min(log.disk.state.heads)
        log.disk.state.heads[size] = StoredHead(size, b"x", keep=True)

    def node(log: Log) -> None:
        log.disk.state.nodes[0, 1] = b"n" * 32

    def row(log: Log) -> None:
        log.disk.state.rows["workspace"].popitem()

    return [
        ("leaf", event(leaf=b"{}")),
        ("payload", event(payload=b"{}")),
        ("erased", event(payload=None, salt=None)),
        ("column", event(kind="else")),
        ("head", head),
        ("node", node),
        ("row", row),
    ]


@pytest.mark.parametrize(("name", "mutate"), mutations(), ids=lambda value: str(value)[:8])
def test_what_is_changed_behind_the_head_is_found_in_full(
    name: str, mutate: Callable[[Log], None]
) -> None:
    log = busy_log()
    known = verified(log)
    log.append([a_task("another")])
    mutate(log)
    report = verify_on(log, known)
    assert report is not None, name
    assert report.skipped == START
    assert not log.verify().ok


@pytest.mark.parametrize("seq", range(1, START + 1))
def test_an_event_changed_behind_the_head_is_found_in_full_at_least(seq: int) -> None:
    log, known = grown()
    log.edit_event(seq, lambda event: replace(event, payload=flip(event.payload)))
    report = verify_on(log, known)
    assert report is None or report.skipped == START
    assert log.verify().findings[0].seq == seq


# When


@pytest.mark.parametrize(
    ("size", "now", "serves"),
    [
        (START, 0, True),
        (START - 1, 0, False),
        (START + MOST_NEW - 1, 0, True),
        (START + MOST_NEW, 0, False),
        (START, OLDEST_MS - 1, True),
        (START, OLDEST_MS, False),
        (START, -1, False),
    ],
)
def test_the_last_full_verification_serves_for_a_day_and_100_000_events(
    size: int, now: int, serves: bool
) -> None:
    log, known = grown()
    assert known.serves(log.pin, size, now) is serves


def test_what_was_verified_under_another_pin_does_not_serve() -> None:
    log, known = grown()
    assert not known.serves(Log(seed=2).pin, SIZE, 0)
    assert not known.serves(Pin(log.pin.verifier, 2), SIZE, 0)
    assert not known.serves(Pin(log.pin.verifier, 1, (SIZE, b"r" * 32)), SIZE, 0)
    assert known.epoch == Epoch(2, known.epoch.verifier, known.epoch.first)
    assert isinstance(log.disk, MemoryDisk)
