"""Signed tree heads, after C2SP tlog-checkpoint.

A **head** says that the log named *origin* had *size* leaves under *root*. It is signed as a note
(see ``note``) whose text is three lines, by a key that has the origin as its name:

    example.com/behind-the-sofa
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

The size is decimal without leading zeros, the root is base64. The extension lines of the
specification are refused: nobody could audit what they say.
"""

import re

import msgspec

from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.merkle import HASH_SIZE
from memprove.ledger.tlog.note import (
    Signer,
    Verifier,
    decode_base64,
    encode_base64,
    open_note,
    sign,
)

MAX_SIZE = (1 << 63) - 1
"""The most leaves a head can speak of: a signed 64-bit number in every store."""

_ORIGIN = re.compile(r"[a-z0-9.-]+(/[A-Za-z0-9._-]+)+")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class HeadInvalid(Invalid):
    """A head that is malformed, or an origin, or a head of another log than the key's."""


class Head(msgspec.Struct, frozen=True):
    """The state of a log: *size* leaves under the 32-byte *root*. Raises HeadInvalid."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        check_origin(self.origin)
        if not 0 <= self.size <= MAX_SIZE:
            raise HeadInvalid(f"not a size: {self.size}")
        if len(self.root) != HASH_SIZE:
            raise HeadInvalid(f"a root has {HASH_SIZE} bytes, not {len(self.root)}")


def sign_head(head: Head, signer: Signer) -> bytes:
    """Return *head* as a signed note. Raises HeadInvalid unless the signer's name is its origin."""
    _check_name(head, signer.verifier)
    return sign(format_head(head), signer)


def open_head(data: bytes, verifier: Verifier) -> Head:
    """Return the head in the note *data*, signed by *verifier*, whose name is its origin.

    Raises NoteInvalid when the note does not hold, HeadInvalid when its text is no head or speaks
    of another log.
    """
    head = parse_head(open_note(data, [verifier]).text)
    _check_name(head, verifier)
    return head


def format_head(head: Head) -> str:
    """Return the text of *head*, three lines."""
    return f"{head.origin}\n{head.size}\n{encode_base64(head.root)}\n"


def parse_head(text: str) -> Head:
    """Return the head whose text is *text*, of which there is one spelling. Raises HeadInvalid."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] != "":
        raise HeadInvalid("a head is three lines: origin, size and root")
    origin, size, root = lines[:3]
    digest = decode_base64(root)
    if _SIZE.fullmatch(size) is None:
        raise HeadInvalid(f"not a size: {size!r}")
    if digest is None:
        raise HeadInvalid(f"not a root: {root!r}")
    return Head(origin, int(size), digest)


def check_origin(text: str) -> None:
    """Check that *text* can name a log: a host, then path segments. Raises HeadInvalid.

    A segment may be ``..``: an origin is never used as the path of a file.
    """
    if _ORIGIN.fullmatch(text) is None:
        raise HeadInvalid(f"not an origin, such as example.com/ledger: {text!r}")


def _check_name(head: Head, verifier: Verifier) -> None:
    if head.origin != verifier.name:
        raise HeadInvalid(f"a head of {head.origin} under a key of {verifier.name}")
