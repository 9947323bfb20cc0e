"""verify: green after anything that was appended; whatever is altered later is found and named."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.logs import BLOB, Log, a_run, a_task, busy_log, histories, registered, written

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Actor
from memprove.ledger.log.append import Appender
from memprove.ledger.log.report import CHECKS, Report
from memprove.ledger.log.verify import verify
from memprove.ledger.storage.interface import StoredEvent, StoredHead
from memprove.ledger.tlog.head import Head, open_head, sign_head

SIZE = busy_log().verify().size
ROWS = [(table, key) for table, rows in busy_log().disk.state.rows.items() for key in rows]
NODES = sorted(busy_log().disk.state.nodes)
each_event = pytest.mark.parametrize("seq", range(1, SIZE + 1))


def failed(report: Report) -> set[str]:
    return {check.check for check in report.checks if not check.ok}


def check_found(log: Log, check: str, seq: int | None = None, what: str = "") -> Report:
    """Check that verify finds it, and that the first event it names is *seq*."""
    report = log.verify()
    assert not report.ok
    assert check in failed(report)
    assert {finding.check for finding in report.findings} <= failed(report)
    named = [finding.seq for finding in report.findings if finding.seq is not None]
    if seq is not None:
        assert min(named) == named[0] == seq
    assert what in " ".join(finding.what for finding in report.findings)
    return report


def flip(data: bytes | None, at: int = 0, bit: int = 0) -> bytes:
    assert data
    changed = bytearray(data)
    changed[at % len(data)] ^= 1 << bit
    return bytes(changed)


# Green


@settings(deadline=None)
@given(histories)
def test_a_log_verifies_after_any_sequence_of_events(
    history: list[tuple[list[e.Event], str, bool]],
) -> None:
    log = written(history)
    report = log.verify()
    assert report.ok, report.findings
    assert report.size == report.signed == 1 + sum(len(events) for events, _, _ in history)
    assert open_head(log.head().note, log.signer.verifier).root.hex() == report.root


def test_the_report_names_every_check_in_order() -> None:
    report = busy_log().verify()
    assert tuple(check.check for check in report.checks) == CHECKS[:-2]
    assert report.findings == ()
    assert report.origin == "memprove.local/test"


def test_progress_is_told_every_thousand_events() -> None:
    log = Log().begin()
    log.append([registered(), *([a_run()] * 2_100)])
    told: list[tuple[int, int]] = []
    with log.store.read() as reader:
        verify(
            reader,
            log.pin,
            project=projections.apply,
            progress=lambda done, of: told.append((done, of)),
        )
    assert told == [(1_000, 2_102), (2_000, 2_102)]


def test_an_empty_store_is_no_ledger() -> None:
    report = Log().verify()
    assert not report.ok
    assert (report.size, report.signed) == (0, 0)


def test_a_head_that_lost_its_mark_is_named() -> None:
    log = busy_log()
    heads = log.disk.state.heads
    size = min(heads)
    heads[size] = StoredHead(size, heads[size].note, keep=False)
    check_found(log, "heads", size, "not marked as kept")


# Events


@each_event
@pytest.mark.parametrize("at", [0, 50, -30, -1])
def test_a_flipped_leaf_is_named(seq: int, at: int) -> None:
    log = busy_log()
    log.edit_event(seq, lambda event: replace(event, leaf=flip(event.leaf, at)))
    check_found(log, "tree", seq)


@settings(deadline=None)
@given(st.integers(1, SIZE), st.integers(0, 2_000), st.integers(0, 7))
def test_a_flip_anywhere_in_an_event_is_named(seq: int, at: int, bit: int) -> None:
    def edit(event: StoredEvent) -> StoredEvent:
        parts = {"leaf": event.leaf, "payload": event.payload, "salt": event.salt}
        name = ("leaf", "payload", "salt")[at % 3]
        return replace(event, **{name: flip(parts[name], at // 3, bit)})

    log = busy_log()
    log.edit_event(seq, edit)
    check_found(log, ("tree", "payloads", "payloads")[at % 3], seq)


@each_event
@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("payloads", {"payload": b"{}"}),
        ("payloads", {"payload": b""}),
        ("payloads", {"payload": None}),
        ("payloads", {"salt": b"0" * 16}),
        ("payloads", {"salt": b""}),
        ("payloads", {"salt": None}),
        ("payloads", {"payload": None, "salt": None}),
        ("leaves", {"stream": "task/else"}),
        ("leaves", {"stream_seq": 99}),
        ("leaves", {"kind": "task.deleted"}),
        ("leaves", {"seq": 99}),
        ("leaves", {"leaf": b""}),
        ("leaves", {"leaf": b"{}"}),
    ],
    ids=lambda value: str(value),
)
def test_a_changed_column_is_named(seq: int, check: str, change: dict[str, object]) -> None:
    log = busy_log()
    log.edit_event(seq, lambda event: replace(event, **change))
    report = log.verify()
    assert check in failed(report)
    assert report.findings[0].seq == change.get("seq", seq)


@each_event
def test_an_event_taken_out_is_named(seq: int) -> None:
    log = busy_log()
    events = log.disk.state.events
    log.put_events(events[: seq - 1] + events[seq:])
    if seq == SIZE:
        check_found(log, "head")
    else:
        report = check_found(log, "leaves", what=f"it says number {seq + 1} at place {seq}")
        assert report.findings[0].seq == seq + 1


@pytest.mark.parametrize("seq", range(1, SIZE))
def test_two_events_in_each_others_place_are_named(seq: int) -> None:
    log = busy_log()
    events = log.disk.state.events
    log.put_events([*events[: seq - 1], events[seq], events[seq - 1], *events[seq + 1 :]])
    report = log.verify()
    assert {"leaves", "tree"} <= failed(report)
    assert report.findings[0].seq == seq + 1  # it stands at the place of the one before


@each_event
def test_an_event_put_in_twice_is_named(seq: int) -> None:
    log = busy_log()
    events = log.disk.state.events
    log.put_events([*events[:seq], events[seq - 1], *events[seq:]])
    report = log.verify()
    assert {"leaves", "tree", "head"} <= failed(report)
    assert report.findings[0].seq == seq


@pytest.mark.parametrize(
    ("labels", "event"),
    [
        ((), a_task("new")),
        (("task",), a_task("new")),
        (("t" * 40,), a_task("new")),
        ((), e.SessionStarted(id="i", agent="a")),
        ((), registered()),
        (("ws1", "t0"), registered()),
        (("", "r1"), a_run()),
    ],
)
def test_an_event_that_no_table_can_take_is_a_finding(
    labels: tuple[str, ...], event: e.Event
) -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    actor = Actor(installation="i", token="t", role="agent", face="cli")
    with log.store.write() as writer:
        appender = Appender(
            writer, actor=actor, at=1, random=lambda n: b"s" * n, project=lambda *_: None
        )
        appender.append(event, stream="task/one", workspace="w", labels=labels)
        appender.seal(log.signer)
    check_found(log, "leaves", 4)


# The tree


@pytest.mark.parametrize("node", NODES)
def test_a_flipped_node_names_the_event_that_completes_it(node: tuple[int, int]) -> None:
    log = busy_log()
    log.disk.state.nodes[node] = flip(log.disk.state.nodes[node])
    level, index = node
    check_found(log, "tree", (index + 1) << level)


@pytest.mark.parametrize("node", NODES)
def test_a_missing_node_names_the_event_that_completes_it(node: tuple[int, int]) -> None:
    log = busy_log()
    del log.disk.state.nodes[node]
    level, index = node
    check_found(log, "tree", (index + 1) << level)


@pytest.mark.parametrize(
    "node",
    [(0, SIZE), (1, SIZE // 2), (4, 1), (5, 0), (63, 0), (0, -1), (1, -5), (-1, 0), (2**62, 1)],
)
def test_a_node_of_no_leaf_is_found(node: tuple[int, int]) -> None:
    log = busy_log()
    log.disk.state.nodes[node] = b"n" * 32
    check_found(log, "tree", what=f"node {node[0]}/{node[1]} belongs to no leaf")


# Heads


def test_a_head_flipped_anywhere_is_found() -> None:
    log = busy_log()
    note = log.head().note
    for at in range(len(note)):
        log.edit_head(SIZE, flip(note, at))
        check_found(log, "head")
    log.edit_head(SIZE, note)
    assert log.verify().ok


def test_a_kept_head_that_was_changed_is_found() -> None:
    log = busy_log()
    kept = next(head for head in log.disk.state.heads.values() if head.keep)
    log.edit_head(kept.size, flip(kept.note, 40))
    report = log.verify()
    assert failed(report) == {"heads"}
    assert report.signed == SIZE


@pytest.mark.parametrize(
    ("what", "forge"),
    [
        (
            "key of its epoch",
            lambda log, root: sign_head(head(SIZE, root), Log(seed=2).signer),
        ),
        ("signs another tree", lambda log, root: sign_head(head(SIZE, b"r" * 32), log.signer)),
        ("says size", lambda log, root: sign_head(head(SIZE - 1, root), log.signer)),
        ("key of epoch 1", lambda log, root: log.disk.state.heads[min(log.disk.state.heads)].note),
        ("does not hold", lambda log, root: b""),
    ],
)
def test_another_head_in_the_newest_ones_place_is_found(
    what: str, forge: Callable[[Log, bytes], bytes]
) -> None:
    log = busy_log()
    log.edit_head(SIZE, forge(log, bytes.fromhex(log.verify().root)))
    report = check_found(log, "head", what=what)
    assert report.signed < SIZE


def head(size: int, root: bytes) -> Head:
    return Head("memprove.local/test", size, root)


def test_a_newest_head_that_was_taken_out_is_found() -> None:
    log = busy_log()
    del log.disk.state.heads[SIZE]
    check_found(log, "head", what="the newest head signs")
    log.disk.state.heads.clear()
    check_found(log, "head")


@pytest.mark.parametrize("size", [SIZE + 1, 2, 0, -1])
def test_a_head_that_was_put_in_is_found(size: int) -> None:
    log = busy_log()
    log.disk.state.heads[size] = StoredHead(size, log.head().note, True)
    assert failed(log.verify()) & {"head", "heads"}


def test_a_log_of_another_key_is_found() -> None:
    log, other = busy_log(), Log(seed=2)
    log.pin = other.pin
    report = check_found(log, "epochs", 1, "the log does not begin with the pinned key")
    assert "head" in failed(report)
    assert report.signed == 0


def test_a_log_that_begins_with_another_key_than_it_is_signed_with_is_found() -> None:
    log = Log()
    log.created = Log(seed=2).created
    log.begin()
    log.append([registered()])
    check_found(log, "epochs", 1, "the log does not begin with the pinned key")


def test_a_log_that_does_not_begin_with_its_creation_is_found() -> None:
    log = Log()
    log.append([registered()])
    check_found(log, "epochs", 1, "the log does not begin with the pinned key")


def test_a_log_cut_short_with_its_rows_is_found_by_its_head() -> None:
    log, short = busy_log(), Log().begin()
    log.put_events(short.disk.state.events)
    log.disk.state.nodes, log.disk.state.rows = short.disk.state.nodes, short.disk.state.rows
    check_found(log, "head")


# Projections and blobs


@pytest.mark.parametrize(("table", "key"), ROWS, ids=lambda value: value)
def test_a_row_changed_or_taken_out_is_found(table: str, key: str) -> None:
    log = busy_log()
    rows = log.disk.state.rows[table]
    kept = rows[key]
    rows[key] = kept + b" "
    assert failed(check_found(log, "projections", what=f"row {table}/{key}")) == {"projections"}
    del rows[key]
    check_found(log, "projections", what=f"row {table}/{key}")
    rows[key] = kept
    assert log.verify().ok


@pytest.mark.parametrize("table", sorted({table for table, _ in ROWS} | {"another"}))
def test_a_row_put_in_is_found(table: str) -> None:
    log = busy_log()
    log.disk.state.rows.setdefault(table, {})["new"] = b"{}"
    check_found(log, "projections", what=f"row {table}/new")


def test_a_blob_changed_or_gone_is_found_and_its_event_named() -> None:
    log = busy_log()
    seq = next(event.seq for event in log.disk.state.events if event.kind == "run.ended")
    kept = log.disk.state.blobs[BLOB]
    log.disk.state.blobs[BLOB] = flip(kept)
    assert failed(check_found(log, "blobs", seq, "is another one")) == {"blobs"}
    del log.disk.state.blobs[BLOB]
    check_found(log, "blobs", seq, "is missing")


def test_much_damage_is_reported_in_few_findings_and_every_check_that_failed() -> None:
    log = busy_log()
    for seq in range(1, SIZE + 1):
        log.edit_event(seq, lambda event: replace(event, leaf=b"x", salt=b""))
    log.edit_head(SIZE, b"")
    log.disk.state.rows["task"]["another"] = b"{}"
    report = log.verify()
    assert len(report.findings) == 20
    assert {"leaves", "tree", "head", "projections"} <= failed(report)
    assert report.findings[0].seq == 1
