"""Signed notes: text with Ed25519 signatures under it, after C2SP signed-note.

A **note** is UTF-8 text that ends in a newline, an empty line, and one line for each signature:

    If you think cryptography is the answer to your problem,
    then you don't know what your problem is.

    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng…=

A **signature line** is an em dash (U+2014), a space, the key's name, a space and the base64 of the
key id and the signature. The **key id** is SHA-256(name || 0x0A || 0x01 || public key)[:4], where
0x01 stands for Ed25519; name and key id together say which key signed. A **vkey** is a public key
as text: ``name+hex(key id)+base64(0x01 || public key)``.

The text means nothing before ``open_note`` has returned it.
"""

import base64
import re
from collections.abc import Iterable
from hashlib import sha256

import msgspec

from memprove.ledger.tlog import Invalid

MAX_NOTE_SIZE = 1 << 20
"""The longest note that is read, in bytes: 100 signatures, the longest in use, and a text."""
MAX_SIGNATURES = 100

_ED25519 = b"\x01"
_ID_SIZE = 4
_KEY_SIZE = 32
_DASH = "— "
_FORBIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\ud800-\udfff]")
_NAME = re.compile(r"[^\s+\x00-\x1f\ud800-\udfff]+")

_SMALL_ORDER = frozenset(
    bytes.fromhex(y)
    for y in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
"""The encodings, without the sign bit, of the points P with 8P = 0: anybody can sign for them."""


class NoteInvalid(Invalid):
    """A note that is malformed, or that no known key signed, or that a known key did not sign."""


class KeyInvalid(Invalid):
    """A key's name, a key or a vkey that is malformed."""


class Verifier(msgspec.Struct, frozen=True):
    """A name and an Ed25519 public key of 32 bytes. Raises KeyInvalid."""

    name: str
    public_key: bytes

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise KeyInvalid(f"not a key name: {self.name!r}")
        if len(self.public_key) != _KEY_SIZE:
            raise KeyInvalid(f"a public key has {_KEY_SIZE} bytes, not {len(self.public_key)}")
        if self.public_key[:-1] + bytes([self.public_key[-1] & 0x7F]) in _SMALL_ORDER:
            raise KeyInvalid("anybody can sign for this public key: it is of small order")

    @property
    def key_id(self) -> bytes:
        """Return the 4 bytes that tell this key from others of its name."""
        text = self.name.encode() + b"\n" + _ED25519 + self.public_key
        return sha256(text).digest()[:_ID_SIZE]

    def accepts(self, message: bytes, signature: bytes) -> bool:
        """Return whether *signature* is this key's over *message*, RFC 8032 section 5.1.7."""
        # late, here and below: a command that neither signs nor verifies need not wait for it
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, message)
        except (InvalidSignature, ValueError):  # ValueError: not a point of the curve
            return False
        return True


class Signer:
    """A name and an Ed25519 private key, from its seed of 32 bytes. Raises KeyInvalid."""

    __slots__ = ("_key", "verifier")

    def __init__(self, name: str, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if len(seed) != _KEY_SIZE:
            raise KeyInvalid(f"a seed has {_KEY_SIZE} bytes, not {len(seed)}")
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.verifier = Verifier(name, self._key.public_key().public_bytes_raw())

    def signature(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature over *message*, RFC 8032 section 5.1.6."""
        return self._key.sign(message)


class Signature(msgspec.Struct, frozen=True):
    """One signature line: who claims to have signed, and the signature without the key id."""

    name: str
    key_id: bytes
    value: bytes


class Note(msgspec.Struct, frozen=True):
    """A text and who signed it: *verified* holds one signature of each known key, at least one."""

    text: str
    verified: tuple[Signature, ...]
    unverified: tuple[Signature, ...]


def sign(text: str, signer: Signer) -> bytes:
    """Return the note of *text* with one signature. Raises NoteInvalid for what cannot be a text.

    Ed25519 is deterministic: the same text and key give the same note.
    """
    _check_characters(text)
    if not text.endswith("\n"):
        raise NoteInvalid("the text does not end in a newline")
    message = text.encode()
    verifier = signer.verifier
    signature = encode_base64(verifier.key_id + signer.signature(message))
    data = message + f"\n{_DASH}{verifier.name} {signature}\n".encode()
    if len(data) > MAX_NOTE_SIZE:
        raise NoteInvalid(f"longer than {MAX_NOTE_SIZE} bytes")
    return data


def open_note(data: bytes, verifiers: Iterable[Verifier]) -> Note:
    """Return the note in *data* if at least one of *verifiers* signed it.

    Raises NoteInvalid when it is malformed, when none of them signed, and when a signature that
    names one of them is false. Signatures of other keys are returned, unverified.
    """
    text, signatures = _parse(data)
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    verified: dict[Verifier, Signature] = {}
    unverified: list[Signature] = []
    message = text.encode()
    for signature in signatures:
        verifier = known.get((signature.name, signature.key_id))
        if verifier is None:
            unverified.append(signature)
        elif verifier.accepts(message, signature.value):
            verified[verifier] = signature
        else:
            raise NoteInvalid(f"false signature of {format_vkey(verifier)}")
    if not verified:
        raise NoteInvalid("no known key signed it")
    return Note(text, tuple(verified.values()), tuple(unverified))


def format_vkey(verifier: Verifier) -> str:
    """Return *verifier* as a vkey."""
    key = encode_base64(_ED25519 + verifier.public_key)
    return f"{verifier.name}+{verifier.key_id.hex()}+{key}"


def parse_vkey(text: str) -> Verifier:
    """Return the verifier of a vkey, of which there is one spelling. Raises KeyInvalid."""
    name, _, rest = text.partition("+")
    _, _, encoded = rest.partition("+")
    key = decode_base64(encoded)
    if key is not None:
        verifier = Verifier(name, key[1:])
        if format_vkey(verifier) == text:  # so the algorithm and the key id are right as well
            return verifier
    raise KeyInvalid(f"not a vkey of an Ed25519 key: {text!r}")


def encode_base64(data: bytes) -> str:
    """Return *data* in base64, RFC 4648 section 4."""
    return base64.b64encode(data).decode()


def decode_base64(text: str) -> bytes | None:
    """Return the bytes of *text*, None unless it is their one canonical base64."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if encode_base64(data) == text else None


def _parse(data: bytes) -> tuple[str, list[Signature]]:
    if len(data) > MAX_NOTE_SIZE:
        raise NoteInvalid(f"longer than {MAX_NOTE_SIZE} bytes")
    try:
        note = data.decode()
    except UnicodeDecodeError as error:
        raise NoteInvalid("not UTF-8") from error
    _check_characters(note)
    text, blank, lines = note.rpartition("\n\n")  # the last empty line: the text may have others
    if not blank or not lines.endswith("\n"):
        raise NoteInvalid("no signature lines after an empty line")
    if lines.count("\n") > MAX_SIGNATURES:
        raise NoteInvalid(f"more than {MAX_SIGNATURES} signatures")
    return text + "\n", [_parse_signature(line) for line in lines[:-1].split("\n")]


def _parse_signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    value = decode_base64(encoded)
    if (
        not line.startswith(_DASH)
        or _NAME.fullmatch(name) is None
        or value is None
        or len(value) <= _ID_SIZE
    ):
        raise NoteInvalid(f"not a signature line: {line[:80]!r}")
    return Signature(name, value[:_ID_SIZE], value[_ID_SIZE:])


def _check_characters(text: str) -> None:
    if _FORBIDDEN.search(text) is not None:
        raise NoteInvalid("a control character or a lone surrogate in it")
