"""What every store does alike."""

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from support.expected import problem
from support.stores import add_event, check_whole, event

from memprove.ledger.storage.interface import BATCH, Interrupted, Store, StoredHead, StoredNode

Open = Callable[[], Store]
ODD_KEYS = ["%", "_", "a", "a\0", "a\0b", "a%", "aa", "a\uffff", "a\U0010ffff", "a\U0010ffffb", "b"]


def test_a_new_store_is_empty(store: Store) -> None:
    with store.read() as reader:
        assert reader.size() == 0
        assert reader.event(1) is None
        assert reader.event(0) is None
        assert list(reader.events()) == []
        assert reader.stream_tail("ledger") is None
        assert reader.newest() == []
        assert reader.node(0, 0) is None
        assert reader.head() is None
        assert list(reader.heads()) == []
        assert reader.row("tasks", "1") is None
        assert reader.tables() == []
        assert reader.blob("00") is None


def test_events_come_back_as_they_were_and_in_order(open_store: Open) -> None:
    with open_store().write() as writer:
        added = [add_event(writer) for _ in range(5)]
    with open_store().read() as reader:
        assert reader.size() == 5
        assert [reader.event(seq) for seq in range(1, 6)] == added
        assert list(reader.events()) == added
        assert list(reader.events(after=1, upto=3)) == added[1:3]
        assert list(reader.events(after=5)) == []


def test_an_erased_payload_comes_back_as_none(store: Store) -> None:
    erased = event(1)
    erased = type(erased)(1, "ledger", 1, "noted", b"leaf", None, None)
    with store.write() as writer:
        writer.append(erased, [])
    with store.read() as reader:
        assert reader.event(1) == erased


def test_events_are_found_by_stream_and_by_kind(store: Store) -> None:
    with store.write() as writer:
        first = add_event(writer, "task/1", "begun")
        other = add_event(writer, "task/11", "begun")
        second = add_event(writer, "task/1", "noted")
        assert writer.stream_tail("task/1") == second
    with store.read() as reader:
        assert list(reader.stream("task/1")) == [first, second]
        assert list(reader.stream("task/1", after=1)) == [second]
        assert list(reader.stream("task/")) == []
        assert reader.stream_tail("task/11") == other
        assert reader.newest() == [second]
        assert reader.newest("begun", limit=5) == [other, first]
        assert reader.newest("begun") == [other]
        assert reader.newest("lost") == []
        assert reader.newest(limit=0) == []
        assert list(reader.of_kind("begun")) == [first, other]
        assert list(reader.of_kind("begun", after=1)) == [other]
        assert list(reader.of_kind("begun", after=2)) == []
        assert list(reader.of_kind("lost")) == []


@pytest.mark.parametrize(("seq", "stream_seq"), [(1, 2), (3, 2), (2, 1), (2, 3), (0, 2)])
def test_a_gap_and_a_repetition_are_refused(store: Store, seq: int, stream_seq: int) -> None:
    with store.write() as writer:
        add_event(writer)
    with problem("internal"), store.write() as writer:
        writer.append(event(seq, stream_seq=stream_seq), [])
    assert check_whole(store) == 1


def test_a_node_is_written_once(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)
    with problem("internal"), store.write() as writer:
        writer.append(event(2), [StoredNode(0, 0, b"another")])
    assert check_whole(store) == 1


def test_nodes_come_by_level_and_index(store: Store) -> None:
    nodes = [StoredNode(1, 0, b"top"), StoredNode(0, 1, b"right"), StoredNode(0, 0, b"left")]
    with store.write() as writer:
        writer.append(event(1), [*nodes, StoredNode(-7, 3, b"deep"), StoredNode(2**62, -1, b"far")])
    with store.read() as reader:
        assert reader.levels() == [-7, 0, 1, 2**62]
        assert list(reader.nodes(0)) == [((0, 1), (b"left", b"right"))]
        assert list(reader.nodes(0, 1)) == [((1,), (b"right",))]
        assert list(reader.nodes(2**62)) == [((-1,), (b"far",))]
        assert list(reader.nodes(2**62, 0)) == list(reader.nodes(5)) == []
        assert reader.node(1, 0) == b"top"
        assert reader.node(1, 1) is None


@pytest.mark.parametrize("size", [0, 1, BATCH, BATCH + 1])
def test_columns_hold_what_the_events_hold(store: Store, size: int) -> None:
    with store.write() as writer:
        for number in range(size):
            add_event(writer, stream=f"stream/{number % 3}")
    with store.read() as reader:
        for after, upto in ((0, None), (1, None), (0, size - 1), (BATCH, None), (size, None)):
            rows = [
                row for columns in reader.columns(after, upto) for row in zip(*columns, strict=True)
            ]
            assert rows == list(map(structs.astuple, reader.events(after, upto)))
        assert sum(len(nodes.indices) for nodes in reader.nodes(0)) == size


