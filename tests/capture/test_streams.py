import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.streams import EDGE, ENDING, KEPT_HEAD, KEPT_TAIL, Last, Sink

SECRET, MARK = b"hunter2", b"[REDACTED:test]"
LONG = KEPT_HEAD + KEPT_TAIL + 4 * EDGE


def same(text: bytes) -> bytes:
    return text


@given(st.lists(st.binary()), st.booleans())
def test_any_chunks_give_the_record_of_the_whole(chunks: list[bytes], piecewise: bool) -> None:
    whole, parts = Sink(), Sink(same if piecewise else None)
    whole.feed(b"".join(chunks))
    for chunk in chunks:
        parts.feed(memoryview(chunk))
    assert parts.record() == whole.record()
    assert parts.ending() == whole.ending()


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_the_last_bytes_are_those_of_the_whole(chunks: list[bytes], size: int) -> None:
    last = Last(size)
    for chunk in chunks:
        last.add(chunk)
    assert last.joined() == b"".join(chunks)[-size:]


@given(st.binary())
def test_the_digest_is_that_of_the_bytes(output: bytes) -> None:
    sink = Sink(same)
    sink.feed(output)
    record = sink.record()
    assert record.sha256 == hashlib.sha256(output).hexdigest()
    assert (record.length, record.redacted, record.cut) == (len(output), False, 0)
    assert zlib.decompress(record.kept) == output


def test_of_a_long_stream_the_head_and_the_tail_are_kept() -> None:
    sink = Sink()
    sink.feed(b"h" * KEPT_HEAD)
    for _ in range(100):
        sink.feed(b"m" * 200_000)
    sink.feed(b"t" * KEPT_TAIL)
    record = sink.record()
    assert record.cut == 20_000_000
    assert zlib.decompress(record.kept) == b"h" * KEPT_HEAD + b"t" * KEPT_TAIL


def test_a_stream_of_exactly_the_cap_is_kept_whole() -> None:
    output = bytes(range(256)) * ((KEPT_HEAD + KEPT_TAIL) // 256)
    sink = Sink()
    sink.feed(output)
    assert sink.record().cut == 0
    assert zlib.decompress(sink.record().kept) == output


def test_the_ending_reaches_back_into_the_head() -> None:
    sink = Sink()
    sink.feed(b"h" * KEPT_HEAD + b"tail")
    assert sink.ending() == b"h" * (ENDING - 4) + b"tail"


def cut_out(text: bytes) -> bytes:
    return text.replace(SECRET, MARK)


def test_everything_recorded_is_of_the_redacted_stream() -> None:
    sink = Sink(cut_out)
    sink.feed(b"password hun")
    sink.feed(b"ter2\n")
    record = sink.record()
    expected = b"password [REDACTED:test]\n"
    assert record.redacted
    assert record.sha256 == hashlib.sha256(expected).hexdigest()
    assert (record.length, record.tail) == (len(expected), expected.decode())
    assert zlib.decompress(record.kept) == expected


@pytest.mark.parametrize("shift", range(-len(SECRET) - 1, 2))
@pytest.mark.parametrize("edge", [KEPT_HEAD, LONG - KEPT_TAIL])
def test_no_part_of_a_secret_at_an_edge_of_what_is_kept_is_kept(edge: int, shift: int) -> None:
    output = bytearray(b"." * LONG)
    output[edge + shift : edge + shift + len(SECRET)] = SECRET
    sink = Sink(cut_out)
    sink.feed(bytes(output))
    record = sink.record()
    kept = zlib.decompress(record.kept)
    assert record.redacted
    assert not any(SECRET[at : at + 3] in kept for at in range(len(SECRET) - 2))
    assert record.length == LONG == record.cut + len(kept)
    assert record.sha256 == hashlib.sha256(kept).hexdigest()


def test_a_long_stream_without_a_secret_has_the_digest_of_all_its_bytes() -> None:
    output = bytes(range(256)) * (LONG // 256)
    sink = Sink(cut_out)
    sink.feed(output)
    record = sink.record()
    assert not record.redacted
    assert record.sha256 == hashlib.sha256(output).hexdigest()


def test_the_tail_is_text_of_at_most_two_thousand_characters() -> None:
    sink = Sink()
    sink.feed("é🙂".encode() * 5_000 + b"\xff")
    tail = sink.record().tail
    assert len(tail) == 2_000
    assert tail.endswith("é🙂\\xff")
    assert "\\x" not in tail[:-4]


@given(st.binary(max_size=40))
def test_the_tail_of_any_bytes_is_valid_text(ending: bytes) -> None:
    sink = Sink()
    sink.feed(b"\x80" * 9_000 + ending)
    sink.record().tail.encode("utf-8")
