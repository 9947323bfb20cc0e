"""Spooling: where the ledger cannot be written, a Run is kept in the Workspace until it can.

Nothing of the ledger is at hand then. What there is: the key that ``begin`` left for the Session in
the work tree, and the caller's context, environment or argument, which say which Session that is.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from memprove.ledger.domain import spool
from memprove.ledger.domain.events import RunEnded, RunStarted
from memprove.ledger.problems import (
    CONFIG_UNREADABLE,
    DATA_DIR_MISSING,
    DATA_DIR_UNREADABLE,
    DISK_FULL,
    KEY_MISSING,
    KEY_UNSAFE,
    LEDGER_BUSY,
    LEDGER_UNWRITABLE,
    SPOOL_REFUSED,
    TOKEN_MISSING,
    TOKEN_UNREADABLE,
    TRUST_MISSING,
    Problem,
)
from memprove.ledger.settings import Caller
from memprove.ledger.workspace import context as contexts
from memprove.ledger.workspace import resolve
from memprove.ledger.workspace import spool as spool_files
from memprove.ledger.workspace.spool import SpoolFile

UNREACHABLE: Final = frozenset(
    {
        CONFIG_UNREADABLE,
        DATA_DIR_MISSING,
        DATA_DIR_UNREADABLE,
        DISK_FULL,
        KEY_MISSING,
        KEY_UNSAFE,
        LEDGER_BUSY,
        LEDGER_UNWRITABLE,
        TOKEN_MISSING,
        TOKEN_UNREADABLE,
        TRUST_MISSING,
    }
)
"""What a Run is spooled for: the ledger, or what belongs to it, is out of this process's reach."""


@dataclass(frozen=True, slots=True)
class Spool:
    """The spool of one Session, *below* which directory of *worktree* the caller is."""

    worktree: Path
    below: str
    session: int

    def keep(
        self, label: str, started: RunStarted | None, ended: RunEnded, blobs: tuple[bytes, ...]
    ) -> None:
        """Keep the Run *label* as the next of the Session; raises a Problem if it cannot be."""
        key = _key(self.worktree, self.session)
        if key is None:
            raise SPOOL_REFUSED(f"Session {self.session} has no key here any more")
        named = {spool.digest(blob): blob for blob in blobs}
        for number in count(1 + max(key.count, self._newest())):
            run = spool.SpooledRun(
                v=1,
                session=self.session,
                count=number,
                label=label,
                at=time.time_ns() // 1_000_000 - ended.duration_ms,
                started=started,
                ended=ended,
            )
            data = spool.encode(run, named, key.key)
            if len(data) > spool.MOST_BYTES:
                raise SPOOL_REFUSED(f"{label} is of {len(data)} bytes")
            if spool_files.create(self.worktree, SpoolFile(self.session, number), data):
                return

    def _newest(self) -> int:
        files = spool_files.spooled(self.worktree)
        if len(files) >= spool_files.MOST_FILES:
            raise SPOOL_REFUSED(f"there are {len(files)} already")
        return max((file.count for file in files if file.session == self.session), default=0)


def find_spool(caller: Caller, session: int | None, cwd: str | None) -> Spool | None:
    """Return the spool of the Session that the caller is in, if its key is here."""
    where = Path(cwd) if cwd else caller.cwd
    for place in resolve.locate(where):
        try:
            number = session or _number(caller) or _pointed(caller, place.worktree)
            if number is not None and _key(place.worktree, number) is not None:
                return Spool(place.worktree, place.below(where), number)
        except (Problem, spool.SpoolInvalid):
            continue
    return None


def new_label() -> str:
    """Return the label of a Run that is to be spooled."""
    return spool.new_label(os.urandom)


def _number(caller: Caller) -> int | None:
    text = caller.variable("MEMPROVE_SESSION") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _pointed(caller: Caller, worktree: Path) -> int | None:
    context = contexts.load_context(worktree, contexts.client_session(caller.env))
    return None if context is None else context.session_number


def _key(worktree: Path, session: int) -> spool.SpoolKey | None:
    data = spool_files.read_key(worktree, session)
    return None if data is None else spool.decode_key(data)
