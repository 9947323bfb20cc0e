"""``memprove mcp print-config``: the entry by which a client starts our server. It only prints."""

import sys
from dataclasses import dataclass
from pathlib import PurePath

from memprove.ledger import settings
from memprove.ledger.executable import executable
from memprove.ledger.problems import TEXT_INVALID
from memprove.ledger.settings import Caller
from memprove.ledger.workspace import resolve
from memprove.mcp_facade.clients import CLIENTS, Scope, Start, place


class ScopeUnknown(Exception):
    """The client has no such scope; the message names those that it has."""


@dataclass(frozen=True, slots=True)
class Printed:
    """An entry, and what to do with it."""

    entry: str
    notes: tuple[str, ...]


def printed(name: str, scope: Scope | None, start: Start) -> Printed:
    """Return the entry of client *name* for *scope*, else for its usual one."""
    client = CLIENTS[name]
    scope = scope or next(iter(client.places))
    if scope not in client.places:
        has = ", ".join(client.places)
        raise ScopeUnknown(f"{name} has no entries of scope {scope}; it has: {has}")
    notes = [f"{name}, {scope} scope: this belongs in {place(client, scope, start.root)}"]
    if scope is Scope.PROJECT:
        notes.append("it names folders of yours: keep the file out of what you share")
    if scope in client.hints:
        notes.append(client.hints[scope])
    return Printed(client.entry(start, scope), tuple(notes))


def start(caller: Caller) -> Start:
    """Return how *caller* would start the server: this very program, this configuration."""
    places = resolve.locate(caller.cwd)
    root = next((found.worktree for found in places if found.kind == "git"), places[0].worktree)
    return Start(
        command=_shown(executable(sys.argv[0])),
        config_dir=_shown(settings.config_dir(caller)),
        root=_shown(root),
    )


def _shown(path: PurePath) -> str:
    """Return *path* with forward slashes, which every client takes on Windows too."""
    text = path.as_posix()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TEXT_INVALID("a path that is not UTF-8 cannot be in such an entry") from None
    return text
