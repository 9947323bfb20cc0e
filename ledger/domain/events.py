"""Every kind of event, one frozen Struct each. Adding a kind starts here.

A Struct is the payload of an event; its name on the wire and its version are in ``KINDS``. Fields
with a default may be left out of the payload. A field may be added with a default; any other change
is a new version with a pure function that lifts the old one.
"""

from enum import StrEnum
from typing import Final

import msgspec


class TaskState(StrEnum):
    """Where a Task stands."""

    BACKLOG = "backlog"
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    CANCELED = "canceled"


class RunKind(StrEnum):
    """What a Run shows: ``test`` needs counts of tests."""

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    OTHER = "other"


COUNTING: Final = frozenset({RunKind.TEST, RunKind.BUILD, RunKind.LINT})
"""The kinds on which a Task completes, unless the owner names fewer."""


class DecisionState(StrEnum):
    """Where a Decision stands."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A frozen value whose defaults are not written."""


class LedgerCreated(_Value, frozen=True):
    """The log begins: *origin* names it, *key* is the vkey (C2SP) of its first epoch."""

    ledger: str
    origin: str
    key: str


class LedgerRestored(_Value, frozen=True):
    """The log goes on under a new *origin*, from this event on; *key* is the vkey of *epoch*.

    *before* was its origin, of which *head* is the last signed note. *newest* is the newest signed
    note that was known of it, where that one is another; *lost* are the first and the last number
    of the events that are known to be missing. *why* is ``restore`` or ``adopt``.
    """

    origin: str
    epoch: int
    key: str
    before: str
    head: str
    why: str
    newest: str = ""
    lost: tuple[int, ...] = ()


class TokenIssued(_Value, frozen=True):
    """A token may act from here on. *secret_hash* is SHA-256 of its secret, hex."""

    token: str
    name: str
    role: str
    scopes: tuple[str, ...]
    secret_hash: str


class TokenRevoked(_Value, frozen=True):
    """A token may act no more."""

    token: str


class KeyRotated(_Value, frozen=True):
    """The next event begins epoch number *epoch*, whose heads *key* (a vkey) signs."""

    epoch: int
    key: str


class WorkspaceRegistered(_Value, frozen=True):
    """A project root belongs to this ledger. *inode* and *device* as text: they exceed 2^53."""

    id: str
    name: str
    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...] = ()


class WorkspaceAttached(_Value, frozen=True):
    """The Workspace is at another place now."""

    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...] = ()


class TaskCreated(_Value, frozen=True):
    """A Task exists from here on; the leaf's label names its number."""

    id: str
    title: str
    description: str = ""
    state: TaskState = TaskState.PENDING


class Judged(_Value, frozen=True):
    """One Check as a completion judged it: the deciding Run and what it showed."""

    run: str
    verdict: str
    fresh: bool
    spooled: bool = False


class Completion(_Value, frozen=True):
    """On what a Task was completed."""

    judged: tuple[Judged, ...] = ()
    tree: str | None = None
    ignore: tuple[str, ...] = ()
    accept_stale: str = ""
    accept_untested: str = ""


class TaskMoved(_Value, frozen=True):
    """A Task went from one state to another."""

    source: TaskState
    target: TaskState
    comment: str = ""
    completion: Completion | None = None


class SessionStarted(_Value, frozen=True):
    """An agent or a person is at work on the Task; the leaf's label names the number.

    *spool_key* is SHA-256 of the key under which its shell may spool Runs, hex; empty: none.
    """

    id: str
    agent: str
    role: str = ""
    parent: int | None = None
    worktree: str = ""
    spool_key: str = ""


class SessionEnded(_Value, frozen=True):
    """Session number *session* is over. *abandoned*: another one ended it."""

    session: int
    note: str = ""
    abandoned: bool = False


class TreeState(_Value, frozen=True):
    """The working tree at one moment. *id* None: unknown, for *reason*."""

    id: str | None
    reason: str = ""
    base: str | None = None
    branch: str | None = None
    snapshot: str | None = None
    hidden: int = 0


class RunStarted(_Value, frozen=True):
    """A command is about to run. *exact* tells that argv is what ran, byte for byte.

    *check* is set where argv was erased: it stands for the Check, so that none is regrouped.
    """

    argv: tuple[str, ...]
    cwd: str
    worktree: str
    kind: RunKind
    tree: TreeState
    ignore: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    exact: bool = True
    junit: str = ""
    rerun_of: str = ""
    check: str = ""


class StreamKept(_Value, frozen=True):
    """What a command wrote to one stream. *cut* bytes in its middle are not in *blob*."""

    length: int
    sha256: str
    redacted: bool = False
    tail: str = ""
    blob: str | None = None
    cut: int = 0


