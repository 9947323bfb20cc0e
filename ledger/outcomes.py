"""The outcomes of single tests as a blob: zlib-compressed JSON, ``[[id, outcome], …]`` by id."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from memprove.ledger.problems import LEDGER_DAMAGED

if TYPE_CHECKING:
    from memprove.ledger.domain.redaction import Redactor

MOST_OUTCOMES: Final = 256 * 1024 * 1024
_ROWS: Final = msgspec.json.Decoder(list[tuple[str, str]])


def encode_outcomes(outcomes: Sequence[tuple[str, str]], redactor: Redactor) -> bytes:
    """Return the blob of *outcomes*, the secrets cut out of their ids."""
    ids = [id for id, _ in outcomes]
    if redactor.text("\n".join(ids)) != "\n".join(ids):  # rarely: then each by itself
        outcomes = [(redactor.text(id), outcome) for id, outcome in outcomes]
    return zlib.compress(msgspec.json.encode(outcomes))


def decode_outcomes(plain: bytes) -> Mapping[str, str]:
    """Return the outcome of each test by its id, from what the blob holds."""
    try:
        return dict(_ROWS.decode(plain))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LEDGER_DAMAGED(f"outcomes of tests: {error}") from None
