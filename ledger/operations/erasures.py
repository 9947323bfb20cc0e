"""Erase what a payload holds, as the owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec

from memprove.ledger.domain import events as e
from memprove.ledger.domain import limits
from memprove.ledger.domain.erasure import (
    Step,
    is_erasable,
    is_field,
    is_redactable,
    mark,
    plan,
    surviving,
)
from memprove.ledger.domain.labels import is_spooled, split_label
from memprove.ledger.domain.record import Record
from memprove.ledger.operations.base import Operation, Work
from memprove.ledger.problems import (
    FIELD_UNKNOWN,
    LABEL_INVALID,
    LABEL_UNKNOWN,
    NOT_REDACTABLE,
    NOTHING_TO_ERASE,
)

REASON_LIMIT: Final = 200
_LETTERS: Final = frozenset("rxwcodts")


class ErasedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event of which *fields* are erased; *by* is the number of the event that says so."""

    event: int
    kind: str
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    by: int


class ErasedTold(msgspec.Struct, frozen=True, kw_only=True):
    """What was erased; *replayed*: before, all of it."""

    erased: tuple[ErasedEvent, ...]
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class RedactEvent(Operation[ErasedTold]):
    """Erase *fields* (none: all that can go) of the events that *target* names.

    A label names what it stands for: a Run's or a Decision's events, one claim, one open item, a
    Task (``t3``), a Session (``s2``). A number names one event. Again is no change.
    """

    sends: ClassVar = ("redactEvent",)
    verbatim: ClassVar = frozenset({"target", "fields"})

    target: str
    reason: str
    fields: tuple[str, ...] = ()
    task: int | None = None

    def run(self, work: Work) -> ErasedTold:
        """Erase it, and say so in the stream of each event."""
        limits.check_needed("reason", self.reason, REASON_LIMIT)
        named, fields = self._named(work)
        _check_fields(named, fields)
        steps = plan(named, fields, lambda: work.stream_records(named[0].leaf.stream))
        if not steps:
            return _told_again(work, named)
        erased = [self._erase(work, step) for step in steps]
        return ErasedTold(erased=tuple(erased), seq=erased[-1].by)

    def _erase(self, work: Work, step: Step) -> ErasedEvent:
        left = surviving(step, mark(self.reason))
        tombstone = work.eraser().erase(step.record, left, step.fields, self.reason)
        return _event_told(step.record, step.fields, tombstone.seq)

    def _named(self, work: Work) -> tuple[list[Record], tuple[str, ...]]:
        """Return the records that *target* names, and the fields of them that are meant."""
        target = self.target.strip()
        if target.isascii() and target.isdigit():
            seq = int(target[:18])
            found = list(work.records(seq - 1, seq)) if seq else []
            return _found(found, f"no event {target}"), self.fields
        letters = _letters(target)
        if letters not in _LETTERS:
            raise LABEL_INVALID(target)
        records = _found([r for r in self._stream(work, target) if _is_of(r, target)], target)
        fields = self.fields
        if letters in "co" and not fields:
            fields = (f"facts.{target}" if letters == "c" else f"opened.{target}",)
        return records, fields

    def _stream(self, work: Work, label: str) -> list[Record]:
        """Return the records among which *label* is given once."""
        match _letters(label):
            case "w":
                return work.stream_records(f"workspace/{work.workspace().id}")
            case "t":
                return work.task_records(work.task(split_label(label)[1]).id)
            case "s":
                return work.task_records(work.session_numbered(split_label(label)[1]).task_id)
            case _:
                return work.task_records(work.current_task(self.task)[0].id)


def _check_fields(records: Sequence[Record], fields: tuple[str, ...]) -> None:
    """Raise unless something of *records* may go: each of *fields*, if any are named."""
    kinds = ", ".join(dict.fromkeys(record.leaf.kind for record in records))
    if not any(map(is_redactable, records)):
        raise NOT_REDACTABLE(kinds)
    for field in fields:
        if not any(is_erasable(record, field) for record in records):
            known = any(is_field(record, field) for record in records)
            raise (NOT_REDACTABLE if known else FIELD_UNKNOWN)(f"{field} of {kinds}")


def _letters(label: str) -> str:
    """Return the letters of *label*; those of a spooled Run's are ``x``."""
    return "x" if is_spooled(label) else split_label(label)[0]


def _is_of(record: Record, label: str) -> bool:
    """Tell whether *record* is one of the events of what *label* names."""
    match record.event:
        case e.RunEnded(run=run):
            return run == label
        case e.DecisionDecided(decision=decision):
            return decision == label
        case e.SessionEnded(session=session):
            return label == f"s{session}"
        case _:
            return label in record.labels


def _told_again(work: Work, records: Sequence[Record]) -> ErasedTold:
    """Return what was told when *records* were erased, and see to it that it is done."""
    told = []
    for record in records:
        if record.erasure is not None:
            work.eraser().erase_again(record)
            told.append(_event_told(record, record.erasure.fields, record.erasure.by))
    if not told:
        raise NOTHING_TO_ERASE()
    return ErasedTold(erased=tuple(told), seq=max(event.by for event in told), replayed=True)


def _event_told(record: Record, fields: tuple[str, ...], by: int) -> ErasedEvent:
    leaf = record.leaf
    return ErasedEvent(event=leaf.seq, kind=leaf.kind, labels=leaf.labels, fields=fields, by=by)


def _found(records: list[Record], what: str) -> list[Record]:
    if not records:
        raise LABEL_UNKNOWN(what)
    return records
