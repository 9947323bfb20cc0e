"""Spool files: what was written is read again, and nothing else is."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.samples import SAMPLES

from memprove.ledger.domain import spool
from memprove.ledger.domain.events import RunEnded, RunStarted, StreamKept
from memprove.ledger.domain.labels import is_spooled

KEY = bytes(range(32))
BLOBS = {sha256(data).hexdigest(): data for data in (b"out", b"tree \0\n\xff")}
OUT, TREE = BLOBS


def spooled(count: int = 1) -> spool.SpooledRun:
    started, ended = SAMPLES["run.started"], SAMPLES["run.ended"]
    assert isinstance(started, RunStarted)
    assert isinstance(ended, RunEnded)
    kept = StreamKept(length=3, sha256="0" * 64, blob=OUT)
    return spool.SpooledRun(
        v=1,
        session=12,
        count=count,
        label="xk7q2mf",
        at=1_790_000_000_000,
        started=replace(started, tree=replace(started.tree, snapshot=TREE)),
        ended=replace(
            ended,
            stdout=kept,
            stderr=kept,
            tree=replace(ended.tree, snapshot=TREE),
            outcomes=None,
            run="xk7q2mf",
        ),
    )


def test_a_run_comes_back_with_its_blobs() -> None:
    run, blobs = spool.decode(spool.encode(spooled(), BLOBS, KEY), KEY)
    assert run == spooled()
    assert {sha256(blob).hexdigest() for blob in blobs} == set(BLOBS)


@given(st.data())
def test_a_changed_byte_is_refused(data: st.DataObject) -> None:
    file = bytearray(spool.encode(spooled(), BLOBS, KEY))
    at = data.draw(st.integers(0, len(file) - 1))
    file[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(spool.SpoolInvalid):
        spool.decode(bytes(file), KEY)


@given(st.integers(0, 10_000))
def test_a_file_that_is_cut_is_refused(length: int) -> None:
    file = spool.encode(spooled(), BLOBS, KEY)
    with pytest.raises(spool.SpoolInvalid):
        spool.decode(file[: min(length, len(file) - 1)], KEY)


@given(st.binary())
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(spool.SpoolInvalid):
        spool.decode(data, KEY)


def test_another_key_reads_nothing() -> None:
    with pytest.raises(spool.SpoolInvalid, match="this Session's key"):
        spool.decode(spool.encode(spooled(), BLOBS, KEY), KEY[::-1])


def test_a_blob_too_few_or_too_many_is_refused_under_the_right_key() -> None:
    lines = spool.encode(spooled(), BLOBS, KEY).split(b"\n")
    for forged in ([lines[0]], [*lines[:-2], lines[1]]):
        body = b"\n".join([*forged, b""])
        data = body + spool._mac(KEY, body) + b"\n"
        with pytest.raises(spool.SpoolInvalid, match="its blobs"):
            spool.decode(data, KEY)


@given(st.binary(min_size=32, max_size=32), st.integers(0, 10**9 - 1))
def test_a_key_comes_back(key: bytes, count: int) -> None:
    kept = spool.SpoolKey(key, count)
    assert spool.decode_key(spool.encode_key(kept)) == kept
    assert kept.digest == sha256(key).hexdigest()


@pytest.mark.parametrize("data", [b"", b"\xff", b"memprove-spool 00 1\n", b"x" * 300])
def test_what_is_no_key_is_refused(data: bytes) -> None:
    with pytest.raises(spool.SpoolInvalid):
        spool.decode_key(data)


@given(st.binary(min_size=6, max_size=6))
def test_a_label_is_an_x_and_six_letters_or_digits(random: bytes) -> None:
    assert is_spooled(spool.new_label(lambda _: random))
