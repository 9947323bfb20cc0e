"""The one door: an operation goes in, its result comes out.

``execute`` reads the configuration, the data directory and the token anew on every call. In one
transaction it checks the scopes first, then runs the operation; what that appends is signed and
committed together, and the caller's context follows once it is durable. Nothing is kept between
calls. An inspection goes another way, past the tables that it is to check.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from memprove.ledger import projections, request, scopes, settings
from memprove.ledger.admission import check_token
from memprove.ledger.domain.events import TaskMoved, TaskState
from memprove.ledger.domain.record import Actor, Record
from memprove.ledger.log.append import Appender
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.reading import check_head
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.rotation import LiveKey
from memprove.ledger.log.trust import pinned, read_pins
from memprove.ledger.operations.base import Inspection, LocalOperation, Operation, Retryable
from memprove.ledger.paths import from_text
from memprove.ledger.place import Surroundings
from memprove.ledger.pointing import leave_spool_key, write_context
from memprove.ledger.problems import (
    LEDGER_DAMAGED,
    OWNER_IN_AGENT_SHELL,
    ROLE_FORBIDDEN,
    Problem,
)
from memprove.ledger.projections import LEDGER_KEY, LedgerRow, TokenRow, decode_row
from memprove.ledger.scopes import Scope
from memprove.ledger.settings import Caller
from memprove.ledger.storage.interface import Reader, Store, Writer
from memprove.ledger.storage.lock import LONGEST_WAIT
from memprove.ledger.storage.registry import open_store
from memprove.ledger.tokens import Token
from memprove.ledger.work import Transaction
from memprove.ledger.workspace.spool import has_spooled

if TYPE_CHECKING:
    from memprove.ledger.adoption import Adoption
    from memprove.ledger.domain.evidence import Today

ResultT = TypeVar("ResultT")


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Ledger:
    """The ledger as one caller reaches it."""

    def __init__(
        self,
        caller: Caller,
        *,
        clock: Callable[[], int] = now_ms,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.caller = caller
        self.notes: list[str] = []
        self._clock = clock
        self._random = random

    def execute(self, operation: Operation[ResultT]) -> ResultT:
        """Run *operation* if the caller's token, read now, carries the scopes it needs."""
        owner = self._check_owner(operation)
        data_dir = settings.data_dir(self.caller)
        token = settings.token(self.caller, owner=owner)
        operation = request.redacted(operation, self.caller.env)
        config_dir = settings.config_dir(self.caller)
        memory = Memory(settings.state_dir(self.caller), data_dir)  # before any transaction
        if isinstance(operation, Inspection):
            from memprove.ledger.bare_log import inspect  # late: no Run needs them
            from memprove.ledger.trust_copy import differences

            looked: ResultT = inspect(
                operation,
                token,
                data_dir=data_dir,
                config_dir=config_dir,
                memory=memory,
                now=self._clock(),
            )
            self.notes += differences(self.caller.cwd, read_pins(config_dir))
            return looked
        around = Surroundings(self.caller)
        store = open_store(data_dir, wait=min(self.caller.patience_s, LONGEST_WAIT))
        try:
            if _are_outdated(store):
                from memprove.ledger.bare_log import rebuild_tables  # late: once a version

                rebuild_tables(store, token, operation, config_dir=config_dir)
            if scopes.writes(operation.sends):
                return self._write(operation, store, token, around, memory)
            return self._read(operation, store, token, around, memory)
        finally:
            self.notes += around.notes
            store.close()

    def look(self, operation: LocalOperation[ResultT]) -> ResultT:
        """Run *operation*, which needs no token and no ledger."""
        return operation.look(Surroundings(self.caller))

    def _read(
        self,
        operation: Operation[ResultT],
        store: Store,
        token: Token,
        around: Surroundings,
        memory: Memory,
    ) -> ResultT:
        with store.read() as reader:
            row = self._admit(reader, token, operation, memory)
            work = self._work(reader, around, row)
            work.opened = check_head(reader, self._pin(reader), memory)
            return operation.run(work)

    def _write(
        self,
        operation: Operation[ResultT],
        store: Store,
        token: Token,
        around: Surroundings,
        memory: Memory,
    ) -> ResultT:
        mark = request.mark(operation, token, self.caller.call)
        judged = self._look(operation, store, token, around, mark, memory)
        with store.write() as writer:
            row = self._admit(writer, token, operation, memory)
            with self._appending(writer, row, around, mark, memory) as (appender, key):
                work = self._work(writer, around, row)
                work.request, work.judged = mark, judged
                work.writer, work.appender, work.key = writer, appender, key
                adoption = self._adopt(work, operation)
                result = operation.run(work)
        if adoption is not None:
            adoption.settle()
        self._follow(work, store)
        return result

    def _adopt(self, work: Transaction, operation: Operation[Any]) -> Adoption | None:
        """Append what a sandboxed shell of this work tree spooled, if *operation* may record."""
        if Scope.WRITE not in scopes.needed(operation.sends):
            return None
        try:
            worktree = from_text(work.worktree)
            if not has_spooled(worktree):
                return None
        except Problem:
            return None  # in no Workspace, or in one whose spool cannot be read
        from memprove.ledger.adoption import Adoption  # late: mostly there is nothing to adopt

        adoption = Adoption(work, worktree)
        adoption.adopt()
        return adoption

    def _look(
        self,
        operation: Operation[Any],
        store: Store,
        token: Token,
        around: Surroundings,
        mark: str,
        memory: Memory,
    ) -> Today | None:
        """Look at the working tree for what *operation* judges, before any lock is held."""
        if type(operation).subject is Operation.subject:
            return None  # it judges nothing: most writes need no second transaction
        with store.read() as reader:
            row = self._admit(reader, token, operation, memory)
            work = self._work(reader, around, row)
            work.request = mark
            if isinstance(operation, Retryable) and work.retried():
                return None
            subject = operation.subject(work)
            return None if subject is None else work.evidence(subject).today

    @contextmanager
    def _appending(
        self, writer: Writer, row: TokenRow, around: Surroundings, mark: str, memory: Memory
    ) -> Iterator[tuple[Appender, LiveKey]]:
        pin = self._pin(writer)
        opened = check_head(writer, pin, memory)
        keys = Keys(settings.config_dir(self.caller), _ledger(writer).ledger)
        key = LiveKey(keys, opened.epochs.newest)
        actor = Actor(
            installation=settings.installation(self.caller),
            token=row.token,
            role=row.role,
            face=self.caller.face,
            agent_env=self.caller.agent_env,
            client=around.client_mark,
            request=mark,
        )
        appender = Appender(
            writer,
            actor=actor,
            at=self._clock(),
            random=self._random,
            project=projections.apply,
        )
        yield appender, key
        if appender.records:
            self.notes += key.rotate_if_due(appender, self._random)
            head = key.seal(writer, appender, keep=any(map(_completes, appender.records)))
            writer.after_commit(lambda: memory.keep(pin, key.epoch, head.note))

    def _admit(
        self, reader: Reader, token: Token, operation: Operation[Any], memory: Memory
    ) -> TokenRow:
        """Return the row of *token*, if it may do *operation* and this is the ledger it was."""
        ledger = _ledger(reader)
        memory.check_origin(ledger.origin, ledger.earlier)
        return check_token(reader, token, operation)

    def _pin(self, reader: Reader) -> Pin:
        ledger = _ledger(reader)
        return pinned(settings.config_dir(self.caller), ledger.origin, ledger.earlier)

    def _work(self, reader: Reader, around: Surroundings, row: TokenRow) -> Transaction:
        return Transaction(reader, around, row, self._clock(), self._random)

    def _follow(self, work: Transaction, store: Store) -> None:
        """Bring the caller's context after what was recorded. It is only a pointer: no failure."""
        if work.appender is not None and work.appender.records:
            with store.read() as reader:
                after = self._work(reader, work.around, work.token)
                write_context(after, work.pointed, work.around)
                if work.handed_out is not None:
                    leave_spool_key(after, *work.handed_out)

    def _check_owner(self, operation: Operation[Any]) -> bool:
        owner = Scope.OWNER in scopes.needed(operation.sends) | operation.needs()
        if owner and self.caller.face != "cli":
            raise ROLE_FORBIDDEN(f"{Scope.OWNER}; only the command line opens an owner's token")
        if owner and self.caller.agent_env and not self.caller.from_agent:
            raise OWNER_IN_AGENT_SHELL()
        return owner


def _are_outdated(store: Store) -> bool:
    """Tell whether another version of memprove left the tables."""
    with store.read() as reader:
        return reader.size() > 0 and not projections.are_current(reader)


def _ledger(reader: Reader) -> LedgerRow:
    value = reader.row("ledger", LEDGER_KEY)
    if value is None:
        raise LEDGER_DAMAGED("it does not say which ledger it is")
    return decode_row(LedgerRow, value)


def _completes(record: Record) -> bool:
    return isinstance(record.event, TaskMoved) and record.event.target is TaskState.COMPLETED
