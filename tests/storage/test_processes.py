"""The SQLite store among several processes, some of which die, and on disks that refuse."""

import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support import append_forever
from support.children import exit_code_of
from support.expected import problem
from support.stores import add_event, check_whole

from memprove.ledger.storage import filesystem
from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.registry import create_store, open_store

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TESTS = Path(__file__).parents[1]


def start_writer(data_dir: Path, *count: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, append_forever.__file__, str(data_dir), *count],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    )


def in_child(work: Callable[[], None]) -> None:
    """Do *work* in a forked child and check that it raised nothing."""
    assert exit_code_of(work) == 0


def write_one(store: Store) -> None:
    with store.write() as writer:
        add_event(writer)


@pytest.mark.parametrize(("processes", "each"), [(2, 100), (8, 50)])
def test_processes_append_without_error_or_gap(tmp_path: Path, processes: int, each: int) -> None:
    with closing(create_store(tmp_path)) as store:
        writers = [start_writer(tmp_path, str(each)) for _ in range(processes)]
        printed = [int(line) for w in writers for line in w.communicate()[0].splitlines()]
        assert [writer.returncode for writer in writers] == [0] * processes
        assert sorted(printed) == list(range(1, processes * each + 1))
        assert check_whole(store) == processes * each


def test_what_a_killed_writer_was_told_is_there(tmp_path: Path) -> None:
    with closing(create_store(tmp_path)) as store:
        for seed in range(5):
            told = kill_after(start_writer(tmp_path), lines=random.Random(seed).randrange(1, 60))
            size = check_whole(store)
            assert size >= told
            with closing(open_store(tmp_path)) as other:
                write_one(other)
                assert check_whole(other) == size + 1


def kill_after(writer: "subprocess.Popen[str]", *, lines: int) -> int:
    """Kill *writer* after some *lines* and return the last number that it printed."""
    with writer:
        assert writer.stdout is not None
        printed = "".join(writer.stdout.readline() for _ in range(lines))
        writer.kill()
        printed += writer.stdout.read()
    complete = printed[: printed.rfind("\n")]
    return int(complete.split()[-1])


def test_a_holder_keeps_writers_out_although_every_file_was_deleted(tmp_path: Path) -> None:
    with closing(create_store(tmp_path)) as store, store.write() as writer:
        add_event(writer)
        for path in tmp_path.iterdir():
            path.unlink()
        with problem("ledger_busy"):
            create_store(tmp_path, wait=0.05)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]).returncode:
        pytest.skip("this system mounts no tmpfs")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_loses_nothing_that_was_kept(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    with closing(create_store(small_disk)) as store:
        write_one(store)
        with problem("disk_full"), store.write() as writer:
            add_event(writer)
            writer.put_blob("00", b"x" * 3_000_000)
        assert check_whole(store) == 1
        ballast.unlink()
        write_one(store)
        assert check_whole(store) == 2


def test_no_ledger_is_left_on_a_disk_that_was_full(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * (2 * 1024 * 1024 - 8192))
    with problem("disk_full"):
        create_store(small_disk)
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


@needs_fork
def test_a_file_that_may_not_grow_is_unwritable(tmp_path: Path) -> None:
    create_store(tmp_path).close()

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        with closing(open_store(tmp_path)) as store:
            write_one(store)
            with problem("ledger_unwritable"), store.write() as writer:
                writer.put_blob("00", b"x" * 300_000)
            write_one(store)
            assert check_whole(store) == 2

    in_child(work)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
        Path(name).chmod(0o700)


def as_nobody(work: Callable[[], None]) -> None:
    """Do *work* as a user whom permissions bind."""

    def drop_and_work() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        work()

    in_child(drop_and_work)


def give_away(data_dir: Path) -> None:
    """Let the user of ``as_nobody`` own *data_dir*, and nobody write into it."""
    if os.geteuid() == 0:
        for path in [data_dir, *data_dir.iterdir()]:
            os.chown(path, 65534, 65534)
    data_dir.chmod(0o500)


@needs_fork
def test_a_ledger_of_read_only_files_is_read(data_dir: Path) -> None:
    with closing(create_store(data_dir)) as store:
        write_one(store)
    for path in data_dir.iterdir():
        path.chmod(0o400)
    give_away(data_dir)

    def work() -> None:
        with closing(open_store(data_dir)) as store:
            assert check_whole(store) == 1
            with problem("ledger_unwritable"):
                write_one(store)
            assert check_whole(store) == 1

    as_nobody(work)


@needs_fork
def test_a_reader_of_read_only_files_sees_what_a_writer_adds(data_dir: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs a writer with more rights: root")
    with closing(create_store(data_dir)) as store:
        write_one(store)
        for path in data_dir.iterdir():
            path.chmod(0o444)
        data_dir.chmod(0o555)

        def work() -> None:
            with closing(open_store(data_dir)) as reading:
                assert check_whole(reading) == 2

        write_one(store)
        as_nobody(work)


@needs_fork
def test_a_read_only_folder_without_the_wal_says_so(data_dir: Path) -> None:
    create_store(data_dir).close()
    for ending in ("-wal", "-shm"):
        (data_dir / f"ledger.db{ending}").unlink()
    give_away(data_dir)

    def work() -> None:
        with problem("data_dir_unreadable"):
            open_store(data_dir)

    as_nobody(work)


@needs_fork
def test_a_folder_that_may_not_be_written_gets_no_ledger(data_dir: Path) -> None:
    give_away(data_dir)

    def work() -> None:
        with problem("ledger_unwritable"):
            create_store(data_dir)

    as_nobody(work)
    assert list(data_dir.iterdir()) == []


def test_a_ledger_on_the_network_is_read_but_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    with closing(create_store(data_dir)) as store:
        write_one(store)
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 1 0:1 / / rw - nfs server:/ rw\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", mounts)
    with closing(open_store(data_dir)) as store:
        assert check_whole(store) == 1
        with problem("network_filesystem"):
            write_one(store)
    with problem("network_filesystem"):
        create_store(tmp_path)
