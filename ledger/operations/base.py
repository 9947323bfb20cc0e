"""What an operation is: a request that names the wire operations it stands for, and runs.

Scopes follow from ``sends``; an operation that sends nothing opens no ledger and reads no token.
Operations see the open transaction through ``Work`` alone, so none can skip the scope check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypedDict, TypeVar

import msgspec

from memprove.ledger.domain.record import Record
from memprove.ledger.projections import SessionRow, TaskRow, TokenRow, WorkspaceRow
from memprove.ledger.scopes import Scope
from memprove.ledger.tokens import Token
from memprove.ledger.workspace.context import Context

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule
    from memprove.ledger.domain.events import Event, RunKind
    from memprove.ledger.domain.evidence import Evidence
    from memprove.ledger.domain.record import Draft
    from memprove.ledger.domain.run import Run
    from memprove.ledger.domain.spool import SpoolKey
    from memprove.ledger.log.report import Report, SignedHead

ResultT = TypeVar("ResultT")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer about a Task begins with."""

    task_id: str | None = None
    session_id: str | None = None
    task: int | None = None
    session: int | None = None


class Receipt(Answer, frozen=True, kw_only=True):
    """What a write leaves: the number of its last event; *replayed*: it was there already."""

    seq: int = 0
    replayed: bool = False
    notes: tuple[str, ...] = ()


class About(TypedDict):
    """The fields that every answer about a Task begins with."""

    task_id: str
    session_id: str | None
    task: int
    session: int | None


def about(task: TaskRow, session: SessionRow | None = None) -> About:
    """Return what an answer about *task* begins with; *session*: the caller's, if there is one."""
    return About(
        task_id=task.id,
        session_id=session.id if session else None,
        task=task.number,
        session=session.number if session else None,
    )


def about_session(session: SessionRow) -> About:
    """Return what an answer about *session* begins with."""
    return About(
        task_id=session.task_id,
        session_id=session.id,
        task=session.task,
        session=session.number,
    )


