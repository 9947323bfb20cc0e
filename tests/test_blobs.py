"""Blobs: what an event names, or nothing; never more of it than was asked for."""

import zlib
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.expected import problem

from memprove.ledger.blobs import read_blob
from memprove.ledger.storage.interface import Reader
from memprove.ledger.storage.memory import MemoryStore

PLAIN = b"what a command wrote"
GOOD = zlib.compress(PLAIN)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def read(data: bytes, most: int, *, under: str = "") -> bytes:
    store = MemoryStore()
    with store.write() as writer:
        writer.put_blob(under or digest(data), data)
    with store.read() as reader:
        return read_blob(reader, under or digest(data), most)


@pytest.fixture
def reader() -> Iterator[Reader]:
    with MemoryStore().read() as reader:
        yield reader


@given(st.binary(max_size=2_000))
def test_a_blob_comes_back_as_it_was(plain: bytes) -> None:
    assert read(zlib.compress(plain), len(plain)) == plain


def test_a_blob_that_is_not_there_is_damage(reader: Reader) -> None:
    with problem("ledger_damaged", "is missing"):
        read_blob(reader, "00", 9)


def test_other_data_under_a_digest_is_damage() -> None:
    with problem("ledger_damaged", "is another one"):
        read(zlib.compress(b"forged"), 99, under=digest(GOOD))


@pytest.mark.parametrize("data", [b"", PLAIN, GOOD[:-1], GOOD + b"x", GOOD[:-4] + bytes(4)])
def test_what_does_not_decompress_is_damage(data: bytes) -> None:
    with problem("ledger_damaged"):
        read(data, 99)


def test_more_than_was_asked_for_is_never_decompressed() -> None:
    bomb = zlib.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    with problem("ledger_damaged", "more than 1000 bytes"):
        read(bomb, 1_000)
    with problem("ledger_damaged", f"more than {len(PLAIN) - 1} bytes"):
        read(GOOD, len(PLAIN) - 1)
