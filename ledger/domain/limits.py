"""Limits on what is said. Over a limit nothing is cut and nothing recorded."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from memprove.ledger.problems import ARGUMENT_MISSING, TEXT_INVALID, TEXT_TOO_LONG, TOO_MANY

STATEMENT: Final = 2_000
"""Characters of a fact, an open item, a next action, a note or a comment."""
DECISION: Final = 8_000
"""Characters of all fields of a Decision together; also of a Task's description."""
TITLE: Final = 200
NAME: Final = 100
"""Characters of an agent's name or role."""
ENTRIES: Final = 50
"""Facts and items in one checkpoint; also citations of one fact, alternatives of a Decision."""


def check_text(field: str, text: str, limit: int) -> None:
    """Raise ``text_invalid`` or ``text_too_long`` unless *text* may be kept as *field*."""
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise TEXT_INVALID(field)
    if len(text) > limit:
        raise TEXT_TOO_LONG(f"{field} has {len(text)} characters, the limit is {limit}")


def check_needed(field: str, text: str, limit: int) -> None:
    """Do as ``check_text``, and raise ``argument_missing`` if *text* is blank."""
    if not text.strip():
        raise ARGUMENT_MISSING(field)
    check_text(field, text, limit)


def check_count(field: str, entries: Sequence[object], limit: int = ENTRIES) -> None:
    """Raise ``too_many`` unless there are at most *limit* entries."""
    if len(entries) > limit:
        raise TOO_MANY(f"{field} has {len(entries)} entries, the limit is {limit}")


def folded(text: str) -> str:
    """Return *text* for comparison: Unicode NFC, white space folded."""
    return " ".join(unicodedata.normalize("NFC", text).split())
