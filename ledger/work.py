"""The open transaction as operations see it: rows and Capsules in, events out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memprove.ledger import paths, settings
from memprove.ledger.blobs import read_blob
from memprove.ledger.domain.events import RunKind, TaskState
from memprove.ledger.domain.record import Record
from memprove.ledger.ids import uuid7
from memprove.ledger.log.append import Appender
from memprove.ledger.log.reading import read_events, read_newest, read_stream
from memprove.ledger.observation import Observation
from memprove.ledger.outcomes import MOST_OUTCOMES, decode_outcomes
from memprove.ledger.place import Surroundings
from memprove.ledger.policy import Policy, read_policy
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    CONTEXT_INVALID,
    SESSION_AMBIGUOUS,
    SESSION_ENDED,
    SESSION_MISSING,
    SESSION_UNKNOWN,
    TASK_UNKNOWN,
)
from memprove.ledger.projections import (
    ClientRow,
    SessionRow,
    TaskRow,
    TokenRow,
    WorkspaceRow,
    counter_key,
    decode_row,
    numbered,
)
from memprove.ledger.storage.interface import Reader, Writer
from memprove.ledger.tlog.note import Verifier
from memprove.ledger.tokens import Token, new_token

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule
    from memprove.ledger.domain.evidence import Evidence, Today
    from memprove.ledger.domain.record import Draft
    from memprove.ledger.domain.run import Run
    from memprove.ledger.domain.spool import SpoolKey

RETRY_WINDOW_MS: Final = 10 * 60 * 1000
_ACTIVE: Final = frozenset({TaskState.IN_PROGRESS, TaskState.BLOCKED})


@dataclass(slots=True)
class Transaction:
    """One transaction. It reads through *reader*; *appender* and *writer* are there in a write."""

    reader: Reader
    around: Surroundings
    token: TokenRow
    pin: Verifier
    now: int
    random: Callable[[int], bytes]
    request: str = ""
    writer: Writer | None = None
    appender: Appender | None = None
    judged: Today | None = None
    pointed: SessionRow | None = None
    meant: SessionRow | None = None
    handed_out: tuple[int, SpoolKey] | None = None
    reports: dict[str, Mapping[str, str]] = field(default_factory=dict)

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
        session = self.meant = self._reading_session()
        if number is not None:
            task = self.task(number)
            return task, session if session and session.task_id == task.id else None
        if session is not None:
            return self.task(session.task), session if session.ended_at is None else None
        active = [task for task in self.tasks() if task.state in _ACTIVE]
        if not active:
            raise TASK_UNKNOWN("none is in progress")
        return max(active, key=lambda task: (task.updated_at, task.number)), None

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
        self.meant = self._session(number)
        return self.meant

    def _session(self, number: int | None) -> SessionRow:
        if number is None:
            number = self._number("MEMPROVE_SESSION")
        if number is not None:
            session = self.session_numbered(number)
            if session.ended_at is not None:
                raise SESSION_ENDED(number)
            return session
        pointed = self.pointed_session()
        if pointed is None:
            return self._only_open_session()
        if pointed.ended_at is not None:
            raise SESSION_ENDED(pointed.number)  # another one that is open is somebody else's
        self._check_newest(pointed)
        return pointed

    def _check_newest(self, pointed: SessionRow) -> None:
        """Raise if this client began a later Session: its context could not follow."""
        mark = self.around.client_mark
        later = [
            s for s in self._top_level_here() if s.client == mark and s.number > pointed.number
        ]
        if later:
            named = (pointed.number, *(session.number for session in later))
            raise SESSION_AMBIGUOUS(", ".join(map(str, named)))

    def _top_level_here(self) -> list[SessionRow]:
        """Return the open Sessions of this work tree that have no parent."""
        here = self.worktree
        return [s for s in self.open_sessions() if s.worktree == here and s.parent is None]

    def pointed_session(self) -> SessionRow | None:
        """Return the Session that the caller's context points to, as the ledger has it.

        Raises ``context_invalid`` for a context that does not fit the ledger.
        """
        context = self.around.context(self.workspaces())
        if context is None:
            return None
        workspace = self.workspace()
        if context.workspace != workspace.id:
            raise CONTEXT_INVALID("it is of another Workspace")
        value = self.reader.row("session", numbered(workspace.id, context.session_number))
        session = decode_row(SessionRow, value) if value is not None else None
        if session is None or (session.id, session.task_id) != (context.session, context.task):
            raise CONTEXT_INVALID(f"it names Session {context.session_number} of another Task")
        return session

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

    def records(self, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """Yield the log's records, *after* < seq ≤ *upto*."""
        return read_events(self.reader, after, upto)

    def task_records(self, task_id: str) -> list[Record]:
        """Return the records of a Task."""
        return read_stream(self.reader, f"task/{task_id}")

    def newest_records(self, task_id: str, most: int) -> list[Record]:
        """Return the newest *most* records of a Task: without its chain, which needs all."""
        stream = f"task/{task_id}"
        tail = self.reader.stream_tail(stream)
        return read_newest(self.reader, stream, tail.stream_seq - most if tail else 0)

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

    def evidence(self, capsule: Capsule) -> Evidence:
        """Return the Task's Runs judged on the caller's working tree as it is now.

        A write was given a look at the tree that was taken before it held the lock.
        """
        from memprove.ledger.domain.evidence import Evidence  # late, as above

        if self.judged is not None:
            return Evidence(capsule, self.judged, self.outcomes)
        filters = self._policy().filters
        observation = Observation(self._worktree_of(capsule), allowed_filters=filters)
        return Evidence(capsule, observation.today(capsule, self.blob), self.outcomes)

    def outcomes(self, run: Run) -> Mapping[str, str]:
        """Return the outcome of each test of *run*; empty if no report came with it."""
        digest = run.ended.outcomes if run.ended else None
        if digest is None:
            return {}
        if digest not in self.reports:
            self.reports[digest] = decode_outcomes(self.blob(digest, MOST_OUTCOMES))
        return self.reports[digest]

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
            labels=[*draft.given, *self._new_labels(stream, workspace, draft.assigns)],
            session=session,
        )

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

    def _new_labels(
        self, stream: str, workspace: str | None, letters: tuple[str, ...]
    ) -> list[str]:
        labels: list[str] = []
        taken: dict[str, int] = {}
        for letter in letters:
            if letter not in taken:
                value = self.reader.row("counter", counter_key(stream, workspace, letter))
                taken[letter] = int(value or b"0")
            taken[letter] += 1
            labels.append(f"{letter}{taken[letter]}")
        return labels

    def _number(self, variable: str) -> int | None:
        text = self.variable(variable)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise ARGUMENT_INVALID(f"{variable} is no number: {text}")
        return int(text)

    def _only_open_session(self) -> SessionRow:
        sessions = self._top_level_here()
        if len(sessions) == 1:
            return sessions[0]
        if sessions:
            raise SESSION_AMBIGUOUS(", ".join(str(session.number) for session in sessions))
        raise SESSION_MISSING()

    def _reading_session(self) -> SessionRow | None:
        """Return the Session that a read is about; ended ones count, none is no Problem."""
        number = self._number("MEMPROVE_SESSION")
        if number is not None:
            return self.session_numbered(number)
        pointed = self.pointed_session()
        if pointed is not None:
            return pointed
        sessions = self._top_level_here()
        return sessions[0] if len(sessions) == 1 else None
