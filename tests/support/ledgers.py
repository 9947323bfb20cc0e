"""Real ledgers for tests: set up by ``set_up`` below a temporary folder, with a clock to turn."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from support.git_repository import new_repository

from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Record, decode, decode_leaf
from memprove.ledger.log.report import Report
from memprove.ledger.observation import Observation
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.runs import EndRun, RunTold, StartRun
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
from memprove.ledger.setup import SetUp, set_up
from memprove.ledger.storage.interface import StoredEvent
from memprove.ledger.storage.registry import FILE_NAME, open_store
from memprove.ledger.workspace.context import file_name

ResultT = TypeVar("ResultT")

NOTHING = e.StreamKept(length=0, sha256="e3b0c44298fc1c149afbf4c8996fb924")
NO_TREE = e.TreeState(id=None, reason="no_repository")
MINUTE = 60_000


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, now: int = 1_790_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def turn(self, milliseconds: int) -> None:
        """Go on, or back."""
        self.now += milliseconds


def seeded(seed: int = 1) -> Callable[[int], bytes]:
    """Return a source of bytes that is the same every time."""
    return random.Random(seed).randbytes


@dataclass(frozen=True)
class Project:
    """A folder that is a Workspace of a ledger, and how callers in it reach the ledger."""

    folder: Path
    config_dir: Path
    data_dir: Path
    env: dict[str, str]
    clock: Clock = field(default_factory=Clock)
    random: Callable[[int], bytes] = field(default_factory=seeded)

    def caller(self, **variables: str) -> Caller:
        """Return a caller in the folder with *variables* beside its environment."""
        return Caller("cli", self.folder, {**self.env, **variables})

    def ledger(self, **variables: str) -> Ledger:
        """Return the ledger as such a caller reaches it."""
        return Ledger(self.caller(**variables), clock=self.clock, random=self.random)

    def execute(self, operation: Operation[ResultT], **variables: str) -> ResultT:
        """Let such a caller execute *operation*, a second after the one before."""
        self.clock.turn(1_000)
        return self.ledger(**variables).execute(operation)

    def set_up(self) -> SetUp:
        """Do what ``init`` does in the folder."""
        return set_up(self.caller())

    def at(self, folder: Path) -> "Project":
        """Return the same ledger, reached from *folder*."""
        return replace(self, folder=folder)

    @property
    def state_dir(self) -> Path:
        """Return where what was seen of the ledger is remembered."""
        return Path(self.env["MEMPROVE_STATE_DIR"])

    @property
    def keys(self) -> list[Path]:
        """Return the private keys that there are."""
        return sorted(self.config_dir.glob("keys/*/*"))

    def forget(self) -> None:
        """Lose what was remembered."""
        shutil.rmtree(self.state_dir, ignore_errors=True)

    @property
    def database(self) -> Path:
        """Return the file that holds the log."""
        return self.data_dir / FILE_NAME

    def events(self) -> list[StoredEvent]:
        """Return the events as they are stored."""
        store = open_store(self.data_dir)
        try:
            with store.read() as reader:
                return list(reader.events())
        finally:
            store.close()

    def records(self) -> list[Record]:
        """Return the events as they are read."""
        return [decode(decode_leaf(event.leaf), event.payload) for event in self.events()]

    def size(self) -> int:
        """Return how many events there are."""
        return len(self.events())

    def verify(self) -> Report:
        """Verify the whole ledger."""
        return self.ledger().execute(VerifyLedger(full=True))

    def check_green(self) -> None:
        """Check that the ledger verifies."""
        report = self.verify()
        assert report.ok, report.findings

    def everything_stored(self) -> bytes:
        """Return all bytes of the data directory and of the Workspace's own folder."""
        files = [*self.data_dir.rglob("*"), *(self.folder / ".memprove").rglob("*")]
        return b"\0".join(path.read_bytes() for path in files if path.is_file())

    def tamper(self, *statements: str, bindings: tuple[object, ...] = ()) -> None:
        """Change the file as somebody does who can write it: no trigger, no check in the way."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement, bindings)
            for _, sql in triggers:
                connection.execute(sql)

    def write(self, name: str, text: str) -> None:
        """Write a file of the Workspace."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def context_file(self, client: str = "shell") -> Path:
        """Return where the context of *client* is."""
        return self.folder / ".memprove" / "context" / f"{file_name(client)}.json"

    def run(
        self,
        *argv: str,
        exit: int | None = 0,
        signal: int | None = None,
        kind: e.RunKind = e.RunKind.TEST,
        passed: int | None = 3,
        failed: int = 0,
        masked: str = "",
        moved: tuple[str, ...] = (),
        session: int | None = None,
        ended: bool = True,
        **variables: str,
    ) -> RunTold:
        """Record a Run of *argv* on the tree as it is, without running anything."""
        state, data = Observation(self.folder).state()
        blobs = (data,) if data is not None else ()
        tests = kind is e.RunKind.TEST and passed is not None
        command = argv or ("pytest", "-q")
        started = run_started(*command, kind=kind, tree=state, worktree=str(self.folder))
        told = self.execute(StartRun(started, blobs, session), **variables)
        if not ended:
            return told
        counts = e.TestCounts(runner="pytest", passed=passed or 0, failed=failed)
        end = run_ended(
            told.run,
            kind=kind,
            exit=exit,
            signal=signal,
            tree=state,
            counts=counts if tests else None,
            masked=masked,
            moved=moved,
        )
        return self.execute(EndRun(told, end, blobs), **variables)


def run_started(
    *argv: str,
    kind: e.RunKind = e.RunKind.TEST,
    tree: e.TreeState = NO_TREE,
    worktree: str = "",
) -> e.RunStarted:
    """Return the start of a Run of *argv*."""
    return e.RunStarted(argv=argv, cwd="", worktree=worktree, kind=kind, tree=tree)


def run_ended(
    label: str,
    *,
    kind: e.RunKind = e.RunKind.TEST,
    exit: int | None = 0,
    signal: int | None = None,
    tree: e.TreeState = NO_TREE,
    counts: e.TestCounts | None = None,
    masked: str = "",
    moved: tuple[str, ...] = (),
) -> e.RunEnded:
    """Return the end of the Run *label*."""
    return e.RunEnded(
        run=label,
        kind=kind,
        exit=exit,
        signal=signal,
        duration_ms=900,
        stdout=NOTHING,
        stderr=NOTHING,
        tree=tree,
        counts=counts,
        counts_needed=kind is e.RunKind.TEST,
        masked=masked,
        moved=moved,
        moved_count=len(moved),
    )


def record_of(stored: StoredEvent) -> Record:
    """Return the record in *stored*, unchecked."""
    return decode(decode_leaf(stored.leaf), stored.payload)


def new_project(tmp_path: Path, *, repository: bool = False) -> Project:
    """Return a Workspace with a ledger of its own; *repository*: of git, with one commit."""
    project = unset(tmp_path, repository=repository)
    project.set_up()
    return project


def unset(tmp_path: Path, *, repository: bool = False) -> Project:
    """Return a folder in which ``init`` was not run yet."""
    folder = tmp_path / "project"
    if repository:
        new_repository(folder)
    else:
        folder.mkdir(parents=True)
    config_dir, data_dir = tmp_path / "config", tmp_path / "data"
    env = {
        "PATH": os.environ["PATH"],
        "MEMPROVE_CONFIG_DIR": str(config_dir),
        "MEMPROVE_DATA_DIR": str(data_dir),
        "MEMPROVE_STATE_DIR": str(tmp_path / "state"),
    }
    return Project(folder, config_dir, data_dir, env)
