import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memprove.ledger.tlog.note import (
    MAX_NOTE_SIZE,
    MAX_SIGNATURES,
    KeyInvalid,
    NoteInvalid,
    Signer,
    Verifier,
    decode_base64,
    encode_base64,
    format_vkey,
    open_note,
    parse_vkey,
    sign,
)

VECTORS = Path(__file__).parents[1] / "vectors"


class SignatureVector(msgspec.Struct):
    seed: str
    public_key: str
    message: str
    signature: str


class SignatureVectors(msgspec.Struct):
    signatures: list[SignatureVector]


class NoteVector(msgspec.Struct):
    seed: str
    vkey: str
    text: str
    note: str
    other_vkeys: list[str]


RFC8032 = msgspec.json.decode((VECTORS / "rfc8032.json").read_bytes(), type=SignatureVectors)
EXAMPLE = msgspec.json.decode((VECTORS / "signed_note.json").read_bytes(), type=NoteVector)

SIGNER = Signer("example.com/ledger", bytes(range(32)))
STRANGER = Signer("example.com/stranger", bytes(32))
TEXT = "one\n\ntwo — with a dash\n"
NOTE = sign(TEXT, SIGNER)
LINE = NOTE.removeprefix(TEXT.encode() + b"\n").decode()
STRANGER_LINE = sign(TEXT, STRANGER).removeprefix(TEXT.encode() + b"\n").decode()

names = st.text(st.characters(codec="utf-8", min_codepoint=33), min_size=1).filter(
    lambda name: not any(c.isspace() or c == "+" for c in name)
)
seeds = st.binary(min_size=32, max_size=32)
texts = st.text(st.characters(codec="utf-8", min_codepoint=32) | st.just("\n")).map(
    lambda text: text + "\n"
)


# The published vectors


@pytest.mark.parametrize("vector", RFC8032.signatures)
def test_signatures_are_those_of_rfc_8032(vector: SignatureVector) -> None:
    signer = Signer("example.com/rfc8032", bytes.fromhex(vector.seed))
    message = bytes.fromhex(vector.message)

    assert signer.verifier.public_key.hex() == vector.public_key
    assert signer.signature(message).hex() == vector.signature
    assert signer.verifier.accepts(message, bytes.fromhex(vector.signature))
    assert not signer.verifier.accepts(message + b"\x00", bytes.fromhex(vector.signature))


def test_the_example_note_of_go_is_signed_alike() -> None:
    signer = Signer("PeterNeumann", bytes.fromhex(EXAMPLE.seed))

    assert format_vkey(signer.verifier) == EXAMPLE.vkey
    assert sign(EXAMPLE.text, signer).decode() == EXAMPLE.note


def test_the_example_note_of_go_opens() -> None:
    note = open_note(EXAMPLE.note.encode(), [parse_vkey(EXAMPLE.vkey)])

    assert note.text == EXAMPLE.text
    assert [signature.name for signature in note.verified] == ["PeterNeumann"]
    assert note.unverified == ()


@pytest.mark.parametrize("vkey", EXAMPLE.other_vkeys)
def test_published_vkeys_are_read_and_written_alike(vkey: str) -> None:
    assert format_vkey(parse_vkey(vkey)) == vkey


# Round trips


@given(texts, names, seeds)
def test_what_was_signed_opens(text: str, name: str, seed: bytes) -> None:
    signer = Signer(name, seed)

    assert open_note(sign(text, signer), [signer.verifier]).text == text


@given(names, seeds)
def test_a_vkey_is_read_as_it_was_written(name: str, seed: bytes) -> None:
    verifier = Signer(name, seed).verifier

    assert parse_vkey(format_vkey(verifier)) == verifier


@given(st.binary())
def test_base64_is_read_as_it_was_written(data: bytes) -> None:
    assert decode_base64(encode_base64(data)) == data


# Several signatures


def test_unknown_signatures_are_returned_unverified() -> None:
    note = open_note(NOTE + STRANGER_LINE.encode(), [SIGNER.verifier])

    assert [signature.name for signature in note.verified] == ["example.com/ledger"]
    assert [signature.name for signature in note.unverified] == ["example.com/stranger"]
    assert note.unverified[0].key_id == STRANGER.verifier.key_id
    assert STRANGER.verifier.accepts(TEXT.encode(), note.unverified[0].value)