class TestCounts(_Value, frozen=True):
    """Counts of tests, and where they were read: a runner's summary or a report."""

    __test__ = False  # not a test class for pytest

    runner: str
    source: str = "output"
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    @property
    def ran(self) -> int:
        """Return how many tests gave a result."""
        return self.passed + self.failed + self.errors


class RunEnded(_Value, frozen=True):
    """The command has ended. Exactly one of *exit* and *signal* is set.

    *crashed*: the signal is one that a program's own fault raises. A crash is a failure; were it an
    interruption, an older green Run would go on to decide.

    *spooled*: the Run was not recorded when it was made but adopted from the spool, as number
    *spooled* of its Session; it began at *spooled_at*, in milliseconds.
    """

    run: str
    kind: RunKind
    exit: int | None
    signal: int | None
    duration_ms: int
    stdout: StreamKept
    stderr: StreamKept
    tree: TreeState
    timed_out: bool = False
    crashed: bool = False
    error: str = ""
    counts: TestCounts | None = None
    counts_needed: bool = False
    outcomes: str | None = None
    masked: str = ""
    moved: tuple[str, ...] = ()
    moved_count: int = 0
    products: tuple[str, ...] = ()
    product_count: int = 0
    notes: tuple[str, ...] = ()
    spooled: int = 0
    spooled_at: int = 0


class Fact(_Value, frozen=True):
    """A statement and the citations behind it."""

    text: str
    evidence: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class Reaffirmed(_Value, frozen=True):
    """A claim stated again, with the evidence that joins it."""

    claim: str
    evidence: tuple[str, ...] = ()


class CheckpointRecorded(_Value, frozen=True):
    """What a Session states at one moment. The leaf's labels name *facts*, then *opened*."""

    facts: tuple[Fact, ...] = ()
    opened: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    reaffirmed: tuple[Reaffirmed, ...] = ()
    withdrawn: tuple[str, ...] = ()
    next_action: str = ""


class DecisionProposed(_Value, frozen=True):
    """A choice and why. The leaf's label names it."""

    title: str
    choice: str
    rationale: str
    alternatives: tuple[str, ...] = ()
    supersedes: str = ""
    evidence: tuple[str, ...] = ()


class DecisionDecided(_Value, frozen=True):
    """The owner accepted or rejected a Decision."""

    decision: str
    outcome: DecisionState
    comment: str = ""


class NoteRecorded(_Value, frozen=True):
    """A client's hook saw a test command that ``memprove run`` did not record. It proves nothing.

    *cut* characters of *command* were left out at its end. *failed*: what the client said of it.
    """

    command: str
    cut: int = 0
    failed: bool = False


class PayloadErased(_Value, frozen=True):
    """The payload of event number *event* is gone; *kept*, canonical JSON, is what survives of it.

    *fields* are all that were erased so far. *replaces* are earlier erasures of the same event:
    their payloads are gone too, because they kept what had to go now.
    """

    event: int
    fields: tuple[str, ...]
    reason: str
    kept: str
    replaces: tuple[int, ...] = ()


Event = (
    LedgerCreated
    | TokenIssued
    | TokenRevoked
    | KeyRotated
    | LedgerRestored
    | WorkspaceRegistered
    | WorkspaceAttached
    | TaskCreated
    | TaskMoved
    | SessionStarted
    | SessionEnded
    | RunStarted
    | RunEnded
    | CheckpointRecorded
    | DecisionProposed
    | DecisionDecided
    | NoteRecorded
    | PayloadErased
)

KINDS: dict[str, tuple[type[Event], int]] = {
    "ledger.created": (LedgerCreated, 1),
    "token.issued": (TokenIssued, 1),
    "token.revoked": (TokenRevoked, 1),
    "key.rotated": (KeyRotated, 1),
    "ledger.restored": (LedgerRestored, 1),
    "workspace.registered": (WorkspaceRegistered, 1),
    "workspace.attached": (WorkspaceAttached, 1),
    "task.created": (TaskCreated, 1),
    "task.moved": (TaskMoved, 1),
    "session.started": (SessionStarted, 1),
    "session.ended": (SessionEnded, 1),
    "run.started": (RunStarted, 1),
    "run.ended": (RunEnded, 1),
    "checkpoint.recorded": (CheckpointRecorded, 1),
    "decision.proposed": (DecisionProposed, 1),
    "decision.decided": (DecisionDecided, 1),
    "note.recorded": (NoteRecorded, 1),
    "payload.erased": (PayloadErased, 1),
}
"""Name on the wire → Struct and its current version."""
