"""The check of what events say: payloads decode or were erased, blobs are there, tables take it."""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import TypeAlias

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.record import Record, decode, decode_leaf
from memprove.ledger.domain.run import blobs_of
from memprove.ledger.domain.tombstones import Tombstones, Unaccounted
from memprove.ledger.log.reading import ERASED
from memprove.ledger.log.walk import Rows, Walk
from memprove.ledger.storage.interface import EventColumns, Reader

Project: TypeAlias = Callable[[Rows, Record], None]
"""Takes a record into the tables."""


class Contents:
    """The contents of the events of one walk, which are taken into *rows*."""

    def __init__(
        self, walk: Walk, reader: Reader, project: Project, rows: Rows, tombstones: Tombstones
    ) -> None:
        self._walk = walk
        self._reader = reader
        self._project = project
        self._rows = rows
        self.tombstones = tombstones

    def check(self, events: EventColumns) -> None:
        """Check what *events* say, whose links were checked before."""
        first = self._walk.frontier.size - len(events.seqs) + 1
        rows = zip(events.seqs, events.leaves, events.payloads, strict=True)
        for at, (seq, leaf, payload) in enumerate(rows, first):
            if at not in self._walk.bad:
                self._check(at, seq, leaf, payload)

    def _check(self, at: int, seq: int, leaf: bytes, payload: bytes | None) -> None:
        record = self._record(at, seq, leaf, payload)
        if record is None:
            return
        for digest in blobs_of(record.event):
            self._check_blob(at, digest)
        try:
            self._project(self._rows, record)
        except Exception as error:  # whatever a forged event brings about is a finding, no crash
            what = f"the tables cannot take it: {type(error).__name__}"
            self._walk.find("leaves", what, record.seq, at=at)

    def _record(self, at: int, seq: int, data: bytes, payload: bytes | None) -> Record | None:
        find = self._walk.find
        try:
            leaf = decode_leaf(data)
        except NotCanonical as error:
            find("leaves", f"the leaf does not decode: {error}", seq, at=at)
            return None
        try:
            record = self.tombstones.stand_in(decode(leaf, payload))
        except Unaccounted as error:
            find("payloads", str(error), seq, at=at)
            return None
        except NotCanonical as error:
            find("payloads", f"its payload does not decode: {error}", seq, at=at)
            return None
        self._walk.erased += record.erasure is not None and leaf.kind != ERASED
        return record

    def _check_blob(self, at: int, digest: str) -> None:
        self._walk.reading = at
        with self._walk.making("blobs"):
            data = self._reader.blob(digest)
            if data is None:
                self._walk.find("blobs", f"blob {digest} is missing", at, at=at)
            elif sha256(data).hexdigest() != digest:
                self._walk.find("blobs", f"blob {digest} is another one", at, at=at)


def find_tombstones(reader: Reader) -> Tombstones:
    """Look ahead for what stands in the place of erased payloads.

    Each tombstone is checked where the walk comes to it, and a false one is a finding there.
    """
    tombstones = Tombstones()
    for event in reader.of_kind(ERASED):
        with suppress(NotCanonical):
            tombstones.note(decode(decode_leaf(event.leaf), event.payload))
    return tombstones