def test_two_known_keys_are_both_verified() -> None:
    note = open_note(NOTE + STRANGER_LINE.encode(), [STRANGER.verifier, SIGNER.verifier])

    assert len(note.verified) == 2


def test_a_signature_written_twice_counts_once() -> None:
    assert len(open_note(NOTE + LINE.encode(), [SIGNER.verifier]).verified) == 1


def test_a_hundred_signatures_are_read_and_no_more() -> None:
    full = NOTE + STRANGER_LINE.encode() * (MAX_SIGNATURES - 1)

    assert len(open_note(full, [SIGNER.verifier]).unverified) == MAX_SIGNATURES - 1
    with pytest.raises(NoteInvalid, match="more than 100 signatures"):
        open_note(full + STRANGER_LINE.encode(), [SIGNER.verifier])


def test_a_false_signature_beside_a_good_one_is_refused() -> None:
    false = encode_base64(SIGNER.verifier.key_id + bytes(64))

    with pytest.raises(NoteInvalid, match=r"false signature of example\.com/ledger\+"):
        open_note(NOTE + f"— example.com/ledger {false}\n".encode(), [SIGNER.verifier])


def test_another_key_of_the_same_name_is_unknown() -> None:
    other = Signer(SIGNER.verifier.name, bytes(32))

    with pytest.raises(NoteInvalid, match="no known key"):
        open_note(NOTE, [other.verifier])


def test_without_a_key_nothing_opens() -> None:
    with pytest.raises(NoteInvalid, match="no known key"):
        open_note(NOTE, [])


# Malformed notes


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        TEXT,
        TEXT + "\n",
        TEXT + LINE,
        "\n" + LINE,
        TEXT + "\n" + LINE.removesuffix("\n"),
        TEXT + "\n" + LINE.replace("\n", "x"),
        TEXT + "\n" + LINE + "\n",
        TEXT + "\n" + LINE + "more\n",
        TEXT + "\n" + LINE + LINE.replace("— ", "- "),
        TEXT + "\n" + LINE + LINE.replace("— ", "—"),
        TEXT + "\n" + LINE + LINE.replace("— ", "—\u00a0"),
        TEXT + "\n" + LINE + LINE.replace("\n", " \n"),
        TEXT + "\n" + LINE + LINE.replace("=\n", "\n"),
        TEXT + "\n" + LINE.replace("example", "exam+ple") + LINE,
        TEXT + "\n" + LINE.replace("example", "exam\u2003ple") + LINE,
        TEXT + "\n" + LINE + "—  " + encode_base64(bytes(68)) + "\n",
        TEXT + "\n" + LINE + "— short " + encode_base64(bytes(4)) + "\n",
        TEXT + "\n" + LINE + "— loose AAAAAAB=\n",
        TEXT.replace("one", "ten") + "\n" + LINE,
    ],
)
def test_a_malformed_note_is_refused(note: str) -> None:
    with pytest.raises(NoteInvalid):
        open_note(note.encode(), [SIGNER.verifier])


@pytest.mark.parametrize("character", ["\x00", "\t", "\r", "\x1f"])
def test_a_control_character_is_refused_even_if_it_was_signed(character: str) -> None:
    message = f"one{character}\n".encode()
    signature = encode_base64(SIGNER.verifier.key_id + SIGNER.signature(message))
    note = message + f"\n— {SIGNER.verifier.name} {signature}\n".encode()

    with pytest.raises(NoteInvalid, match="control character"):
        open_note(note, [SIGNER.verifier])


@pytest.mark.parametrize("data", [b"\xff\n\n", b"\xed\xa0\x80\n\n", b"\xc0\x8a\n\n"])
def test_a_note_that_is_not_utf_8_is_refused(data: bytes) -> None:
    with pytest.raises(NoteInvalid, match="not UTF-8"):
        open_note(data + LINE.encode(), [SIGNER.verifier])


