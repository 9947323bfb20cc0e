"""What was erased is in no file of the store any more, or the next writer brings it out."""

import os
import random
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import pytest
from support.children import exit_code_of
from support.expected import problem
from support.stores import SHORT_WAIT, add_event

from memprove.ledger.storage import sqlite_scrub
from memprove.ledger.storage.interface import Store, StoredEvent, Writer
from memprove.ledger.storage.registry import create_store, open_store

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
Open = Callable[[], Store]


def add(writer: Writer, payload: bytes, stream: str = "ledger") -> int:
    """Append an event that holds *payload*, which is also in a row and in a blob."""
    seq, tail = writer.size() + 1, writer.stream_tail(stream)
    number = tail.stream_seq + 1 if tail else 1
    salt = sha256(payload).digest()[:16]
    writer.append(StoredEvent(seq, stream, number, "noted", b"leaf", payload, salt), [])
    return seq


def files(data_dir: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(data_dir.iterdir()))


def test_an_erased_event_keeps_all_but_payload_and_salt(open_store: Open) -> None:
    with open_store().write() as writer:
        kept = add_event(writer)
        erased = add_event(writer)
        writer.erase(erased.seq)
        writer.erase(erased.seq)
        assert writer.event(erased.seq).payload is None  # type: ignore[union-attr]
    with open_store().read() as reader:
        assert reader.event(kept.seq) == kept
        found = reader.event(erased.seq)
        assert found is not None
        assert (found.leaf, found.payload, found.salt) == (erased.leaf, None, None)
        assert list(reader.stream("ledger", after=1)) == [found]


def test_a_dropped_blob_is_gone_and_another_stays(open_store: Open) -> None:
    with open_store().write() as writer:
        writer.put_blob("00", b"data")
        writer.put_blob("01", b"data")
        writer.drop_blob("00")
        writer.drop_blob("00")
    with open_store().read() as reader:
        assert (reader.blob("00"), reader.blob("01")) == (None, b"data")


def test_what_was_erased_in_a_block_that_failed_is_there(store: Store) -> None:
    with store.write() as writer:
        added = add_event(writer)
        writer.put_blob("00", b"data")
    with suppress(KeyError), store.write() as writer:
        writer.erase(1)
        writer.drop_blob("00")
        raise KeyError
    with store.read() as reader:
        assert (reader.event(1), reader.blob("00")) == (added, b"data")


@pytest.mark.parametrize("seed", range(2))
def test_no_byte_of_what_was_erased_is_in_any_file(tmp_path: Path, seed: int) -> None:
    """Rows of all sizes come, change and go, so that pages split and join: copies stay in them."""
    draw = random.Random(seed)
    secrets: dict[int, bytes] = {}
    with closing(create_store(tmp_path)) as store:
        for _ in range(40):
            with store.write() as writer:
                for _ in range(10):
                    secret = b"SECRET%08d" % draw.randrange(10**8)
                    filler = b"x" * draw.choice([0, 30, 500, 2_000, 9_000])
                    seq = add(writer, filler + secret, f"task/{draw.randrange(5)}")
                    secrets[seq] = secret
                    writer.put_row("task", f"{draw.randrange(10**6):07}", secret * 3)
                    writer.put_blob(f"{seq:064}", filler + secret)
                for key, _ in list(writer.rows("task"))[:: draw.choice([2, 3])]:
                    writer.put_row("task", key, b"y" * draw.choice([1, 40, 300]))
        while secrets:
            chosen = draw.sample(sorted(secrets), min(len(secrets), 130))
            with store.write() as writer:
                gone = [secrets.pop(seq) for seq in chosen]
                for seq in chosen:
                    writer.erase(seq)
                    writer.drop_blob(f"{seq:064}")
                for key, value in list(writer.rows("task")):
                    if value[:14] in gone:
                        writer.put_row("task", key, b"[erased]")
            stored = files(tmp_path)
            assert not [secret for secret in gone if secret in stored]
            assert all(secret in stored for secret in secrets.values())
        assert {path.name for path in tmp_path.iterdir()} == {
            *("ledger.db", "ledger.db-shm", "ledger.db-wal")
        }


def test_while_somebody_reads_the_state_before_it_is_kept_and_said(tmp_path: Path) -> None:
    create_store(tmp_path).close()
    with (
        closing(open_store(tmp_path, wait=SHORT_WAIT)) as store,
        closing(open_store(tmp_path)) as other,
    ):
        with store.write() as writer:
            add(writer, b"SECRET")
        with other.read() as reader:
            before = reader.event(1)
            with problem("erasure_unfinished", "another process"), store.write() as writer:
                writer.erase(1)
            assert reader.event(1) == before
        assert b"SECRET" in files(tmp_path)
        with other.read() as reader:
            assert reader.event(1).payload is None  # type: ignore[union-attr]
        with other.write() as writer:
            add_event(writer)
        assert b"SECRET" not in files(tmp_path)


@needs_fork
@pytest.mark.parametrize("step", ["plan", "scrub", "_write"])
def test_a_writer_killed_at_any_step_leaves_it_undone_or_to_the_next_one(
    tmp_path: Path, step: str
) -> None:
    with closing(create_store(tmp_path)) as store, store.write() as writer:
        add(writer, b"SECRET")

    def work() -> None:
        setattr(sqlite_scrub, step, lambda *_: os._exit(9))
        with closing(open_store(tmp_path)) as store, store.write() as writer:
            writer.erase(1)

    assert exit_code_of(work) == 9
    with closing(open_store(tmp_path)) as store:
        with store.read() as reader:
            found = reader.event(1)
        assert found is not None
        assert (found.payload is None) == (step == "scrub")
        with store.write() as writer:
            writer.erase(1)
        assert b"SECRET" not in files(tmp_path)


def test_erased_bytes_leave_no_trace_in_a_store_that_was_open_before(tmp_path: Path) -> None:
    with closing(create_store(tmp_path)) as store, closing(open_store(tmp_path)) as other:
        with store.write() as writer:
            add(writer, b"SECRET" * 2_000)
        with other.read() as reader:
            assert reader.size() == 1
        with store.write() as writer:
            writer.erase(1)
        assert b"SECRET" not in files(tmp_path)
        with other.write() as writer:
            add_event(writer)
        with other.read() as reader:
            assert next(reader.events()).payload is None
        assert other.data_version() > 0
    with closing(open_store(tmp_path)) as store, store.read() as reader:
        assert reader.size() == 2
