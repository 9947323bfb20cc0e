"""What ``checkpoint --from`` reads: the same JSON that the checkpoint tool takes.

::

    {"facts": [{"text": "it works", "evidence": ["r1"], "paths": ["src/"]}, "it fails [!r2]"],
     "open_items": ["Windows not tried"], "closed_items": ["o1"],
     "reaffirm": ["c3"], "withdraw": [2], "next_action": "ship", "session": 6}

Everything may be left out; anything else is refused.
"""

import sys
from typing import Annotated, Final

import msgspec

from memprove.cli.words import given
from memprove.ledger.domain.events import Fact
from memprove.ledger.domain.labels import split_evidence
from memprove.ledger.problems import ARGUMENT_INVALID, TEXT_TOO_LONG

MOST: Final = 4 * 1024 * 1024
"""Bytes read: what the limits on a checkpoint allow is far below, however it is escaped."""


class _Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    evidence: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


_Number = Annotated[int, msgspec.Meta(ge=1)]


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint as JSON. A fact without ``evidence`` has it in its ending."""

    facts: tuple[_Fact | str, ...] = ()
    open_items: tuple[str, ...] = ()
    closed_items: tuple[str, ...] = ()
    reaffirm: tuple[str | _Number, ...] = ()
    withdraw: tuple[str | _Number, ...] = ()
    next_action: str | None = None
    session: _Number | None = None

    def stated(self) -> tuple[Fact, ...]:
        """Return the facts as events hold them."""
        return tuple(map(_stated, self.facts))


def read_statement(source: str) -> Statement:
    """Return what the file *source* (``-``: standard input) states."""
    data = _read(source)
    if len(data) > MOST:
        raise TEXT_TOO_LONG(f"--from has more than {MOST} bytes, which is the limit")
    try:
        return msgspec.json.decode(data, type=Statement)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ARGUMENT_INVALID(f"--from: {error}") from None


def _read(source: str) -> bytes:
    try:
        if source == "-":
            return b"" if sys.stdin is None else sys.stdin.buffer.read(MOST + 1)
        with open(given(source), "rb") as file:
            return file.read(MOST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ARGUMENT_INVALID(f"--from {source}: {reason}") from None


def _stated(fact: _Fact | str) -> Fact:
    text = fact if isinstance(fact, str) else fact.text
    paths = () if isinstance(fact, str) else fact.paths
    evidence = () if isinstance(fact, str) else fact.evidence
    if not evidence:
        text, evidence = split_evidence(text)
    return Fact(text=text, evidence=evidence, paths=paths)
