"""The writers' lock, among threads and processes."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.expected import problem

from memprove.ledger.problems import Problem
from memprove.ledger.storage.lock import writers_lock

HOLD = """
import sys
from pathlib import Path
from memprove.ledger.storage.lock import writers_lock
with writers_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(directory: Path) -> "subprocess.Popen[str]":
    """Start a process that holds the lock until its input ends."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def is_free(directory: Path) -> bool:
    try:
        with writers_lock(directory, wait=0.02):
            return True
    except Problem:
        return False


def test_the_lock_excludes_and_is_given_back(tmp_path: Path) -> None:
    with writers_lock(tmp_path):
        assert not is_free(tmp_path)
    assert is_free(tmp_path)


def test_an_exception_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(KeyError), writers_lock(tmp_path):
        raise KeyError
    assert is_free(tmp_path)


def test_another_process_is_excluded(tmp_path: Path) -> None:
    with hold(tmp_path) as child:
        assert not is_free(tmp_path)
        child.communicate()
    assert is_free(tmp_path)


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    with hold(tmp_path) as child:
        child.kill()
        child.wait()
        assert is_free(tmp_path)


def test_a_waiter_gets_the_lock_when_its_holder_ends(tmp_path: Path) -> None:
    got = threading.Event()

    def wait() -> None:
        with writers_lock(tmp_path, wait=60):
            got.set()

    waiter = threading.Thread(target=wait)
    with writers_lock(tmp_path):
        waiter.start()
        assert not got.is_set()
    waiter.join()
    assert got.is_set()


def test_who_gave_up_waiting_takes_no_lock_later(tmp_path: Path) -> None:
    with writers_lock(tmp_path):
        assert not is_free(tmp_path)
        before = [t for t in threading.enumerate() if t.name == "writers-lock"]
    for thread in before:
        thread.join()
    assert is_free(tmp_path)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/dev/fd"))

    with writers_lock(tmp_path):
        is_free(tmp_path)
    for thread in [t for t in threading.enumerate() if t.name == "writers-lock"]:
        thread.join()
    before = descriptors()
    for _ in range(3):
        assert is_free(tmp_path)
    assert descriptors() == before


def test_the_lock_survives_the_deletion_of_every_file(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").touch()
    with writers_lock(tmp_path):
        for path in tmp_path.iterdir():
            path.unlink()
        assert not is_free(tmp_path)


def test_a_program_that_was_started_inside_does_not_hold_the_lock(tmp_path: Path) -> None:
    with writers_lock(tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with child:
        assert is_free(tmp_path)
        child.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_hold_the_lock(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with writers_lock(tmp_path):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    os.close(reading)
    assert is_free(tmp_path)
    os.close(writing)
    os.waitpid(child, 0)


def test_without_the_directory_there_is_no_lock(tmp_path: Path) -> None:
    with problem("data_dir_unreadable"), writers_lock(tmp_path / "missing"):
        pass
