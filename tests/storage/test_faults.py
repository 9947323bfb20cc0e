"""Every write fails twice: once lost, and once kept although it reported failure."""

from collections.abc import Callable

import pytest
from support.expected import problem
from support.faulty_store import FAULTS, Fault, FaultyStore, Step
from support.stores import add_event, check_whole, event

from memprove.ledger.problems import DISK_FULL
from memprove.ledger.storage.interface import Store, StoredHead, Writer


def write_all(writer: Writer) -> None:
    writer.clear_rows()
    add_event(writer)
    writer.put_row("sizes", "size", b"%d" % writer.size())
    writer.put_blob(f"{writer.size():064}", b"data")
    writer.erase(writer.size())
    writer.drop_blob("ff")


def check_agrees(store: Store) -> int:
    size = check_whole(store)
    with store.read() as reader:
        assert reader.row("sizes", "size") == b"%d" % size
        assert reader.blob(f"{size:064}") == b"data"
        assert reader.blob(f"{size + 1:064}") is None
    return size


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.step}-{'kept' if f.kept else 'lost'}")
def test_a_failed_write_leaves_a_store_that_goes_on(
    open_store: Callable[[], Store], fault: Fault
) -> None:
    store = FaultyStore(open_store(), DISK_FULL())
    with store.write() as writer:
        write_all(writer)
    store.fail(fault.step, kept=fault.kept)

    with problem("disk_full"), store.write() as writer:
        write_all(writer)

    durable = fault.step is Step.COMMIT and fault.kept
    expected = 2 if durable else 1
    assert check_agrees(store) == expected
    assert check_agrees(open_store()) == expected
    with store.write() as writer:
        write_all(writer)
    assert check_agrees(open_store()) == expected + 1


def test_a_commit_reported_lost_does_nothing_after_it(open_store: Callable[[], Store]) -> None:
    store = FaultyStore(open_store())
    done: list[str] = []
    store.fail(Step.COMMIT, kept=True)
    with problem("ledger_unwritable"), store.write() as writer:
        add_event(writer)
        writer.after_commit(lambda: done.append("remembered"))
    assert done == []
    assert check_whole(store) == 1


def test_a_fault_can_wait_for_a_later_step(open_store: Callable[[], Store]) -> None:
    store = FaultyStore(open_store())
    store.fail(Step.PUT_HEAD, kept=False, passed=1)
    with problem("ledger_unwritable"), store.write() as writer:
        writer.put_head(StoredHead(1, b"first", keep=False))
        writer.append(event(1), [])
        writer.put_head(StoredHead(2, b"second", keep=False))
    assert check_whole(store) == 0
