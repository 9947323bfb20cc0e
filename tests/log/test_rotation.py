"""The live key: exactly one at any moment, whatever step of a rotation fails."""

import random
from pathlib import Path

import pytest
from support.expected import problem
from support.faulty_store import FAULTS, Fault, FaultyStore, Step
from support.logs import Log, a_run, a_task, registered

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Actor
from memprove.ledger.log.append import Appender
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.reading import check_head
from memprove.ledger.log.rotation import MOST_EVENTS, LiveKey
from memprove.ledger.problems import Problem
from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.memory import MemoryStore
from memprove.ledger.storage.registry import create_store

USED = [f for f in FAULTS if f.step in (Step.APPEND, Step.PUT_HEAD, Step.COMMIT)]
ACTOR = Actor(installation="i", token="t", role="agent", face="cli")


class Keyed:
    """A log whose keys are files, and whose writers do what the service does."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.log = Log(store)
        self.folder = folder / "keys" / "led"
        self.keys = Keys(folder, "led")
        self.keys.create(1, random.Random(1).randbytes(32))
        self.random = random.Random(2).randbytes
        self.log.begin()
        self.log.append([registered(), a_task()])

    def write(self, *events: e.Event, rotate: bool = False) -> list[str]:
        """Append *events* in one commit; return what is said of the key."""
        with self.log.store.write() as writer:
            opened = check_head(writer, self.log.pin)
            key = LiveKey(self.keys, opened.epochs.newest)
            appender = Appender(
                writer, actor=ACTOR, at=1, random=self.random, project=projections.apply
            )
            for event in events or (a_run(),):
                stream, labels = "task/one", ("r1",) if isinstance(event, e.RunStarted) else ()
                appender.append(event, stream=stream, workspace="w", labels=labels)
            if rotate:
                key.rotate(appender, self.random)
            said = key.rotate_if_due(appender, self.random)
            key.seal(writer, appender)
        return said

    @property
    def names(self) -> list[str]:
        """Return the names of the key files."""
        return sorted(path.name for path in self.folder.iterdir())

    @property
    def epoch(self) -> int:
        """Return the number of the epoch that is going on."""
        with self.log.store.read() as reader:
            return check_head(reader, self.log.pin).epochs.newest.number


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path)


def test_a_rotation_leaves_the_next_key_and_erases_the_old_one(keyed: Keyed) -> None:
    for number in (2, 3, 4):
        keyed.write(rotate=True)
        assert keyed.names == [f"{number}.key"]
        assert keyed.epoch == number
    assert keyed.log.verify().ok


def test_a_commit_without_a_rotation_keeps_the_key(keyed: Keyed) -> None:
    kept = (keyed.folder / "1.key").read_bytes()
    keyed.write()
    assert keyed.names == ["1.key"]
    assert (keyed.folder / "1.key").read_bytes() == kept


def test_the_end_of_a_session_ends_the_epoch(keyed: Keyed) -> None:
    keyed.write(e.SessionEnded(session=1))
    assert keyed.epoch == 2
    assert keyed.log.verify().ok


def test_an_epoch_ends_once_in_a_commit(keyed: Keyed) -> None:
    keyed.write(e.SessionEnded(session=1), rotate=True)
    assert keyed.epoch == 2
    assert keyed.log.verify().ok


def test_nothing_follows_a_rotation_in_its_commit(keyed: Keyed) -> None:
    with problem("internal", "after the rotation"), keyed.log.store.write() as writer:
        opened = check_head(writer, keyed.log.pin)
        key = LiveKey(keyed.keys, opened.epochs.newest)
        appender = Appender(
            writer, actor=ACTOR, at=1, random=keyed.random, project=projections.apply
        )
        key.rotate(appender, keyed.random)
        appender.append(a_run(), stream="task/one", workspace="w")
    assert keyed.epoch == 1


def test_an_epoch_ends_after_so_many_events(keyed: Keyed) -> None:
    many = [e.TaskMoved(source=e.TaskState.PENDING, target=e.TaskState.BACKLOG)]
    keyed.write(*many * (MOST_EVENTS - 4))
    assert keyed.epoch == 1
    keyed.write(*many)
    assert keyed.epoch == 2
    keyed.write(*many)
    assert keyed.epoch == 2
    assert keyed.log.verify().ok


# Each step fails


@pytest.mark.parametrize("passed", [0, 1])
@pytest.mark.parametrize("fault", USED, ids=lambda fault: f"{fault.step}-{fault.kept}")
def test_after_any_failed_step_one_key_is_live(tmp_path: Path, fault: Fault, passed: int) -> None:
    keyed = Keyed(tmp_path)
    store = FaultyStore(MemoryStore(keyed.log.disk))
    keyed.log.store = store
    store.fail(fault.step, kept=fault.kept, passed=passed if fault.step is Step.APPEND else 0)
    with pytest.raises(Problem):
        keyed.write(rotate=True)
    kept = fault.step is Step.COMMIT and fault.kept
    assert keyed.epoch == (2 if kept else 1)
    assert set(keyed.names) >= {f"{keyed.epoch}.key"}
    check_goes_on(keyed)


def check_goes_on(keyed: Keyed) -> None:
    """Check that writing, and rotating, leave one key and a log that verifies."""
    epoch = keyed.epoch
    keyed.write()
    assert f"{epoch}.key" in keyed.names
    assert not [name for name in keyed.names if int(name.removesuffix(".key")) < epoch]
    keyed.write(rotate=True)
    assert keyed.names == [f"{epoch + 1}.key"]
    keyed.write()
    report = keyed.log.verify()
    assert report.ok, report.findings


def test_a_key_that_nothing_names_is_overwritten(keyed: Keyed) -> None:
    keyed.keys.create(2, bytes(range(32)))
    left = (keyed.folder / "2.key").read_bytes()
    keyed.write(rotate=True)
    assert (keyed.folder / "2.key").read_bytes() != left
    check_goes_on(keyed)


def test_half_a_key_that_nothing_names_is_overwritten(keyed: Keyed) -> None:
    (keyed.folder / "2.key").write_bytes(b"memprove-ed")
    check_goes_on(keyed)


def test_keys_of_earlier_epochs_are_erased_by_whoever_writes_next(keyed: Keyed) -> None:
    keyed.write(rotate=True)
    keyed.write(rotate=True)
    keyed.keys.create(1, bytes(32))
    keyed.keys.create(2, bytes(32))
    (keyed.folder / "notes.txt").write_text("mine")
    keyed.write()
    assert keyed.names == ["3.key", "notes.txt"]


def test_the_bytes_of_an_erased_key_are_gone_from_its_file(keyed: Keyed) -> None:
    second_name = keyed.folder.parent / "second-name"
    second_name.hardlink_to(keyed.folder / "1.key")
    keyed.write(rotate=True)
    assert not second_name.read_bytes().strip(b"\0")


def test_a_key_that_is_not_the_epochs_signs_nothing(keyed: Keyed) -> None:
    keyed.keys.put_next(1, bytes(32))
    with problem("key_unsafe", "not the key of epoch 1"):
        keyed.write()
    (keyed.folder / "1.key").unlink()
    with problem("key_missing", "1.key"):
        keyed.write()
    assert keyed.log.verify().ok


def test_a_missing_key_erases_nothing_and_makes_nothing(keyed: Keyed) -> None:
    keyed.write(rotate=True)
    (keyed.folder / "2.key").rename(keyed.folder / "1.key")
    with problem("key_missing"):
        keyed.write(rotate=True)
    assert keyed.names == ["1.key"]


def test_work_does_not_wait_for_a_next_key_that_cannot_be_written(keyed: Keyed) -> None:
    (keyed.folder / "2.key").mkdir()
    (said,) = keyed.write(e.SessionEnded(session=1))
    assert said.startswith("the signing key was not rotated: config_unreadable")
    assert keyed.epoch == 1
    with problem("config_unreadable"):
        keyed.write(rotate=True)
    (keyed.folder / "2.key").rmdir()
    assert keyed.write(e.SessionEnded(session=2)) == []
    check_goes_on(keyed)


def test_it_is_so_on_disk_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    store = create_store(tmp_path / "data")
    keyed = Keyed(tmp_path, store)
    for fault in USED:
        faulty = FaultyStore(store)
        faulty.fail(fault.step, kept=fault.kept)
        keyed.log.store = faulty
        with pytest.raises(Problem):
            keyed.write(rotate=True)
        keyed.log.store = store
        check_goes_on(keyed)
    store.close()