def test_only_kept_heads_and_the_newest_stay(store: Store) -> None:
    for size, keep in [(1, False), (2, True), (3, False), (4, False)]:
        with store.write() as writer:
            writer.put_head(StoredHead(size, b"head %d" % size, keep))
            assert writer.head() == StoredHead(size, b"head %d" % size, keep)
    with store.read() as reader:
        assert [(head.size, head.keep) for head in reader.heads()] == [(2, True), (4, False)]
        assert reader.head(2) == StoredHead(2, b"head 2", keep=True)
        assert [reader.head(size) for size in (0, 1, 3, 5)] == [None] * 4


@pytest.mark.parametrize("keeps", [(False, True), (True, False)])
def test_a_head_that_was_to_be_kept_stays_so(store: Store, keeps: tuple[bool, bool]) -> None:
    for note, keep in zip((b"first", b"second"), keeps, strict=True):
        with store.write() as writer:
            writer.put_head(StoredHead(1, note, keep))
    with store.read() as reader:
        assert list(reader.heads()) == [StoredHead(1, b"second", keep=True)]


def test_rows_are_set_changed_and_taken_out(store: Store) -> None:
    with store.write() as writer:
        writer.put_row("tasks", "1", b"open")
        writer.put_row("tasks", "1", b"done")
        writer.put_row("labels", "r1", b"")
        writer.put_row("labels", "r2", b"x")
        writer.put_row("labels", "r2", None)
        writer.put_row("labels", "r9", None)
    with store.read() as reader:
        assert reader.row("tasks", "1") == b"done"
        assert reader.row("labels", "r1") == b""
        assert reader.row("labels", "r2") is None
        assert reader.tables() == ["labels", "tasks"]
        assert list(reader.rows("labels")) == [("r1", b"")]


def test_a_table_without_rows_is_no_table(store: Store) -> None:
    with store.write() as writer:
        writer.put_row("tasks", "1", b"open")
        writer.put_row("tasks", "1", None)
    with store.read() as reader:
        assert reader.tables() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sets(st.text(st.sampled_from("ab%_\0\ud7ff\uffff\U0010ffff"), min_size=1, max_size=4)),
    st.text(st.sampled_from("ab%_\0\U0010ffff"), max_size=2),
    st.text(st.sampled_from("ab\U0010ffff"), max_size=2),
)
def test_a_scan_finds_the_keys_with_the_prefix(
    store: Store, keys: set[str], prefix: str, after: str
) -> None:
    with store.write() as writer:
        writer.clear_rows()
        for key in [*keys, *ODD_KEYS]:
            writer.put_row("t", key, key.encode())
        writer.put_row("u", prefix + "x", b"of another table")
    expected = sorted(k for k in {*keys, *ODD_KEYS} if k.startswith(prefix) and k > after)
    with store.read() as reader:
        assert list(reader.rows("t", prefix, after)) == [(k, k.encode()) for k in expected]


def test_clear_rows_drops_rows_only(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)
        writer.put_row("tasks", "1", b"open")
        writer.put_blob("00", b"data")
        writer.clear_rows()
        assert writer.tables() == []
        writer.put_row("tasks", "2", b"open")
    with store.read() as reader:
        assert list(reader.rows("tasks")) == [("2", b"open")]
        assert reader.blob("00") == b"data"
    assert check_whole(store) == 1


def test_a_blob_is_kept_once(store: Store) -> None:
    with store.write() as writer:
        writer.put_blob("00", b"first")
        writer.put_blob("00", b"second")
        writer.put_blob("01", b"")
    with store.read() as reader:
        assert (reader.blob("00"), reader.blob("01"), reader.blob("02")) == (b"first", b"", None)


def test_rows_may_be_taken_out_while_they_are_read(store: Store) -> None:
    with store.write() as writer:
        for number in range(300):
            writer.put_row("t", f"{number:03}", b"x")
        for key, _ in writer.rows("t"):
            writer.put_row("t", key, None)
        assert writer.tables() == []


@pytest.mark.parametrize(
    ("table", "key", "code"),
    [("", "k", "internal"), ("t", "", "internal"), ("t", "\ud800", "text_invalid")],
)
def test_a_name_is_text(store: Store, table: str, key: str, code: str) -> None:
    with problem(code), store.write() as writer:
        writer.put_row(table, key, b"value")


def test_a_writer_reads_what_it_wrote(store: Store) -> None:
    with store.write() as writer:
        added = add_event(writer)
        writer.put_row("tasks", "1", b"open")
        assert writer.size() == 1
        assert list(writer.events()) == [added]
        assert writer.row("tasks", "1") == b"open"


