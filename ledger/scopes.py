"""What a token may do: the wire operations, and the scope that each of them needs.

An operation names the wire operations that it stands for; it needs the union of their scopes.
Whether it reads or writes follows from that and is stated nowhere else.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """A permission. ``owner`` is a role: only a token of that role has it."""

    READ = "mcp-read"
    WRITE = "mcp-write"
    OWNER = "owner"


class Role(StrEnum):
    """What a token is for."""

    AGENT = "agent"
    OWNER = "owner"


WIRE: Final[Mapping[str, Scope]] = {
    "getTaskCapsule": Scope.READ,
    "listTasks": Scope.READ,
    "listSessions": Scope.READ,
    "resolveWorkspace": Scope.READ,
    "verifyLedger": Scope.READ,
    "createTask": Scope.WRITE,
    "transitionTask": Scope.WRITE,
    "createSession": Scope.WRITE,
    "endSession": Scope.WRITE,
    "createCheckpoint": Scope.WRITE,
    "proposeDecision": Scope.WRITE,
    "recordRun": Scope.WRITE,
    "decideDecision": Scope.OWNER,
    "issueToken": Scope.OWNER,
    "revokeToken": Scope.OWNER,
    "rotateKey": Scope.OWNER,
    "redactEvent": Scope.OWNER,
    "restoreLedger": Scope.OWNER,
    "registerWorkspace": Scope.OWNER,
}
"""Wire operation → the scope it needs."""


def needed(sends: Iterable[str]) -> frozenset[Scope]:
    """Return the scopes that the wire operations *sends* need together."""
    return frozenset(WIRE[name] for name in sends)


def writes(sends: Iterable[str]) -> bool:
    """Tell whether any of the wire operations *sends* changes the ledger."""
    return bool(needed(sends) - {Scope.READ})


def lacking(sends: Iterable[str], scopes: Iterable[str], role: str) -> list[str]:
    """Return what a token with *scopes* and *role* lacks for *sends*, sorted.

    Scopes are compared as strings; ``mcp:read`` is another spelling of ``mcp-read``.
    """
    held = {scope.replace(":", "-") for scope in scopes} - {Scope.OWNER}
    if role == Role.OWNER:
        held.add(Scope.OWNER)
    return sorted(needed(sends) - held)
