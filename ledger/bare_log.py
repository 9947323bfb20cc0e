"""The log without the tables beside it, for when they cannot be believed.

They are what an inspection is to check, and what another version of memprove left unreadable. Then
the key comes from the trust file, and the token from the events of the log's own stream.
"""

from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from memprove.ledger import projections
from memprove.ledger.admission import check_token
from memprove.ledger.backups import back_up
from memprove.ledger.log import verified
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.reading import check_head, read_events, read_stream
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.report import Report
from memprove.ledger.log.trust import format_pin, pins_of, read_pins
from memprove.ledger.log.verified import Verified
from memprove.ledger.log.verify import verify
from memprove.ledger.log.verify_new import verify_new
from memprove.ledger.log.walk import TableRows
from memprove.ledger.operations.base import Inspection, Operation, Progress
from memprove.ledger.paths import from_text
from memprove.ledger.problems import (
    LEDGER_DAMAGED,
    NOT_AS_WRITTEN,
    TOKEN_UNKNOWN,
    Problem,
)
from memprove.ledger.storage.interface import Reader, Store
from memprove.ledger.storage.registry import open_store
from memprove.ledger.tokens import Token

ResultT = TypeVar("ResultT")


class BareLog:
    """The log in *reader*, of the ledger in *data_dir*, and what is known of it outside.

    *pinned* is the key of its origin, *earlier* those of origins before, *memory* what was seen.
    """

    def __init__(
        self,
        reader: Reader,
        pinned: Pin,
        earlier: tuple[Pin, ...],
        *,
        memory: Memory,
        data_dir: Path,
        now: int,
    ) -> None:
        self._reader = reader
        self._pinned = pinned
        self._earlier = earlier
        self._memory = memory
        self._data_dir = data_dir
        self._now = now

    def verify(
        self, progress: Progress | None, required: bytes | None = None, *, full: bool = False
    ) -> Report:
        """Recompute and compare, from the head on that was verified last unless *full*.

        *required*: a head that the log must continue.
        """
        known = verified.recall(self._memory)
        if full or known is None or not known.serves(self._pinned, self._reader.size(), self._now):
            known = None
        report = self._verify_new(known, progress, required) if known is not None else None
        if report is None:
            known, report = None, self._verify_all(progress, required)
        self._keep(report, known)
        return report

    def back_up(self, file: str, progress: Progress | None) -> Report:
        """Write a copy of the whole ledger to *file*, and verify the copy."""
        with closing(open_store(self._data_dir)) as store:
            return back_up(store, from_text(file), (self._pinned, self._earlier), progress)

    def _verify_new(
        self, known: Verified, progress: Progress | None, required: bytes | None
    ) -> Report | None:
        return verify_new(
            self._reader,
            self._pinned,
            known,
            project=projections.apply,
            erase=projections.erase,
            progress=progress,
            memory=self._memory,
            required=required,
        )

    def _verify_all(self, progress: Progress | None, required: bytes | None) -> Report:
        return verify(
            self._reader,
            self._pinned,
            project=projections.apply,
            progress=progress,
            memory=self._memory,
            required=required,
            earlier=self._earlier,
            tables=not self._are_outdated(),
        )

    def _are_outdated(self) -> bool:
        with suppress(Problem):  # what cannot be read is a finding of its own
            return projections.are_of_another_version(self._reader)
        return False

    def _keep(self, report: Report, known: Verified | None) -> None:
        """Keep how far all is well, for the next one; *known*: from where this one went on."""
        if not report.ok:
            verified.forget(self._memory)
            return
        opened = check_head(self._reader, self._pinned, self._memory)
        epoch = opened.epochs.holding(report.size)
        assert epoch is not None
        full, at = (known.full, known.at) if known is not None else (report.size, self._now)
        pin = format_pin(self._pinned)
        verified.keep(self._memory, Verified(pin, epoch, opened.head, opened.note, full, at))


def inspect(
    operation: Inspection[ResultT],
    token: Token,
    *,
    data_dir: Path,
    config_dir: Path,
    memory: Memory,
    now: int,
) -> ResultT:
    """Run *operation* on a ledger that may be damaged: that is its answer then, and no Problem."""
    pins = read_pins(config_dir)
    try:
        store = open_store(data_dir)
        try:
            with store.read() as reader:
                pin, earlier = pins_of(reader, pins)
                _check_inspector(reader, pin, token, operation, memory)
                log = BareLog(reader, pin, earlier, memory=memory, data_dir=data_dir, now=now)
                return operation.inspect(log)
        finally:
            store.close()
    except Problem as problem:
        if problem.kind is not LEDGER_DAMAGED:
            raise
        return operation.damaged(problem.detail)


def rebuild_tables(
    store: Store, token: Token, operation: Operation[Any], *, config_dir: Path
) -> None:
    """Build the tables anew from the log, if *token* may do *operation*."""
    with store.read() as reader:
        pin, _ = pins_of(reader, read_pins(config_dir))
        _check_token(reader, pin, token, operation)
    with store.write() as writer:
        check_head(writer, pin)
        projections.rebuild(writer, read_events(writer))


def _check_inspector(
    reader: Reader, pin: Pin, token: Token, operation: Operation[Any], memory: Memory
) -> None:
    """Check the token, unless the log is too damaged to say which ones there are.

    Then whoever can read the file can find out as much.
    """
    try:
        _check_token(reader, pin, token, operation)
    except Problem as problem:
        if problem.kind is TOKEN_UNKNOWN and _is_whole(reader, pin, memory):
            raise
        if problem.kind not in (TOKEN_UNKNOWN, *NOT_AS_WRITTEN):
            raise


def _check_token(reader: Reader, pin: Pin, token: Token, operation: Operation[Any]) -> None:
    """Check the token against the signed events that issue and revoke tokens."""
    check_head(reader, pin)
    tables = TableRows()
    for record in read_stream(reader, "ledger"):
        projections.apply(tables, record)
    check_token(tables, token, operation)


def _is_whole(reader: Reader, pin: Pin, memory: Memory) -> bool:
    """Tell whether every event is there as it was signed: one that issued a token may be gone."""
    try:
        check_head(reader, pin, memory)
        for _ in read_events(reader):
            pass
    except Problem as problem:
        if problem.kind not in NOT_AS_WRITTEN:
            raise
        return False
    return True
