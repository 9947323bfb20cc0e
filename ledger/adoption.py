"""Adopting: the Runs that a sandboxed shell spooled in the Workspace become Runs of the ledger.

It is part of the next write there, in the same transaction and before the operation. A file counts
if it is of a Session of this very work tree, written under the key whose hash the log has of that
Session, and the next in order. Any other is set aside with a Problem; it never stops a write. What
is adopted is removed once it is durable: after a crash in between it is found to be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from memprove.ledger import paths
from memprove.ledger.domain import canonical, spool
from memprove.ledger.domain.labels import is_spooled
from memprove.ledger.domain.record import Draft
from memprove.ledger.problems import SPOOL_REFUSED, Problem
from memprove.ledger.projections import SessionRow, decode_row, numbered
from memprove.ledger.work import Transaction
from memprove.ledger.workspace import files
from memprove.ledger.workspace import spool as spool_files
from memprove.ledger.workspace.spool import SpoolFile

MOST_TOLD: Final = 9
"""Refused files that are told one by one."""


class Adoption:
    """The spooled Runs of one transaction: ``adopt`` inside it, ``settle`` once it is durable."""

    def __init__(self, work: Transaction, worktree: Path) -> None:
        self._work = work
        self._worktree = worktree
        self._done: list[SpoolFile] = []
        self._refused: list[tuple[SpoolFile, str]] = []

    def adopt(self) -> None:
        """Append the Runs of all files that count, those of a Session in order."""
        for file, data in self._read():
            try:
                self._adopt(file, data)
                self._done.append(file)
            except (Problem, spool.SpoolInvalid, canonical.NotCanonical) as fault:
                self._refused.append((file, str(fault)))

    def settle(self) -> None:
        """Remove the files that are adopted, set aside the others, and note what was done."""
        notes = self._work.around.notes
        if self._done:
            notes.append(f"adopted {len(self._done)} spooled Run{'s'[: len(self._done) - 1]}")
        try:
            for file in self._done:
                self._keep_count(file)
                files.remove_local(self._worktree, file.name)
            for number, (file, fault) in enumerate(self._refused):
                aside = files.set_aside(self._worktree, file.name)
                if number < MOST_TOLD:
                    notes.append(f"{SPOOL_REFUSED(fault)}; it is now {files.FOLDER}/{aside}")
        except (Problem, spool.SpoolInvalid) as fault:  # the next write finds them known
            notes.append(f"the spool was not tidied: {fault}")
        if (more := len(self._refused) - MOST_TOLD) > 0:
            notes.append(f"{more} more spooled Runs were set aside")

    def _read(self) -> Iterator[tuple[SpoolFile, bytes]]:
        """Yield the files and what they hold, until there is enough for one transaction."""
        room = spool.MOST_BYTES
        for file in spool_files.spooled(self._worktree):
            try:
                data = files.read_local(self._worktree, file.name, spool.MOST_BYTES) or b""
            except Problem as problem:
                self._refused.append((file, str(problem)))
                continue
            room -= len(data)
            if room < 0:
                return  # the rest waits for the next write
            yield file, data

    def _adopt(self, file: SpoolFile, data: bytes) -> None:
        session = self._session(file.session)
        run, blobs = spool.decode(data, self._key(session))
        if (run.session, run.count) != (file.session, file.count):
            raise spool.SpoolInvalid("it is another file than its name says")
        if self._is_known(session, run.label):
            return  # a crash kept its file
        if run.count != session.spooled + 1:
            raise spool.SpoolInvalid(f"number {session.spooled + 1} of its Session is missing")
        drafts = _drafts(run)
        for blob in blobs:
            self._work.put_blob(blob)
        for draft in drafts:
            self._work.append(draft, task=session.task_id, session=session.number)

    def _session(self, number: int) -> SessionRow:
        key = numbered(self._work.workspace().id, number)
        value = self._work.reader.row("session", key)
        if value is None:
            raise spool.SpoolInvalid("there is no such Session")
        session = decode_row(SessionRow, value)
        if session.worktree != paths.to_text(self._worktree):
            raise spool.SpoolInvalid("its Session is of another work tree")
        return session

    def _key(self, session: SessionRow) -> bytes:
        data = spool_files.read_key(self._worktree, session.number)
        key = spool.decode_key(data or b"")
        if key.digest != session.spool_key:
            raise spool.SpoolInvalid("the key beside it is not its Session's")
        return key.key

    def _is_known(self, session: SessionRow, label: str) -> bool:
        if is_spooled(label):
            known = self._work.reader.row("spooled", f"task/{session.task_id}/{label}")
            return known is not None
        run = self._work.capsule(session.task_id).runs.get(label)
        if run is None or run.session != session.number:
            raise spool.SpoolInvalid("its Session began no such Run")
        return run.ended is not None

    def _keep_count(self, file: SpoolFile) -> None:
        """Let the next file be numbered after this one, which is about to go."""
        data = spool_files.read_key(self._worktree, file.session) or b""
        key = spool.decode_key(data)
        if key.count < file.count:
            kept = spool.encode_key(spool.SpoolKey(key.key, file.count))
            spool_files.write_key(self._worktree, file.session, kept)


def _drafts(run: spool.SpooledRun) -> list[Draft]:
    """Return the events of *run*, each one that can be appended; raises SpoolInvalid."""
    if run.ended.run != run.label or is_spooled(run.label) != (run.started is not None):
        raise spool.SpoolInvalid("it does not say what it is")
    ended = msgspec.structs.replace(run.ended, spooled=run.count, spooled_at=run.at)
    events = [event for event in (run.started, ended) if event is not None]
    if any(len(canonical.encode(event)) > canonical.MAX_PAYLOAD for event in events):
        raise spool.SpoolInvalid("it is too large")
    given = (run.label,) if run.started is not None else ()
    return [Draft(event, given=given if event is run.started else ()) for event in events]