@pytest.mark.parametrize("text", ["", "no newline", "tab\t\n", "return\r\n", "\ud800\n"])
def test_what_cannot_be_a_text_is_not_signed(text: str) -> None:
    with pytest.raises(NoteInvalid):
        sign(text, SIGNER)


def test_a_note_that_is_too_long_is_neither_signed_nor_read() -> None:
    text = "x" * MAX_NOTE_SIZE + "\n"

    with pytest.raises(NoteInvalid, match="longer than"):
        sign(text, SIGNER)
    with pytest.raises(NoteInvalid, match="longer than"):
        open_note(text.encode() + b"\n" + LINE.encode(), [SIGNER.verifier])


@given(st.integers(0, len(NOTE) - 1), st.integers(1, 255))
def test_a_note_with_any_byte_changed_is_refused(place: int, change: int) -> None:
    changed = bytearray(NOTE)
    changed[place] ^= change

    with pytest.raises(NoteInvalid):
        open_note(bytes(changed), [SIGNER.verifier])


@given(
    st.binary()
    | st.text(st.sampled_from(LINE + "\n\n—  +=\x00\u2028\u00e9")).map(str.encode)
    | st.lists(st.sampled_from([LINE, STRANGER_LINE, "\n", "—", " ", "x"])).map(
        lambda parts: "".join(parts).encode()
    )
)
def test_whatever_comes_as_a_note_is_refused_in_order(data: bytes) -> None:
    with pytest.raises(NoteInvalid):
        open_note(data, [SIGNER.verifier])


# Keys


@given(st.text() | st.text(st.sampled_from(EXAMPLE.vkey + "\n =")))
@example(EXAMPLE.vkey + "\n")
@example(EXAMPLE.vkey.replace("+c7", "+C7"))
@example(EXAMPLE.vkey.replace("+c7", "+c8"))
@example(EXAMPLE.vkey.replace("Peter", "Petra"))
@example(EXAMPLE.vkey.replace("+AR", "+BR"))
@example(EXAMPLE.vkey[:-4])
@example("remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2")
@example("name")
@example("+\ud800+")
def test_whatever_comes_as_a_vkey_is_refused_in_order(text: str) -> None:
    with pytest.raises(KeyInvalid):
        parse_vkey(text)


@pytest.mark.parametrize("name", ["", " ", "a b", "a+b", "a\nb", "a\u3000b", "a\x00", "\udfff"])
def test_a_name_that_would_break_the_line_is_refused(name: str) -> None:
    with pytest.raises(KeyInvalid, match="not a key name"):
        Signer(name, bytes(32))


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_key_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(KeyInvalid, match="a seed has 32 bytes"):
        Signer("example.com/ledger", b"\x07" * size)
    with pytest.raises(KeyInvalid, match="a public key has 32 bytes"):
        Verifier("example.com/ledger", b"\x07" * size)


@pytest.mark.parametrize(
    "key",
    [
        bytes(32),
        bytes(31) + b"\x80",
        b"\x01" + bytes(31),
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
        bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
        b"\xec" + b"\xff" * 30 + b"\x7f",
        b"\xed" + b"\xff" * 31,
        b"\xee" + b"\xff" * 31,
    ],
)
def test_a_key_for_which_anybody_can_sign_is_refused(key: bytes) -> None:
    with pytest.raises(KeyInvalid, match="anybody can sign"):
        Verifier("example.com/ledger", key)


def test_a_key_that_is_no_point_accepts_nothing() -> None:
    assert not Verifier("example.com/ledger", b"\x02" + bytes(31)).accepts(b"", bytes(64))


@given(st.binary(max_size=80))
def test_whatever_comes_as_a_signature_is_not_accepted(signature: bytes) -> None:
    assert not SIGNER.verifier.accepts(b"message", signature)


def test_a_signer_does_not_show_its_seed() -> None:
    assert bytes(range(32)).hex() not in repr(SIGNER)
    assert repr(bytes(range(32))) not in repr(SIGNER)


def test_reading_the_package_does_not_load_the_cryptography_library() -> None:
    program = "import memprove.ledger.tlog.head, sys; sys.exit('cryptography' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
