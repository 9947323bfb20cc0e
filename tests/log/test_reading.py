"""What every command checks before it believes a log or goes on with it."""

import pytest
from msgspec.structs import replace
from support.expected import problem
from support.logs import ORIGIN, Log, busy_log

from memprove.ledger.log.reading import check_head, read_events, read_stream
from memprove.ledger.tlog.head import Head, sign_head

SIZE = busy_log().verify().size
STREAM = "task/one"
OF_STREAM = [event.seq for event in busy_log().disk.state.events if event.stream == STREAM]


def check(log: Log, stream: str = STREAM) -> None:
    with log.store.read() as reader:
        check_head(reader, log.pin)
        read_stream(reader, stream)


def read_all(log: Log) -> None:
    with log.store.read() as reader:
        list(read_events(reader))


def test_a_log_as_it_was_written_passes() -> None:
    log = busy_log()
    for stream in log.disk.state.streams:
        check(log, stream)
    check(log, "task/that is not there")


def test_a_log_without_a_head_does_not_pass() -> None:
    with problem("ledger_damaged", "no signed head"):
        check(Log())


def test_a_head_under_another_key_does_not_pass() -> None:
    log = busy_log()
    log.pin = Log(seed=2).pin
    with problem("ledger_damaged"):
        check(log)
    alone = Log().begin()
    alone.pin = log.pin
    with problem("ledger_damaged", "does not hold"):
        check(alone)


@pytest.mark.parametrize(
    ("size", "root", "said"),
    [
        (SIZE - 1, b"", f"the head at {SIZE} says size {SIZE - 1}"),
        (SIZE, b"r" * 32, "signs another tree"),
    ],
)
def test_a_head_of_another_log_does_not_pass(size: int, root: bytes, said: str) -> None:
    log = busy_log()
    head = Head(ORIGIN, size, root or bytes.fromhex(log.verify().root))
    log.edit_head(SIZE, sign_head(head, log.signer))
    with problem("ledger_damaged", said):
        check(log)


def test_a_log_cut_short_does_not_pass() -> None:
    log = busy_log()
    log.put_events(log.disk.state.events[:-1])
    with problem("ledger_damaged", f"signs {SIZE} events, not {SIZE - 1}"):
        check(log)


def test_a_lost_node_of_the_newest_tree_does_not_pass() -> None:
    log = busy_log()
    level = max(level for level, _ in log.disk.state.nodes)
    del log.disk.state.nodes[level, 0]
    with problem("ledger_damaged", f"tree node {level}/0 is missing"):
        check(log)


@pytest.mark.parametrize("seq", OF_STREAM)
@pytest.mark.parametrize(
    "change",
    [
        {"payload": b"{}"},
        {"salt": b"0" * 16},
        {"payload": None},
        {"salt": None},
        {"payload": None, "salt": None},
        {"leaf": b"{}"},
        {"seq": 1},
        {"stream_seq": 99},
        {"kind": "task.deleted"},
    ],
    ids=str,
)
def test_a_changed_event_of_the_stream_does_not_pass(seq: int, change: dict[str, object]) -> None:
    log = busy_log()
    log.edit_event(seq, lambda event: replace(event, **change))
    with problem("ledger_damaged", "event"):
        check(log)


@pytest.mark.parametrize("seq", OF_STREAM)
def test_a_leaf_that_says_something_else_does_not_pass(seq: int) -> None:
    log = busy_log()
    log.edit_event(
        seq, lambda event: replace(event, leaf=event.leaf.replace(b'"agent"', b'"owner"'))
    )
    with problem("ledger_damaged"):
        check(log)
    with problem("ledger_damaged", f"event {seq} is not the one that was signed"):
        read_all(log)


@pytest.mark.parametrize("seq", OF_STREAM[:-1])
def test_an_event_taken_out_of_the_stream_does_not_pass(seq: int) -> None:
    log = busy_log()
    log.edit_event(seq, lambda event: replace(event, stream="task/else"))
    log.put_events(log.disk.state.events)
    with problem("ledger_damaged", "does not follow in its stream"):
        check(log)


@pytest.mark.parametrize("seq", range(1, SIZE))
def test_an_event_missing_from_the_log_does_not_pass(seq: int) -> None:
    log = busy_log()
    events = log.disk.state.events
    log.put_events(events[: seq - 1] + events[seq:])
    with problem("ledger_damaged", f"event {seq} is missing"):
        read_all(log)


def test_events_are_read_from_any_place_to_any_other() -> None:
    log = busy_log()
    with log.store.read() as reader:
        assert [r.seq for r in read_events(reader)] == list(range(1, SIZE + 1))
        assert [r.seq for r in read_events(reader, 3, 5)] == [4, 5]
        assert [r.seq for r in read_events(reader, -3, 2)] == [1, 2]
        assert list(read_events(reader, SIZE)) == []


def test_events_of_the_stream_in_another_order_do_not_pass() -> None:
    log = busy_log()
    log.disk.state.streams[STREAM].reverse()
    with problem("ledger_damaged", "does not follow in its stream"):
        check(log)
