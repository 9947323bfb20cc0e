import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import (
    MAX_SIZE,
    Head,
    HeadInvalid,
    check_origin,
    format_head,
    open_head,
    parse_head,
    sign_head,
)
from memprove.ledger.tlog.merkle import EMPTY_ROOT
from memprove.ledger.tlog.note import NoteInvalid, Signer, open_note, sign

# the example of C2SP tlog-checkpoint
ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
SOFA = f"example.com/behind-the-sofa\n20852163\n{ROOT}\n"

ORIGIN = "example.com/ledger"
SIGNER = Signer(ORIGIN, bytes(range(32)))
HEAD = Head(ORIGIN, 7, bytes(range(32)))

heads = st.builds(
    Head,
    st.from_regex(r"[a-z0-9.-]+(/[A-Za-z0-9._-]+)+", fullmatch=True),
    st.integers(0, MAX_SIZE),
    st.binary(min_size=32, max_size=32),
)


def test_the_example_of_the_specification_is_read_and_written_alike() -> None:
    head = parse_head(SOFA)

    assert head == Head("example.com/behind-the-sofa", 20852163, base64.b64decode(ROOT))
    assert format_head(head) == SOFA


@given(heads)
def test_a_head_is_read_as_it_was_written(head: Head) -> None:
    assert parse_head(format_head(head)) == head


@given(heads, st.binary(min_size=32, max_size=32))
def test_a_signed_head_opens(head: Head, seed: bytes) -> None:
    signer = Signer(head.origin, seed)

    assert open_head(sign_head(head, signer), signer.verifier) == head


def test_a_signed_head_is_a_note_of_its_text() -> None:
    assert open_note(sign_head(HEAD, SIGNER), [SIGNER.verifier]).text == format_head(HEAD)


def test_the_empty_log_has_a_head() -> None:
    head = Head(ORIGIN, 0, EMPTY_ROOT)

    assert open_head(sign_head(head, SIGNER), SIGNER.verifier) == head


def test_a_head_is_signed_by_a_key_of_its_origin_only() -> None:
    with pytest.raises(HeadInvalid, match=r"under a key of example\.com/other"):
        sign_head(HEAD, Signer("example.com/other", bytes(32)))


def test_a_head_of_another_log_under_our_key_is_refused() -> None:
    foreign = sign(SOFA, SIGNER)

    with pytest.raises(HeadInvalid, match=r"a head of example\.com/behind-the-sofa under a key"):
        open_head(foreign, SIGNER.verifier)


def test_a_head_under_another_key_of_the_same_name_is_refused() -> None:
    with pytest.raises(NoteInvalid, match="no known key"):
        open_head(sign_head(HEAD, Signer(ORIGIN, bytes(32))), SIGNER.verifier)


def test_a_signed_text_that_is_no_head_is_refused() -> None:
    with pytest.raises(HeadInvalid, match="three lines"):
        open_head(sign("hello\n", SIGNER), SIGNER.verifier)


@given(st.integers(0, len(sign_head(HEAD, SIGNER)) - 1), st.integers(1, 255))
def test_a_signed_head_with_any_byte_changed_is_refused(place: int, change: int) -> None:
    changed = bytearray(sign_head(HEAD, SIGNER))
    changed[place] ^= change

    with pytest.raises(NoteInvalid):
        open_head(bytes(changed), SIGNER.verifier)


@given(st.binary())
def test_whatever_comes_as_a_signed_head_is_refused_in_order(data: bytes) -> None:
    with pytest.raises(Invalid):
        open_head(data, SIGNER.verifier)


@given(st.text() | st.text(st.sampled_from(SOFA)))
@example("")
@example(SOFA.removesuffix("\n"))
@example(SOFA + "\n")
@example(SOFA + "x")
@example(SOFA + "extension\n")
@example("\n" + SOFA)
@example(SOFA.replace("\n", "\r\n"))
@example(SOFA.replace("20852163", "020852163"))
@example(SOFA.replace("20852163", "00"))
@example(SOFA.replace("20852163", ""))
@example(SOFA.replace("20852163", "-1"))
@example(SOFA.replace("20852163", "+1"))
@example(SOFA.replace("20852163", " 1"))
@example(SOFA.replace("20852163", "1_0"))
@example(SOFA.replace("20852163", "١"))
@example(SOFA.replace("20852163", str(MAX_SIZE + 1)))
@example(SOFA.replace("20852163", "1" * 5000))
@example(SOFA.replace("q2I=", "q2J="))
@example(SOFA.replace("q2I=", "q2I"))
@example(SOFA.replace("q2I=", "qw=="))
@example(SOFA.replace("q2I=", "q2IA"))
@example(SOFA.replace("/X", "_X"))
@example(SOFA.replace(ROOT, ""))
@example(SOFA.replace("example.com/behind-the-sofa", "example.com"))
def test_whatever_comes_as_the_text_of_a_head_is_refused_in_order(text: str) -> None:
    with pytest.raises(HeadInvalid):
        parse_head(text)


@pytest.mark.parametrize("size", [-1, MAX_SIZE + 1])
def test_a_head_has_no_such_size(size: int) -> None:
    with pytest.raises(HeadInvalid, match="not a size"):
        Head(ORIGIN, size, EMPTY_ROOT)


def test_a_head_has_a_root_of_32_bytes() -> None:
    with pytest.raises(HeadInvalid, match="32 bytes"):
        Head(ORIGIN, 0, EMPTY_ROOT[:-1])


@pytest.mark.parametrize("origin", ["a/b", "example.com/ledger", "my-host.local/user/4F_a.b-c"])
def test_a_host_and_a_path_are_an_origin(origin: str) -> None:
    check_origin(origin)


@pytest.mark.parametrize(
    "origin",
    ["", "a", "a/", "/a", "a//b", "A/b", "a/b/", "a b/c", "a/b c", "a/b\n", "a+b/c", "é/a", "a/é"],
)
def test_anything_else_is_no_origin(origin: str) -> None:
    with pytest.raises(HeadInvalid, match="not an origin"):
        check_origin(origin)
