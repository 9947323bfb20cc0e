"""Every byte of a small ledger's files: a flipped bit is found, or it changed nothing at all.

What nobody finds must be nothing: then all rows of all tables are as they were, and the schema.
What is lost of SQLite's log of what came last leaves the ledger as it was after an earlier commit;
that is found by who remembers a later one.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from support.logs import BLOB, DATA, Log, a_run, a_task, registered, run_ended

from memprove.ledger import projections
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.verify import verify
from memprove.ledger.problems import Problem
from memprove.ledger.storage.registry import FILE_NAME, create_store, open_store

SLICES = 8
FRAME = 24 + 4096
STEP = 61
"""Without ``--all``: every so many bytes, one of their bits."""


def write(folder: Path) -> Iterator[Log]:
    """Make a ledger of several commits in *folder*; yield it after each of them."""
    log = Log(create_store(folder)).begin()
    yield log
    log.append([registered(), a_task()])
    yield log
    log.append([a_run(), run_ended()], blobs=[(BLOB, DATA)])
    yield log
    log.append([a_task("two")])
    yield log
    log.store.close()


@pytest.fixture
def pin(tmp_path: Path) -> Pin:
    """Return the pin of a ledger whose file lies alone in *tmp_path*."""
    *_, log = write(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:  # less room between the rows
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA page_size = 512")
        database.execute("VACUUM")
        database.execute("PRAGMA journal_mode = WAL")
    return log.pin


@pytest.mark.timeout(900)
@pytest.mark.parametrize("slice_", range(SLICES))
def test_a_flipped_bit_is_found_or_changed_nothing(
    tmp_path: Path, pin: Pin, slice_: int, thorough: bool
) -> None:
    file = tmp_path / FILE_NAME
    whole = file.read_bytes()
    rows = content(file)
    assert is_found(tmp_path, pin) is False
    unfound = 0
    for at in places(len(whole), slice_, thorough):
        file.write_bytes(flipped(whole, at))
        for beside in ("-wal", "-shm"):
            Path(f"{file}{beside}").unlink(missing_ok=True)
        if not is_found(tmp_path, pin):
            unfound += 1
            assert content(file) == rows, f"byte {at} of {len(whole)}"
    assert unfound


@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_what_is_lost_of_the_last_commits_leaves_the_ledger_of_an_earlier_one(
    tmp_path: Path, how: str, thorough: bool
) -> None:
    at_work, after = tmp_path / "at-work", tmp_path / "after"
    at_work.mkdir()
    states = set()
    for log in write(at_work):
        states.add(content(at_work / FILE_NAME))
        newest = log.head().note
        shutil.copytree(at_work, tmp_path / "crashed", dirs_exist_ok=True)
    seen = []
    wal = Path(f"{tmp_path / 'crashed' / FILE_NAME}-wal").read_bytes()
    for at in range(0, len(wal), 61 if thorough else FRAME // 3):
        left = (
            wal[:at] if how == "cut" else wal[:at] + bytes([wal[at] ^ 1 << at % 8]) + wal[at + 1 :]
        )
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(tmp_path / "crashed", after)
        Path(f"{after / FILE_NAME}-shm").unlink()
        Path(f"{after / FILE_NAME}-wal").write_bytes(left)
        if not is_found(after, log.pin):
            assert content(after / FILE_NAME) in states, at
            seen.append(is_found(after, log.pin, newest))
    assert {True} <= set(seen) <= {True, False}


def flipped(data: bytes, at: int) -> bytes:
    """Return *data* with a bit of byte *at* turned."""
    return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]


def places(size: int, slice_: int, thorough: bool) -> Iterator[int]:
    """Yield the bytes to try: all of them between the slices, or some."""
    yield from range(slice_, size, SLICES if thorough else SLICES * STEP)


def is_found(folder: Path, pin: Pin, required: bytes | None = None) -> bool:
    """Tell whether the store refuses the file or verify finds something."""
    try:
        with closing(open_store(folder)) as store, store.read() as reader:
            return not verify(reader, pin, project=projections.apply, required=required).ok
    except Problem:
        return True


def content(file: Path) -> bytes:
    """Return a digest of all that can be read in the file."""
    said = sha256()
    with closing(sqlite3.connect(f"file:{os.fspath(file)}?mode=ro", uri=True)) as database:
        schema = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        said.update(repr(schema).encode())
        for kind, name, *_ in schema:
            if kind == "table":
                said.update(repr(database.execute(f"SELECT * FROM {name}").fetchall()).encode())
    return said.digest()
