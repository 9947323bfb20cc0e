"""The open transaction as operations see it: rows and Capsules in, events out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from memprove.ledger import meaning, paths, settings
from memprove.ledger.blobs import read_blob
from memprove.ledger.domain.events import KeyRotated, RunKind, TaskState
from memprove.ledger.domain.record import Record
from memprove.ledger.ids import uuid7
from memprove.ledger.log.append import Appender
from memprove.ledger.log.reading import Opened, read_events, read_stream
from memprove.ledger.log.report import SignedHead
from memprove.ledger.log.rotation import LiveKey
from memprove.ledger.observation import Observation
from memprove.ledger.outcomes import Reports
from memprove.ledger.place import Surroundings
from memprove.ledger.policy import Policy, read_policy
from memprove.ledger.problems import (
    SESSION_UNKNOWN,
    TASK_UNKNOWN,
)
from memprove.ledger.projections import (
    ClientRow,
    SessionRow,
    TaskRow,
    TokenRow,
    WorkspaceRow,
    decode_row,
    new_labels,
    numbered,
)
from memprove.ledger.storage.interface import Reader, Writer
from memprove.ledger.tokens import Token, new_token

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule
    from memprove.ledger.domain.evidence import Evidence, Today
    from memprove.ledger.domain.record import Draft
    from memprove.ledger.domain.run import Run
    from memprove.ledger.domain.spool import SpoolKey
    from memprove.ledger.operations.base import Eraser
    from memprove.ledger.workspace.config import WorkspaceConfig

RETRY_WINDOW_MS: Final = 10 * 60 * 1000
_ACTIVE: Final = frozenset({TaskState.IN_PROGRESS, TaskState.BLOCKED})


class Transaction(msgspec.Struct):
    """One transaction. It reads through *reader*; *appender* and *writer* are there in a write."""

    reader: Reader
    around: Surroundings
    token: TokenRow
    now: int
    random: Callable[[int], bytes]
    request: str = ""
    writer: Writer | None = None
    appender: Appender | None = None
    key: LiveKey | None = None
    opened: Opened | None = None
    judged: Today | None = None
    pointed: SessionRow | None = None
    meant: SessionRow | None = None
    handed_out: tuple[int, SpoolKey] | None = None
    reports: Reports | None = None

    # The caller's surroundings

    @property
    def worktree(self) -> str:
        """Return the root of the work tree that the caller is in."""
        return paths.to_text(self.around.match(self.workspaces()).place.worktree)

    def below(self, cwd: str | None = None) -> str:
        """Return the caller's directory (or *cwd*) below the work tree's root."""
        place = self.around.match(self.workspaces()).place
        return place.below(Path(cwd) if cwd else self.around.caller.cwd)

    def variable(self, name: str) -> str | None:
        """Return an environment variable of the caller, without secrets."""
        return self.around.variable(name)

    def new_id(self) -> str:
        """Return a new UUID, version 7."""
        return uuid7(self.now, self.random)

    def new_token(self) -> Token:
        """Return a new token."""
        return new_token(self.random)

    def new_spool_key(self) -> SpoolKey:
        """Return a new key for the spool of a Session."""
        from memprove.ledger.domain.spool import KEY_BYTES, SpoolKey  # late: only begin needs it

        return SpoolKey(self.random(KEY_BYTES))

    # Workspaces, Tasks, Sessions, tokens

    def workspaces(self) -> list[WorkspaceRow]:
        """Return all Workspaces by number."""
        rows = [decode_row(WorkspaceRow, value) for _, value in self.reader.rows("workspace")]
        return sorted(rows, key=lambda row: row.number)

    def workspace(self) -> WorkspaceRow:
        """Return the Workspace that the caller is in."""
        rows = self.workspaces()
        found = self.around.match(rows).workspace.id
        return next(row for row in rows if row.id == found)

    def tokens(self) -> list[TokenRow]:
        """Return all tokens."""
        return [decode_row(TokenRow, value) for _, value in self.reader.rows("token")]

    def task(self, number: int) -> TaskRow:
        """Return Task *number* of the Workspace."""
        value = self.reader.row("task", numbered(self.workspace().id, number))
        if value is None:
            raise TASK_UNKNOWN(number)
        return decode_row(TaskRow, value)

    def tasks(self, after: int = 0) -> Iterator[TaskRow]:
        """Yield the Workspace's Tasks by number."""
        id = self.workspace().id
        for _, value in self.reader.rows("task", f"{id}/", numbered(id, max(0, after))):
            yield decode_row(TaskRow, value)

    def current_task(self, number: int | None = None) -> tuple[TaskRow, SessionRow | None]:
        """Return the Task that is meant, and the caller's open Session if it is of this Task."""
        session = self.meant = meaning.read_session(self)
        if number is not None:
            task = self.task(number)
            return task, session if session and session.task_id == task.id else None
        if session is not None:
            return self.task(session.task), session if session.ended_at is None else None
        active = [task for task in self.tasks() if task.state in _ACTIVE]
        if not active:
            raise TASK_UNKNOWN("none is in progress")
        return max(active, key=lambda task: task.changed), None  # a clock may step back

    def session_numbered(self, number: int) -> SessionRow:
        """Return Session *number*, open or ended."""
        value = self.reader.row("session", numbered(self.workspace().id, number))
        if value is None:
            raise SESSION_UNKNOWN(number)
        return decode_row(SessionRow, value)

    def open_sessions(self) -> list[SessionRow]:
        """Return the open Sessions of the Workspace, by number."""
        prefix = f"{self.workspace().id}/"
        return [self.session_numbered(int(value)) for _, value in self.reader.rows("open", prefix)]

    def session(self, number: int | None = None) -> SessionRow:
        """Return the open Session that is meant: the argument, the environment, the context."""
        self.meant = meaning.open_session(self, number)
        return self.meant

    def pointed_session(self) -> SessionRow | None:
        """Return the Session that the caller's context points to, as the ledger has it."""
        return meaning.pointed_session(self)

    def has_spooled(self) -> bool:
        """Tell whether a Run waits in the spool of the work tree that the caller is in."""
        return self.around.has_spooled(self.workspaces())

    def follow(self, *, window: str, earlier: str) -> None:
        """Hand the context of the client session before on to the caller's, if it has none."""
        from memprove.ledger import following  # late: only hooks do

        following.follow(self, self.around, window=window, earlier=earlier)

    def remember(self, window: str) -> None:
        """Keep that *window* of the client shows the caller's client session now."""
        from memprove.ledger import following  # late, as above

        following.remember(self, self.around, window)

    def point(self, session: SessionRow) -> None:
        """Make the caller's context point to *session* once this transaction is durable."""
        self.pointed = session

    def hand_out(self, session: int, key: SpoolKey) -> None:
        """Leave *key* in the Workspace for Session *session* once this transaction is durable."""
        self.handed_out = (session, key)

    # The log

    def size(self) -> int:
        """Return how many events the log holds."""
        return self.reader.size()

    def head(self) -> SignedHead:
        """Return the newest head, as it was when this transaction began."""
        assert self.opened is not None
        return self.opened.told

    def records(self, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """Yield the log's records, *after* < seq ≤ *upto*."""
        return read_events(self.reader, after, upto)

    def task_records(self, task_id: str) -> list[Record]:
        """Return the records of a Task."""
        return read_stream(self.reader, f"task/{task_id}")

    def stream_records(self, stream: str) -> list[Record]:
        """Return the records of *stream*."""
        return read_stream(self.reader, stream)

    def capsule(self, task_id: str) -> Capsule:
        """Return the Capsule of a Task."""
        from memprove.ledger.domain.capsule import fold  # late: recording a Run folds nothing

        return fold(self.task_records(task_id))

    def loose_runs(self) -> Capsule:
        """Return the Workspace's Runs outside Sessions, as a Capsule that has only Runs."""
        from memprove.ledger.domain.capsule import fold  # late, as above

        return fold(read_stream(self.reader, f"workspace/{self.workspace().id}"))

    def completing_kinds(self) -> frozenset[RunKind]:
        """Return the kinds of Runs that complete a Task of the Workspace, as its owner has it."""
        return self._policy().kinds

    def spooled_counts(self) -> bool:
        """Tell whether spooled Runs complete a Task of the Workspace, as its owner has it."""
        return self._policy().spooled

    def allowed_filters(self) -> tuple[str, ...]:
        """Return the repository's own filter drivers that the owner lets run."""
        return tuple(sorted(self._policy().filters))

    def evidence(self, capsule: Capsule, base: str = "") -> Evidence:
        """Return the Task's Runs judged on the caller's working tree as it is now.

        The ignore list is that of the commit *base*, if one is named. A write was given a look at
        the tree that was taken before it held the lock.
        """
        from memprove.ledger.domain.evidence import Evidence  # late, as above
        from memprove.ledger.workspace.revision import config_at

        if self.judged is not None:
            return Evidence(capsule, self.judged, self.outcomes)
        worktree = self._worktree_of(capsule)
        observation = self._observation(worktree, config_at(worktree, base) if base else None)
        return Evidence(capsule, observation.today(capsule, self.blob), self.outcomes)

    def task_evidence(self, task_id: str) -> Evidence:
        """Return `evidence` of a Task; git looks at the tree while the Task is read and folded."""
        from memprove.ledger.domain.evidence import Evidence  # late, as above

        observation = self._observation(paths.from_text(self.worktree))
        with observation.meanwhile():
            capsule = self.capsule(task_id)
        if observation.worktree != self._worktree_of(capsule):
            return self.evidence(capsule)
        return Evidence(capsule, observation.today(capsule, self.blob), self.outcomes)

    def _observation(self, worktree: Path, config: WorkspaceConfig | None = None) -> Observation:
        return Observation(
            worktree,
            deadline_s=self.around.caller.patience_s,
            allowed_filters=self._policy().filters,
            config=config,
        )

    def outcomes(self, run: Run) -> Mapping[str, str]:
        """Return the outcome of each test of *run*; empty if no report came with it."""
        if self.reports is None:
            self.reports = Reports(self.blob)
        return self.reports(run)

    def bundle(self, task_id: str, *, since: Sequence[bytes], outputs: bool) -> tuple[bytes, int]:
        """Return the bundle of a Task and how many events it holds.

        It shows that the log continues the heads *since*.
        """
        from memprove.ledger import exporting  # late, as above

        config_dir = settings.config_dir(self.around.caller)
        return exporting.bundle(self.reader, config_dir, task_id, since=since, outputs=outputs)

    def lines(self, task_id: str | None = None) -> Iterator[bytes]:
        """Yield the events of a Task, or of the whole log, as lines of JSON, checked on the way."""
        from memprove.ledger import exporting  # late, as above

        return exporting.lines(self.reader, task_id)

    def blob(self, digest: str, most: int) -> bytes:
        """Return what blob *digest* holds, decompressed, which is at most *most* bytes."""
        return read_blob(self.reader, digest, most)

    def put_blob(self, data: bytes) -> str:
        """Keep a blob and return its digest."""
        assert self.writer is not None
        digest = sha256(data).hexdigest()
        self.writer.put_blob(digest, data)
        return digest

    def append(
        self,
        draft: Draft,
        *,
        task: str | None = None,
        workspace: str | None = None,
        session: int | None = None,
    ) -> Record:
        """Append an event to the stream of Task *task*, else of *workspace*, else of the ledger."""
        assert self.appender is not None
        if task is not None:
            stream, workspace = f"task/{task}", self.workspace().id
        else:
            stream = f"workspace/{workspace}" if workspace is not None else "ledger"
        return self.appender.append(
            draft.event,
            stream=stream,
            workspace=workspace,
            labels=[*draft.given, *new_labels(self.reader, stream, workspace, draft.assigns)],
            session=session,
        )

    def eraser(self) -> Eraser:
        """Return what erases payloads in this transaction."""
        from memprove.ledger.erasing import PayloadEraser  # late: few transactions erase

        assert self.writer is not None
        assert self.appender is not None
        return PayloadEraser(self.writer, self.appender)

    def rotate_key(self) -> Record:
        """End the key epoch with this transaction; return the event that names the next key."""
        assert self.key is not None
        assert self.appender is not None
        return self.key.rotate(self.appender, self.random)

    def appended(self) -> list[Record]:
        """Return what this transaction has appended."""
        assert self.appender is not None
        return self.appender.records

    def retried(self) -> list[Record] | None:
        """Return what this very request appended before, if it is a client's retry."""
        key = f"{self.workspace().id}/{self.around.client_mark}"
        value = self.reader.row("client", key)
        if value is None or not self.request:
            return None
        last = decode_row(ClientRow, value)
        if last.request != self.request or abs(self.now - last.at) > RETRY_WINDOW_MS:
            return None
        records: list[Record] = []
        for record in self.records(last.seq - 1):
            if (record.leaf.actor.request, record.leaf.at) != (last.request, last.at):
                break
            if not isinstance(record.event, KeyRotated):  # part of the commit, not of the request
                records.append(record)
        return records or None

    # Private

    def _worktree_of(self, capsule: Capsule) -> Path:
        """Return the work tree that is today's: for a tool, that of its Session's newest Run."""
        session = self.meant
        number = session.number if session and session.task_id == capsule.id else None
        runs = [run for run in capsule.runs.values() if number and run.session == number]
        if self.around.caller.face != "mcp" or not runs:
            return paths.from_text(self.worktree)
        return self.around.worktree(self.workspaces(), runs[-1].started.worktree)

    def _policy(self) -> Policy:
        return read_policy(settings.config_dir(self.around.caller), self.workspace().number)