class Work(Protocol):
    """The open transaction, and the caller's surroundings."""

    @property
    def now(self) -> int:
        """Return the time of this transaction, in milliseconds since 1970."""
        ...

    @property
    def token(self) -> TokenRow:
        """Return the caller's token, as the ledger has it."""
        ...

    @property
    def worktree(self) -> str:
        """Return the root of the work tree that the caller is in."""
        ...

    def below(self, cwd: str | None = None) -> str:
        """Return the caller's directory (or *cwd*) below the work tree's root."""
        ...

    def variable(self, name: str) -> str | None:
        """Return an environment variable of the caller."""
        ...

    def new_id(self) -> str:
        """Return a new UUID, version 7."""
        ...

    def new_token(self) -> Token:
        """Return a new token."""
        ...

    def new_spool_key(self) -> SpoolKey:
        """Return a new key for the spool of a Session."""
        ...

    def workspace(self) -> WorkspaceRow:
        """Return the Workspace that the caller is in."""
        ...

    def workspaces(self) -> list[WorkspaceRow]:
        """Return all Workspaces."""
        ...

    def session(self, number: int | None = None) -> SessionRow:
        """Return the open Session that is meant: the argument, the environment, the context."""
        ...

    def pointed_session(self) -> SessionRow | None:
        """Return the Session, open or ended, that the caller's context points to."""
        ...

    def session_numbered(self, number: int) -> SessionRow:
        """Return Session *number*, open or ended."""
        ...

    def open_sessions(self) -> list[SessionRow]:
        """Return the open Sessions of the Workspace."""
        ...

    def task(self, number: int) -> TaskRow:
        """Return Task *number* of the Workspace."""
        ...

    def current_task(self, number: int | None = None) -> tuple[TaskRow, SessionRow | None]:
        """Return the Task that is meant, and the caller's open Session if it is of this Task."""
        ...

    def tasks(self, after: int = 0) -> Iterator[TaskRow]:
        """Yield the Workspace's Tasks by number."""
        ...

    def tokens(self) -> list[TokenRow]:
        """Return all tokens."""
        ...

    def capsule(self, task_id: str) -> Capsule:
        """Return the Capsule of a Task."""
        ...

    def loose_runs(self) -> Capsule:
        """Return the Workspace's Runs outside Sessions, as a Capsule that has only Runs."""
        ...

    def completing_kinds(self) -> frozenset[RunKind]:
        """Return the kinds of Runs that complete a Task of the Workspace, as its owner has it."""
        ...

    def has_spooled(self) -> bool:
        """Tell whether a Run waits in the spool of the work tree that the caller is in."""
        ...

    def spooled_counts(self) -> bool:
        """Tell whether spooled Runs complete a Task of the Workspace, as its owner has it."""
        ...

    def allowed_filters(self) -> tuple[str, ...]:
        """Return the repository's own filter drivers that the owner lets run."""
        ...

    def outcomes(self, run: Run) -> Mapping[str, str]:
        """Return the outcome of each test of *run*; empty if no report came with it."""
        ...

    def evidence(self, capsule: Capsule, base: str = "") -> Evidence:
        """Return the Task's Runs judged on the caller's working tree as it is now.

        The ignore list is that of the commit *base*, if one is named, else the work tree's own.
        """
        ...

    def task_evidence(self, task_id: str) -> Evidence:
        """Return `evidence` of a Task; git looks at the tree while the Task is read and folded."""
        ...

    def records(self, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """Yield the log's records, *after* < seq ≤ *upto*."""
        ...

    def size(self) -> int:
        """Return how many events the log holds."""
        ...

    def head(self) -> SignedHead:
        """Return the newest head, as it was when this transaction began."""
        ...

    def task_records(self, task_id: str) -> list[Record]:
        """Return the records of a Task."""
        ...

    def bundle(self, task_id: str, *, since: Sequence[bytes], outputs: bool) -> tuple[bytes, int]:
        """Return the bundle of a Task and how many events it holds.

        It shows that the log continues the heads *since*.
        """
        ...

    def lines(self, task_id: str | None = None) -> Iterator[bytes]:
        """Yield the events of a Task, or of the whole log, as lines of JSON, checked on the way."""
        ...

    def blob(self, digest: str, most: int) -> bytes:
        """Return what blob *digest* holds, decompressed, which is at most *most* bytes."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Keep a blob and return its digest."""
        ...

    def append(
        self,
        draft: Draft,
        *,
        task: str | None = None,
        workspace: str | None = None,
        session: int | None = None,
    ) -> Record:
        """Append an event to the stream of Task *task*, else of *workspace*, else of the ledger."""
        ...

    def eraser(self) -> Eraser:
        """Return what erases payloads in this transaction."""
        ...

    def stream_records(self, stream: str) -> list[Record]:
        """Return the records of *stream*."""
        ...

    def rotate_key(self) -> Record:
        """End the key epoch with this transaction; return the event that names the next key."""
        ...

    def appended(self) -> list[Record]:
        """Return what this transaction has appended."""
        ...

    def retried(self) -> list[Record] | None:
        """Return what this very request appended before, if it is a client's retry."""
        ...

    def follow(self, *, window: str, earlier: str) -> None:
        """Hand the context of the client session before on to the caller's, if it has none."""
        ...

    def remember(self, window: str) -> None:
        """Keep that *window* of the client shows the caller's client session now."""
        ...

    def point(self, session: SessionRow) -> None:
        """Make the caller's context point to *session* once this transaction is durable."""
        ...

    def hand_out(self, session: int, key: SpoolKey) -> None:
        """Leave *key* in the Workspace for Session *session* once this transaction is durable."""
        ...


class Eraser(Protocol):
    """What erases payloads, and what only they named: blobs, what was left at earlier erasures."""

    def erase(self, record: Record, left: Event, fields: tuple[str, ...], reason: str) -> Record:
        """Erase the payload of *record* for good, so that it reads as *left*, and say so."""
        ...

    def erase_again(self, record: Record) -> None:
        """Erase what was erased before, in case its bytes are not out of the files yet."""
        ...


class Local(Protocol):
    """The caller's surroundings, without a ledger."""

    def context_file(self) -> tuple[str, Context | None]:
        """Return the caller's client session, and its context file's words, unchecked."""
        ...


class Log(Protocol):
    """A log that may be damaged, and nothing beside it."""

    def verify(
        self, progress: Progress | None, required: bytes | None = None, *, full: bool = False
    ) -> Report:
        """Recompute and compare, from the head on that was verified last unless *full*.

        *required*: a head that the log must continue.
        """
        ...

    def back_up(self, file: str, progress: Progress | None) -> Report:
        """Write a copy of the whole ledger to *file*, and verify the copy.

        *file* appears whole or not at all; one that is there is never replaced.
        """
        ...


class LocalOperation(Generic[ResultT]):
    """A request that reads no token and opens no ledger."""

    __slots__ = ()

    sends: ClassVar[tuple[str, ...]] = ()

    def look(self, local: Local) -> ResultT:
        """Do it."""
        raise NotImplementedError


class Operation(Generic[ResultT]):
    """A request. Subclasses are frozen dataclasses, or Structs where a start must be quick."""

    __slots__ = ()

    sends: ClassVar[tuple[str, ...]]
    verbatim: ClassVar[frozenset[str]] = frozenset()
    """Fields, at any depth, from which no secret is cut: by them things are found again."""

    def needs(self) -> frozenset[Scope]:
        """Return scopes beyond those of ``sends`` that these very arguments need."""
        return frozenset()

    def is_meant_each_time(self) -> bool:
        """Tell whether equal requests, of calls that the client tells apart, are no retries."""
        return False

    def subject(self, work: Work) -> Capsule | None:
        """Return the Capsule that this operation judges on today's tree before it writes."""
        return None

    def run(self, work: Work) -> ResultT:
        """Do it within the transaction *work*."""
        raise NotImplementedError


class Retryable(Operation[ResultT]):
    """A write that a client may send again: the answer is told from what the first one appended."""

    __slots__ = ()

    def act(self, work: Work) -> None:
        """Append what is asked for."""
        raise NotImplementedError

    def tell(self, work: Work, records: Sequence[Record], *, replayed: bool) -> ResultT:
        """Return the answer to a request that appended *records*."""
        raise NotImplementedError

    def run(self, work: Work) -> ResultT:
        """Append, or find what was appended before; then tell."""
        before = work.retried()
        if before is not None:
            return self.tell(work, before, replayed=True)
        self.act(work)
        return self.tell(work, work.appended(), replayed=False)


class Inspection(Operation[ResultT]):
    """A look into a ledger that may be damaged; other operations are refused one."""

    __slots__ = ()

    def inspect(self, log: Log) -> ResultT:
        """Look into *log*."""
        raise NotImplementedError

    def damaged(self, what: str) -> ResultT:
        """Return the answer about a ledger that cannot be opened; *what* is wrong with it."""
        raise NotImplementedError


Progress = Callable[[int, int], None]
"""Told how many of how many were done."""


def last_seq(records: Iterable[Record]) -> int:
    """Return the number of the last of *records*."""
    return max((record.seq for record in records), default=0)
