import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.capture.pieces import BLOCK, REACH, Pieces

WORD = b"secret-word"
BLOCKED = re.compile(rb"BEGIN[^=]*?END")


def redact(text: bytes) -> bytes:
    return BLOCKED.sub(b"[block]", text.replace(WORD, b"[word]"))


def redacted(chunks: list[bytes], *, block: int = 200, reach: int = 40, step: int = 1) -> bytes:
    pieces = Pieces(redact, block=block, reach=reach, step=step)
    done = [redact(piece) for chunk in chunks for piece in pieces.feed(chunk)]
    return b"".join([*done, redact(pieces.rest())])


texts = st.lists(
    st.sampled_from([WORD, b"secret-", b"word", b"BEGIN\nx\nEND", b"=", b"\n", b"\xff", b"a" * 30])
).map(b"".join)


@given(texts, st.lists(st.integers(0, 400)))
def test_any_chunks_are_redacted_as_the_whole(text: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(edges)]
    assert redacted(chunks) == redact(text)


def test_a_secret_at_every_place_of_a_long_line_is_seen() -> None:
    for before in range(BLOCK - REACH - len(WORD) - 2, BLOCK - REACH + 2):
        line = b"a" * before + WORD + b"b" * BLOCK
        assert redacted([line], block=BLOCK, reach=REACH, step=4096) == redact(line)


def test_a_block_of_many_lines_is_not_cut() -> None:
    key = b"BEGIN\n" + b"x" * 64 + b"\n" + b"END\n"
    text = (b"line\n" * 3 + key) * 20
    assert redacted([text], block=400, reach=100, step=10) == redact(text)


def test_what_is_gathered_stays_small() -> None:
    pieces = Pieces(redact)
    lengths = [len(piece) for _ in range(40) for piece in pieces.feed(b"x" * 100_000)]
    assert max(lengths) <= BLOCK
    assert sum(lengths) + len(pieces.rest()) == 4_000_000
