"""The outcomes of single tests as a blob: zlib-compressed JSON, ``[[id, outcome], …]`` by id."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from memprove.ledger.problems import LEDGER_DAMAGED

if TYPE_CHECKING:
    from memprove.ledger.domain.redaction import Redactor
    from memprove.ledger.domain.run import Run

MOST_OUTCOMES: Final = 256 * 1024 * 1024
_ROWS: Final = msgspec.json.Decoder(list[tuple[str, str]])


class Reports:
    """The outcomes of single tests, by Run; each report is read once."""

    def __init__(self, read_blob: Callable[[str, int], bytes]) -> None:
        self._read_blob = read_blob
        self._known: dict[str, Mapping[str, str]] = {}

    def __call__(self, run: Run) -> Mapping[str, str]:
        """Return the outcome of each test of *run*; empty if no report came with it."""
        digest = run.ended.outcomes if run.ended else None
        if digest is None:
            return {}
        if digest not in self._known:
            self._known[digest] = decode_outcomes(self._read_blob(digest, MOST_OUTCOMES))
        return self._known[digest]


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
