"""Each write step of an append fails once and is lost, and once is kept but reported lost."""

from pathlib import Path

import pytest
from support.faulty_store import FAULTS, Fault, FaultyStore, Step
from support.logs import BLOB, DATA, Log, a_run, a_task, registered, run_ended

from memprove.ledger.domain import events as e
from memprove.ledger.problems import Problem
from memprove.ledger.storage.memory import MemoryStore
from memprove.ledger.storage.registry import create_store

UNUSED = (Step.CLEAR_ROWS, Step.ERASE, Step.DROP_BLOB)
USED = [fault for fault in FAULTS if fault.step not in UNUSED]
COMMIT: list[e.Event] = [registered(), a_task(), a_run(), run_ended()]


def faulty() -> tuple[Log, FaultyStore]:
    log = Log().begin()
    store = FaultyStore(MemoryStore(log.disk))
    log.store = store
    return log, store


def attempts(log: Log, store: FaultyStore, fault: Fault) -> bool:
    """Return whether the step was met, and so failed."""
    store.fail(fault.step, kept=fault.kept, passed=fault.passed)
    try:
        log.append(COMMIT, blobs=[(BLOB, DATA)])
    except Problem:
        return True
    return False


@pytest.mark.parametrize("fault", USED, ids=lambda fault: f"{fault.step}-{fault.kept}")
def test_after_any_failed_step_the_log_is_whole_and_goes_on(fault: Fault) -> None:
    for passed in range(100):
        log, store = faulty()
        if not attempts(log, store, Fault(fault.step, fault.kept, passed)):
            break
        kept = fault.step is Step.COMMIT and fault.kept
        report = log.verify()
        assert report.ok, report.findings
        assert report.size == (5 if kept else 1)
        assert log.append([a_run()]) == [report.size + 1]
        assert log.verify().ok
    assert passed > 0, "the step was never met"


@pytest.mark.parametrize("fault", USED, ids=lambda fault: f"{fault.step}-{fault.kept}")
def test_it_is_so_on_disk_too(fault: Fault, tmp_path: Path) -> None:
    real = create_store(tmp_path)
    store = FaultyStore(real)
    log = Log(store).begin()
    assert attempts(log, store, fault)
    kept = fault.step is Step.COMMIT and fault.kept
    report = log.verify()
    assert report.ok, report.findings
    assert report.size == (5 if kept else 1)
    assert log.append([a_run()]) == [report.size + 1]
    assert log.verify().ok
    real.close()


def test_a_transaction_that_is_given_up_keeps_nothing() -> None:
    log = Log().begin()

    def give_up() -> None:
        with log.store.write() as writer:
            writer.put_row("task", "x", b"{}")
            writer.put_blob(BLOB, DATA)
            raise KeyError

    with pytest.raises(KeyError):
        give_up()
    assert log.verify().size == 1
    assert log.append([e.TokenRevoked(token="t")]) == [2]
    assert log.verify().ok
