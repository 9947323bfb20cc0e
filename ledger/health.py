"""What `memprove doctor` looks at below the clients: programs, files, the ledger. It only looks."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memprove.ledger import settings
from memprove.ledger.domain.lines import counted
from memprove.ledger.findings import Check, Finding, State, ok, skipped
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.reading import check_head
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import pinned
from memprove.ledger.operations.keys import ReadHead
from memprove.ledger.operations.workspaces import FindWorkspace
from memprove.ledger.problems import (
    DATA_DIR_MISSING,
    KEY_UNSAFE,
    LEDGER_DAMAGED,
    WORKSPACE_GONE,
    WORKSPACE_MISMATCH,
    WORKSPACE_UNREGISTERED,
    Problem,
)
from memprove.ledger.projections import LEDGER_KEY, LedgerRow, decode_row
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
from memprove.ledger.storage.filesystem import NETWORK_TYPES, filesystem_type
from memprove.ledger.storage.registry import open_store
from memprove.ledger.storage.sqlite_version import SAFE, is_safe, sqlite_version
from memprove.ledger.workspace import spool
from memprove.ledger.workspace.git import Git, Unknown
from memprove.ledger.workspace.resolve import Place, locate

OLDEST_GIT: Final = (2, 31)
WARY_GIT: Final = (2, 38)
_GIT_S: Final = 5.0
_WAIT_S: Final = 5.0
_SECRET: Final = ("token", "owner-token")


@dataclass(frozen=True, slots=True)
class Site:
    """Where the caller is: its folders, and the Workspace that it may be in."""

    caller: Caller
    place: Place | None

    @classmethod
    def of(cls, caller: Caller) -> "Site":
        """Look for the place; None where the working directory is gone."""
        try:
            places = locate(caller.cwd)
        except Problem as problem:
            if problem.kind is not WORKSPACE_GONE:
                raise
            return cls(caller, None)
        git = next((place for place in places if place.kind == "git"), None)
        marked = next((one for one in places if (one.worktree / ".memprove").is_dir()), places[0])
        return cls(caller, git or marked)

    @property
    def config_dir(self) -> Path:
        """Return the configuration directory."""
        return settings.config_dir(self.caller)

    @property
    def has_ledger(self) -> bool:
        """Tell whether the caller has a ledger at all."""
        return settings.named_data_dir(self.caller) is not None


def sqlite(site: Site) -> Iterator[Finding]:
    """Look at the version of SQLite."""
    yield judged_sqlite(sqlite_version())


def judged_sqlite(version: str) -> Finding:
    """Return what is to be said of SQLite *version*."""
    if is_safe(version):
        return ok(f"SQLite {version}")
    what = f"SQLite {version} can lose commits (WAL-reset bug, mended in {SAFE})"
    return Finding(State.FAULT, what, "install a newer apsw: `pip install --upgrade apsw`")


def git(site: Site) -> Iterator[Finding]:
    """Look at the version of git."""
    try:
        found = Git.find(
            Path(os.sep) if site.place is None else site.place.worktree, deadline_s=_GIT_S
        )
        output = found.read("--version").decode("ascii", "replace")
    except Unknown as unknown:
        needed = site.place is not None and site.place.kind == "git"
        state = State.FAULT if needed else State.WARNING
        yield Finding(state, f"git cannot be asked: {unknown}", "install git, on an absolute PATH")
        return
    yield judged_git(output.strip())


def judged_git(told: str) -> Finding:
    """Return what is to be said of a git whose version reads *told*."""
    words = told.removeprefix("git version ").split(".")
    numbers = tuple(int(word) for word in words[:2] if word.isascii() and word.isdigit())
    if len(numbers) < 2 or numbers < OLDEST_GIT:
        what = f"{told[:60]} is too old: no tree can be computed"
        return Finding(State.FAULT, what, "install git 2.38 or newer")
    if numbers < WARY_GIT:
        what = f"{told[:60]} does not refuse bare repositories inside the Workspace"
        return Finding(State.WARNING, what, "install git 2.38 or newer")
    return ok(told[:60])


def permissions(site: Site) -> Iterator[Finding]:
    """Look at who can read key and tokens, and who can write what is believed."""
    config = site.config_dir
    if not config.is_dir():
        yield skipped(f"there is no {config}")
        return
    open_to = [found for file, secret in _files(config) if (found := exposed(file, secret))]
    for path, why in open_to:
        mode = "700" if path.is_dir() else "600"
        yield Finding(State.FAULT, f"{path} {why}", f"chmod {mode} {path}, as its owner")
    if not open_to:
        yield ok(f"key, tokens and configuration in {config} are yours alone")


def _files(config: Path) -> Iterator[tuple[Path, bool]]:
    """Yield what lies in *config*, and whether to read it is enough to harm."""
    yield config, False
    for name in ("keys", "trust", settings.DATA_DIR, settings.INSTALLATION, "config.toml"):
        yield config / name, False
    for name in _SECRET:
        yield config / name, True
    for key in sorted((config / "keys").glob("*/*.key")):
        yield key.parent, False
        yield key, True


def exposed(path: Path, secret: bool) -> tuple[Path, str] | None:
    """Return how *path* is open to others, if it is there and is: to readers only if *secret*."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    if os.name == "nt":
        return None  # access lists, not modes
    if secret and not stat.S_ISREG(status.st_mode):
        return path, "is no regular file"
    if status.st_uid != os.geteuid():
        return path, "belongs to another user"
    if stat.S_ISLNK(status.st_mode):
        return None
    if secret and status.st_mode & 0o077:
        return path, "can be read by others"
    return (path, "can be written by others") if status.st_mode & 0o022 else None


