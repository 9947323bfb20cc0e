"""A token as its holder has it, ``mpv_<id>_<secret>``; the ledger holds a hash of the secret."""

from collections.abc import Callable
from hashlib import sha256
from typing import Final

import msgspec

from memprove.ledger.problems import TOKEN_UNREADABLE
from memprove.ledger.tlog.note import encode_base64

_PREFIX: Final = "mpv"
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 32


class Token(msgspec.Struct, frozen=True):
    """An id and a secret."""

    id: str
    secret: str

    def __str__(self) -> str:
        return f"{_PREFIX}_{self.id}_{self.secret}"

    def __repr__(self) -> str:
        return f"Token({self.id}, …)"  # a secret is never printed

    @property
    def secret_hash(self) -> str:
        """Return what the ledger keeps. Secrets are random, so no salt is needed."""
        return sha256(self.secret.encode()).hexdigest()


def new_token(random: Callable[[int], bytes]) -> Token:
    """Return a new token made of *random* bytes."""
    secret = encode_base64(random(_SECRET_BYTES)).rstrip("=")
    return Token(random(_ID_BYTES).hex(), secret.replace("+", "-").replace("/", "_"))


def parse_token(text: str, source: str) -> Token:
    """Return the token in *text*; *source* says where it came from, never the text itself."""
    parts = text.strip().split("_", 2)
    if len(parts) != 3 or parts[0] != _PREFIX or not parts[1] or not parts[2]:
        raise TOKEN_UNREADABLE(f"{source} holds no memprove token")
    return Token(parts[1], parts[2])
