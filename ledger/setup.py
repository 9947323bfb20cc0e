"""Setting up: a ledger with its keys and tokens, and a Workspace in it.

A ledger is made once: with its data directory's lock held, everything that lies outside the log
(key, pin, tokens, where it is) is durable before the first event is. A crash in between leaves an
empty store, in which the next ``init`` begins anew; a log with an event is never begun anew.
"""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

from memprove.ledger import durable, projections, settings
from memprove.ledger.domain.events import LedgerCreated, TokenIssued
from memprove.ledger.domain.record import Actor
from memprove.ledger.ids import uuid7
from memprove.ledger.log.append import Appender
from memprove.ledger.log.epochs import Epoch, Pin
from memprove.ledger.log.keys import FIRST_EPOCH, Keys
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import format_trust
from memprove.ledger.operations.tokens import IssueToken, issued
from memprove.ledger.operations.workspaces import (
    AttachWorkspace,
    FindWorkspace,
    RegisterWorkspace,
    WorkspaceTold,
)
from memprove.ledger.paths import to_text
from memprove.ledger.place import HINT
from memprove.ledger.problems import (
    CONFIG_UNREADABLE,
    DATA_DIR_UNREADABLE,
    LEDGER_EXISTS,
    MEMPROVE_FILES_TRACKED,
    OWNER_IN_AGENT_SHELL,
    REPOSITORY_UNREADABLE,
    TOKEN_MISSING,
    WORKSPACE_MISMATCH,
    WORKSPACE_TOO_WIDE,
    WORKSPACE_UNREGISTERED,
    Problem,
    at_file,
)
from memprove.ledger.scopes import Role, Scope
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
from memprove.ledger.storage.interface import Store, Writer
from memprove.ledger.storage.registry import FILE_NAME, create_store, open_store
from memprove.ledger.tlog.note import Signer, format_vkey
from memprove.ledger.tokens import new_token
from memprove.ledger.workspace import files, resolve
from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.repository import root_commits, tracked_under

ORIGIN_HOST: Final = "memprove.local"
_GIT_DEADLINE_S: Final = 30.0
_MAY_BE_TRACKED: Final = re.compile(r"\.memprove/(config\.toml|trust|head|bundles/[^/]+\.bundle)")


@dataclass(frozen=True, slots=True)
class SetUp:
    """What ``init`` found or made."""

    config_dir: Path
    data_dir: Path
    created: bool
    workspace: WorkspaceTold
    worktree: Path


def set_up(caller: Caller, *, random: Callable[[int], bytes] = os.urandom) -> SetUp:
    """Make what is missing of: ledger, keys, tokens, the Workspace that the caller is in."""
    check_owner(caller)
    place = project(caller)
    config_dir = settings.config_dir(caller)
    data_dir = settings.named_data_dir(caller) or settings.default_data_dir()
    created = _make_ledger(caller, config_dir, data_dir, random)
    _restore_token(caller, config_dir)
    workspace = _register(caller, place)
    _mark(place, workspace)
    return SetUp(config_dir, data_dir, created, workspace, place.worktree)


def attach_here(caller: Caller, number: int) -> WorkspaceTold:
    """Say that Workspace *number* is where the caller is now, and mark the place as it."""
    place = project(caller)
    workspace = Ledger(caller).execute(AttachWorkspace(number=number, **_identity(place)))
    _mark(place, workspace)
    return workspace


def check_owner(caller: Caller) -> None:
    """Refuse an agent that was not told to act for the owner."""
    if caller.agent_env and not caller.from_agent:
        raise OWNER_IN_AGENT_SHELL()


def project(caller: Caller) -> resolve.Place:
    """Return the nearest repository upwards from the caller, else its folder.

    Raises Problem ``workspace_too_wide``, ``memprove_files_tracked``, ``repository_unreadable``
    where that can be no Workspace.
    """
    places = resolve.locate(caller.cwd)
    place = next((place for place in places if place.kind == "git"), places[0])
    _check_project(place)
    _check_tracked(place)
    return place


def missing(caller: Caller) -> tuple[str, ...]:
    """Return what `set_up` would make here; nothing is written."""
    place = project(caller)
    config_dir = settings.config_dir(caller)
    data_dir = settings.named_data_dir(caller) or settings.default_data_dir()
    if not (data_dir / FILE_NAME).exists():
        return (f"a ledger in {data_dir}", f"a Workspace at {place.root}")
    try:
        met = Ledger(caller).execute(FindWorkspace()).worktree
    except Problem as problem:
        if problem.kind not in (WORKSPACE_UNREGISTERED, WORKSPACE_MISMATCH, TOKEN_MISSING):
            raise
        met = ""
    if met != to_text(place.worktree):
        return (f"a Workspace at {place.root}",)
    return () if (config_dir / "token").exists() else (f"a token in {config_dir}",)


