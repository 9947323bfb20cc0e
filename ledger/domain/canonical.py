"""The one canonical form of bytes: a strict I-JSON profile (RFC 7493) of JCS (RFC 8785).

Objects have sorted keys ``[a-z0-9_]{1,64}``; no floats; integers within ±(2^53-1); no duplicate
keys; valid UTF-8; depth at most 32. In this profile compact JSON with sorted keys is JCS.
"""

import json
import re
from typing import Any, Final

import msgspec

MAX_INT: Final = 2**53 - 1
MAX_DEPTH: Final = 32
MAX_LEAF: Final = 4 * 1024
MAX_PAYLOAD: Final = 1024 * 1024

_TOO_DEEP: Final = f"nested more than {MAX_DEPTH} deep"
_KEY: Final = re.compile(r"[a-z0-9_]{1,64}")
_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class NotCanonical(ValueError):
    """The value or the bytes are outside the profile."""


def encode(value: object) -> bytes:
    """Return the canonical bytes of *value* (a Struct, or plain JSON values)."""
    try:
        _check(msgspec.to_builtins(value), MAX_DEPTH)
        return _ENCODER.encode(value)
    except UnicodeEncodeError as error:
        raise NotCanonical("text is not valid Unicode") from error
    except RecursionError:
        raise NotCanonical(_TOO_DEEP) from None


def check(data: bytes) -> None:
    """Raise NotCanonical unless *data* is in canonical form, byte for byte."""
    try:
        value = json.loads(data, object_pairs_hook=_no_duplicates, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(str(error)) from None
    if encode(value) != data:
        raise NotCanonical("not in canonical form")


def _check(value: Any, depth: int) -> None:
    """Check *value*, which may be nested *depth* deep."""
    if depth == 0 and isinstance(value, dict | list | tuple):
        raise NotCanonical(_TOO_DEEP)
    match value:
        case None | bool():
            return
        case int():
            if not -MAX_INT <= value <= MAX_INT:
                raise NotCanonical(f"integer beyond 2^53-1: {value}")
        case str():
            if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
                raise NotCanonical("text is not valid Unicode")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str) or _KEY.fullmatch(key) is None:
                    raise NotCanonical(f"key {key!r}")
                _check(item, depth - 1)
        case list() | tuple():
            for item in value:
                _check(item, depth - 1)
        case _:
            raise NotCanonical(f"a {type(value).__name__} has no canonical form")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotCanonical("duplicate key")
    return result


def _refuse(constant: str) -> None:
    raise NotCanonical(constant)