def test_an_exception_rolls_everything_back(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)
        writer.put_row("tasks", "1", b"open")
    with suppress(KeyboardInterrupt), store.write() as writer:
        add_event(writer)
        writer.clear_rows()
        writer.put_row("tasks", "2", b"open")
        writer.put_blob("00", b"data")
        raise KeyboardInterrupt
    with store.read() as reader:
        assert list(reader.rows("tasks")) == [("1", b"open")]
        assert reader.blob("00") is None
    assert check_whole(store) == 1


def test_a_reader_sees_nothing_that_commits_later(open_store: Open) -> None:
    ours, others = open_store(), open_store()
    with ours.read() as reader:
        with others.write() as writer:
            add_event(writer)
            writer.put_row("tasks", "1", b"open")
        assert reader.size() == 0
        assert list(reader.events()) == []
        assert reader.tables() == []
    assert check_whole(ours) == 1


def test_a_reader_sees_nothing_that_is_not_committed(open_store: Open) -> None:
    ours, others = open_store(), open_store()
    with others.write() as writer:
        add_event(writer)
        assert check_whole(ours) == 0


def test_a_second_writer_is_told_that_the_ledger_is_busy(open_store: Open) -> None:
    ours, others = open_store(), open_store()
    with ours.write() as writer:
        add_event(writer)
        with problem("ledger_busy"), others.write():
            pass
    with others.write() as writer:
        add_event(writer)
    assert check_whole(ours) == 2


def test_threads_queue_for_the_write_block(open_store: Open) -> None:
    def append() -> None:
        store = open_store()
        for _ in range(10):
            with store.write() as writer:
                add_event(writer)

    store = open_store()
    threads = [threading.Thread(target=append) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert check_whole(store) == 20


def test_a_store_has_one_block_at_a_time(store: Store) -> None:
    with store.write() as writer:
        with problem("internal"), store.read():
            pass
        with problem("internal"), store.write():
            pass
        add_event(writer)
    assert check_whole(store) == 1


def test_a_block_is_of_no_use_after_its_end(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)
        add_event(writer)
    with store.read() as reader:
        events = reader.events()
        next(events)
    with problem("internal"):
        next(events)
    with problem("internal"):
        reader.size()
    with problem("internal"):
        add_event(writer)
    assert check_whole(store) == 2


def test_a_block_with_a_failed_write_is_not_committed(store: Store) -> None:
    with problem("internal", "a write failed"), store.write() as writer:
        add_event(writer)
        with problem("internal"):
            writer.append(event(7), [])
        add_event(writer)
    assert check_whole(store) == 0


def test_an_action_after_the_commit_sees_it_and_has_the_lock(open_store: Open) -> None:
    ours, others = open_store(), open_store()
    sizes: list[int] = []

    def look() -> None:
        sizes.append(check_whole(others))
        with problem("ledger_busy"), others.write():
            pass

    with ours.write() as writer:
        add_event(writer)
        writer.after_commit(look)
        assert sizes == []
    assert sizes == [1]


def test_a_failed_action_after_the_commit_leaves_it_kept(store: Store) -> None:
    def fail() -> None:
        raise OSError("no state directory")

    with suppress(OSError), store.write() as writer:
        add_event(writer)
        writer.after_commit(fail)
    assert check_whole(store) == 1
    with store.write() as writer:
        add_event(writer)


def test_nothing_is_done_after_a_rollback(store: Store) -> None:
    done: list[str] = []
    with suppress(KeyError), store.write() as writer:
        writer.after_commit(lambda: done.append("done"))
        raise KeyError
    assert done == []


def test_the_data_version_changes_with_a_commit_of_another(open_store: Open) -> None:
    ours, others = open_store(), open_store()
    versions = [ours.data_version()]
    for _ in range(2):
        with others.write() as writer:
            add_event(writer)
        versions.append(ours.data_version())
    assert all(before != after for before, after in pairwise(versions))
    assert ours.data_version() == versions[-1]


def test_an_interrupt_stops_a_read_block_and_no_other(store: Store) -> None:
    with store.write() as writer:
        for _ in range(5):
            add_event(writer)
        store.interrupt()
    with store.read() as reader:
        events = reader.events()
        next(events)
        (thread := threading.Thread(target=store.interrupt)).start()
        thread.join()
        with pytest.raises(Interrupted):
            next(events)
        with pytest.raises(Interrupted):
            reader.size()
    assert check_whole(store) == 5


def test_a_store_can_be_closed_twice(store: Store) -> None:
    store.close()
    store.close()
