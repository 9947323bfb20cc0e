"""Tombstones: the events that erased payloads, and what reads in the place of what they erased.

A payload is gone if and only if a later event of its stream says so: ``payload.erased``. The newest
one for an event counts. It accounts for the earlier ones that it replaces, whose payloads are gone
with it.

What an erasure kept cannot be compared with what was there. So no tombstone stands for a kind on
which trust rests: else who has today's key could put another one in the place of yesterday's.
"""

from msgspec.structs import replace

from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.erasure import ERASABLE_KINDS
from memprove.ledger.domain.events import PayloadErased
from memprove.ledger.domain.record import Erased, Erasure, Record, decode


class Unaccounted(Exception):
    """A payload is missing that nothing erased, or there although something did."""


class Tombstones:
    """The tombstones of a log, or of one stream."""

    def __init__(self) -> None:
        self._by: dict[int, tuple[Record, PayloadErased]] = {}

    def note(self, record: Record) -> None:
        """Take *record* in if it is a tombstone; call in the order of the log."""
        if isinstance(record.event, PayloadErased):
            for seq in (record.event.event, *record.event.replaces):
                self._by[seq] = (record, record.event)

    def __contains__(self, seq: object) -> bool:
        """Tell whether a tombstone is of event number *seq*."""
        return seq in self._by

    def stand_in(self, record: Record) -> Record:
        """Return what *record* reads as: itself, or what survives of it.

        Raises ``Unaccounted``, or ``NotCanonical`` for a tombstone that keeps no event.
        """
        is_erased = isinstance(record.event, Erased)
        if record.seq not in self:
            if is_erased:
                raise Unaccounted("its payload is missing, and nothing erased it")
            return record
        by, tombstone = self._by[record.seq]
        if by.leaf.stream != record.leaf.stream or by.seq <= record.seq:
            raise Unaccounted(f"event {by.seq} cannot have erased it")
        if tombstone.event == record.seq and record.leaf.kind not in ERASABLE_KINDS:
            raise Unaccounted("nothing may erase an event of this kind")
        if not is_erased:
            raise Unaccounted(f"its payload is here, and event {by.seq} erased it")
        erasure = Erasure(by.seq, tombstone.fields, tombstone.reason, tombstone.replaces)
        if tombstone.event != record.seq:
            return replace(record, erasure=erasure)
        return replace(decode(record.leaf, _kept(tombstone)), erasure=erasure)


def _kept(tombstone: PayloadErased) -> bytes:
    try:
        return tombstone.kept.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical(str(error)) from None
