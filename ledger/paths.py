"""Paths as the ledger has them: text in UTF-8, whatever the locale of the process is."""

import os
from pathlib import Path

from memprove.ledger.problems import TEXT_INVALID


def to_text(path: Path) -> str:
    """Return *path* for an event; raises ``text_invalid`` for one that is not UTF-8."""
    try:
        return os.fsencode(path).decode()
    except UnicodeDecodeError:
        raise TEXT_INVALID(f"{path} is not UTF-8") from None


def from_text(text: str) -> Path:
    """Return the path that an event has as *text*."""
    return Path(os.fsdecode(text.encode()))
