"""Begin a new origin, as the owner: what asking for it needs, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from memprove.ledger.operations.base import Operation


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger that goes on under a new origin, from event *seq* on.

    *lost* are the first and the last number of the events that are known to be missing; *aside* is
    the file that holds what was there before; *trust* the lines of both origins for a trust file.
    *revived* are the events whose payloads were erased in what was there, and are back.
    """

    origin: str
    before: str
    seq: int
    key: str
    lost: tuple[int, ...] = ()
    aside: str = ""
    trust: tuple[str, ...] = ()
    revived: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoreLedger(Operation[Restored]):
    """Put a backup in the ledger's place, or go on without its key, under a new origin.

    No transaction of the ledger can do it: see ``ledger/restoring.py``.
    """

    sends: ClassVar = ("restoreLedger",)