def file_system(site: Site) -> Iterator[Finding]:
    """Look at where the ledger's file is."""
    named = settings.named_data_dir(site.caller)
    if named is None:
        yield skipped("there is no ledger")
        return
    kind = filesystem_type(named)
    if kind in NETWORK_TYPES:
        what = f"{named} is on {kind}, a network file system, where SQLite can lose data"
        yield Finding(State.FAULT, what, "set MEMPROVE_DATA_DIR to a local folder")
    elif not os.access(named, os.W_OK):
        what = f"{named} cannot be written here"
        yield Finding(State.WARNING, what, "run memprove where it can be, or Runs are only spooled")
    else:
        yield ok(f"{named} is on {kind}" if kind else f"{named}: its kind is not known here")


def ledger(site: Site) -> Iterator[Finding]:
    """Open the ledger as a read does: token, newest head and its signature, what is remembered."""
    try:
        data_dir = settings.data_dir(site.caller)
    except Problem as problem:
        if problem.kind is not DATA_DIR_MISSING:
            raise
        yield Finding(
            State.WARNING, "no ledger is set up here", "run `memprove init` in your project"
        )
        return
    head = Ledger(site.caller).execute(ReadHead())
    yield ok(f"{data_dir}: its newest head is signed, over {counted(head.size, 'event')}")


def remembered(site: Site) -> Iterator[Finding]:
    """Look at the head that was seen last."""
    if not site.has_ledger:
        yield skipped("there is no ledger")
        return
    memory = Memory(settings.state_dir(site.caller), settings.data_dir(site.caller))
    if memory.seen is not None:
        yield ok(
            f"the ledger continues the head seen last, of {counted(memory.seen.head.size, 'event')}"
        )
        return
    cure = (
        "any write remembers one anew; if you know a later head: `memprove verify --require-head`"
    )
    yield Finding(State.WARNING, f"no head is remembered: {memory.why}", cure)


def signing_key(site: Site) -> Iterator[Finding]:
    """Look whether the live key is here, and fit to sign with."""
    if not site.has_ledger:
        yield skipped("there is no ledger")
        return
    data_dir = settings.data_dir(site.caller)
    with closing(open_store(data_dir, wait=_WAIT_S)) as store, store.read() as reader:
        value = reader.row("ledger", LEDGER_KEY)
        if value is None:
            raise LEDGER_DAMAGED("it does not say which ledger it is")
        row = decode_row(LedgerRow, value)
        pin = pinned(site.config_dir, row.origin, row.earlier)
        epoch = check_head(reader, pin).epochs.newest
    signer = Keys(site.config_dir, row.ledger).signer(epoch.number, epoch.verifier.name)
    if signer.verifier != epoch.verifier:
        raise KEY_UNSAFE(f"it is not the key of epoch {epoch.number} of this ledger")
    yield ok(f"the key of epoch {epoch.number} is here")


def workspace(site: Site) -> Iterator[Finding]:
    """Look whether the caller is in a Workspace of its ledger."""
    if not site.has_ledger:
        yield skipped("there is no ledger")
        return
    try:
        found = Ledger(site.caller).execute(FindWorkspace())
    except Problem as problem:
        if problem.kind is WORKSPACE_MISMATCH:
            raise
        if problem.kind not in (WORKSPACE_UNREGISTERED, WORKSPACE_GONE):
            yield skipped("the ledger cannot say")
            return
        yield skipped("this folder is in no Workspace: clients are not looked at")
        return
    yield ok(f"a Workspace, at {found.worktree}")


def spooled(site: Site) -> Iterator[Finding]:
    """Look for Runs that a sandboxed shell left here."""
    if site.place is None:
        yield skipped("this folder is in no Workspace")
        return
    waiting = spool.spooled(site.place.worktree)
    if waiting:
        what = f"{counted(len(waiting), 'Run')} of a sandboxed shell wait in .memprove/spool/"
        yield Finding(State.WARNING, what, "any write adopts them, or the start of a conversation")
    else:
        yield ok("no Run waits in the spool")


CHECKS: Final[Mapping[str, Check[Site]]] = {
    "sqlite": sqlite,
    "git": git,
    "permissions": permissions,
    "file system": file_system,
    "ledger": ledger,
    "remembered head": remembered,
    "signing key": signing_key,
    "workspace": workspace,
    "spool": spooled,
}