def _make_ledger(
    caller: Caller, config_dir: Path, data_dir: Path, random: Callable[[int], bytes]
) -> bool:
    """Make a ledger unless there is one; tell whether one was made."""
    _make_folder(config_dir)
    kept = settings.kept_data_dir(config_dir)  # read first: the ledger is there before this is
    if kept is not None and not (data_dir / FILE_NAME).exists():
        raise DATA_DIR_UNREADABLE(f"{data_dir} holds no ledger any more; nothing was changed")
    _make_folder(data_dir)
    store = _store(data_dir)
    try:
        with store.write() as writer:
            if writer.size():
                return False
            if kept not in (None, data_dir):
                raise LEDGER_EXISTS(f"{config_dir} belongs to the one in {kept}")
            _write_private(config_dir / settings.DATA_DIR, f"{to_text(data_dir)}\n")
            _begin(caller, writer, config_dir, data_dir, random)
        return True
    finally:
        store.close()


def _store(data_dir: Path) -> Store:
    try:
        return create_store(data_dir)
    except Problem as problem:
        if problem.kind is not LEDGER_EXISTS:
            raise
        return open_store(data_dir)


def _begin(
    caller: Caller,
    writer: Writer,
    config_dir: Path,
    data_dir: Path,
    random: Callable[[int], bytes],
) -> None:
    """Append the first events, after all that belongs outside the log is on disk."""
    at = time.time_ns() // 1_000_000
    id = uuid7(at, random)
    origin = f"{ORIGIN_HOST}/{id}"
    seed = random(32)
    signer = Signer(origin, seed)
    pin = Pin(signer.verifier)
    vkey = format_vkey(pin.verifier)
    Keys(config_dir, id).create(FIRST_EPOCH, seed)
    _write_private(config_dir / "trust", format_trust(origin, vkey))
    installation = uuid7(at, random)
    _write_private(config_dir / settings.INSTALLATION, f"{installation}\n")
    events: list[LedgerCreated | TokenIssued] = [LedgerCreated(ledger=id, origin=origin, key=vkey)]
    for name, role in (("token", Role.AGENT), ("owner-token", Role.OWNER)):
        token = new_token(random)
        _write_private(config_dir / name, f"{token}\n")
        events.append(issued(token, name, role, (Scope.READ, Scope.WRITE)))
    actor = Actor(
        installation=installation,
        token="",
        role=Role.OWNER,
        face=caller.face,
        agent_env=caller.agent_env,
    )
    appender = Appender(writer, actor=actor, at=at, random=random, project=projections.apply)
    for event in events:
        appender.append(event, stream="ledger")
    head = appender.seal(signer, keep=True)
    epoch = Epoch(FIRST_EPOCH, pin.verifier, 1)
    memory = Memory(settings.state_dir(caller), data_dir)  # of another log: it is not here any more
    writer.after_commit(lambda: memory.keep(pin, epoch, head.note))


def _register(caller: Caller, place: resolve.Place) -> WorkspaceTold:
    name = place.root.name or "root"
    return Ledger(caller).execute(RegisterWorkspace(name=name, **_identity(place)))


class _Identity(TypedDict):
    root: str
    kind: str
    device: str
    inode: str
    root_commits: tuple[str, ...]


def _identity(place: resolve.Place) -> _Identity:
    """Return what a Workspace is recognized by."""
    device, inode = resolve.fingerprint(place)
    is_git = place.kind == "git"
    return _Identity(
        root=to_text(place.root),
        kind=place.kind,
        device=str(device),
        inode=str(inode),
        root_commits=root_commits(place.worktree, deadline_s=_GIT_DEADLINE_S) if is_git else (),
    )


def _mark(place: resolve.Place, workspace: WorkspaceTold) -> None:
    files.ensure_folder(place.worktree)
    hint = f"{workspace.id}\n".encode()
    if files.read_local(place.worktree, HINT) != hint:
        files.write_local(place.worktree, HINT, hint)


def _check_project(place: resolve.Place) -> None:
    """Refuse what holds all projects: everything below it would be one Workspace."""
    home = os.path.realpath(os.path.expanduser("~"))
    if str(place.worktree) in (home, place.worktree.anchor):
        raise WORKSPACE_TOO_WIDE(place.worktree)


def _restore_token(caller: Caller, config_dir: Path) -> None:
    """Issue the agents' token anew if its file is gone and the owner's is there."""
    file = config_dir / "token"
    if file.exists() or not (config_dir / "owner-token").exists():
        return
    token = Ledger(caller).execute(IssueToken(name="token")).token
    _write_private(file, f"{token}\n")


def _check_tracked(place: resolve.Place) -> None:
    if place.kind != "git":
        return
    try:
        tracked = tracked_under(place.worktree, files.FOLDER, deadline_s=_GIT_DEADLINE_S)
    except Unknown as unknown:
        raise REPOSITORY_UNREADABLE(f"{place.worktree}: {unknown}") from None
    ours = [path for path in tracked if _MAY_BE_TRACKED.fullmatch(path) is None]
    if ours:
        raise MEMPROVE_FILES_TRACKED(", ".join(ours[:3]))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise at_file(error, folder, CONFIG_UNREADABLE) from None


def _write_private(file: Path, text: str) -> None:
    try:
        durable.put(file, text.encode())
    except OSError as error:
        raise at_file(error, file, CONFIG_UNREADABLE) from None
