"""The context of a client session: which Task and Session it is in, as a small local file.

A context is a pointer, never evidence: whoever uses one reads Session, Task, agent and Runs from
the ledger, and only the `context` tool prints the file's own words, as unchecked. A file that is
not byte for byte what `encode_context` writes is not ours.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from memprove.ledger import problems
from memprove.ledger.workspace import files

_WINDOWS = "context/windows"
_MOST_WINDOWS = 32
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

_Id = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]
_Number = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Label = Annotated[str, msgspec.Meta(pattern=r"\A([rw][1-9][0-9]{0,15}|x[a-z0-9]{6})\Z")]
_Window = Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,9}\Z")]
_Client = Annotated[str, msgspec.Meta(max_length=200)]
_Verdict = Annotated[str, msgspec.Meta(pattern=r"\A[a-z]{1,20}\Z")]


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ids and numbers of Task and Session, the agent, and the labels and verdicts of its Runs."""

    workspace: _Id
    task: _Id
    task_number: _Number
    session: _Id
    session_number: _Number
    agent: _Name
    role: _Name
    runs: tuple[tuple[_Label, _Verdict], ...]


class ContextRead(msgspec.Struct, frozen=True):
    """A context, or none; *note* says in one line why a file that was there does not count."""

    context: Context | None
    note: str


def client_session(env: Mapping[str, str]) -> str:
    """Return the name of the client session: MEMPROVE_CONTEXT, CLAUDE_CODE_SESSION_ID, ``shell``.

    A variable that is empty or was left unexpanded (``${NAME}``) counts as unset.
    """
    for variable in ("MEMPROVE_CONTEXT", "CLAUDE_CODE_SESSION_ID"):
        value = env.get(variable, "")
        if value and not value.startswith("${"):
            return value
    return "shell"


def file_name(client: str) -> str:
    """Return *client* as a file name without its ending: itself if safe, else by its SHA-256."""
    if _SAFE_NAME.fullmatch(client):
        return client
    return "x-" + hashlib.sha256(client.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def encode_context(context: Context) -> bytes:
    """Return the one form in which *context* is written."""
    return msgspec.json.encode(context) + b"\n"


def decode_context(data: bytes) -> Context:
    """Return the context that *data* is the written form of.

    Raises Problem ``context_invalid`` for any other bytes: other types or keys, keys twice, values
    out of bounds, another spelling of the same.
    """
    try:
        context = msgspec.json.decode(data, type=Context)
        if encode_context(context) == data:
            return context
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise problems.CONTEXT_INVALID("the file is not a context") from error
    raise problems.CONTEXT_INVALID("the file is not as it was written")


def load_context(worktree: Path, client: str) -> Context | None:
    """Return the context of *client* in *worktree*, or None; change nothing there.

    Raises Problem ``context_invalid`` or ``path_unsafe``.
    """
    data = files.read_local(worktree, _path(client))
    return None if data is None else decode_context(data)


def read_context(worktree: Path, client: str) -> ContextRead:
    """Return the context of *client* as `load_context` does, but never fail for what it holds.

    A file that cannot be read is moved aside, so that the next write finds room, and the note says
    where it went. For a registered Workspace only: elsewhere nothing may be moved.
    """
    try:
        return ContextRead(load_context(worktree, client), "")
    except problems.Problem as problem:
        if problem.kind not in (problems.CONTEXT_INVALID, problems.PATH_UNSAFE):
            raise
        unreadable = str(problem)
    try:
        aside = files.set_aside(worktree, _path(client))
    except problems.Problem as problem:
        return ContextRead(None, f"{unreadable}; not moved aside: {problem}")
    return ContextRead(None, f"{unreadable}; moved to {files.FOLDER}/{aside}")


def write_context(worktree: Path, client: str, context: Context) -> None:
    """Make *context* that of *client* in *worktree*. Raises as `files.write_local` does.

    Raises Problem ``context_invalid`` for one that could not be read again.
    """
    data = encode_context(context)
    decode_context(data)
    files.write_local(worktree, _path(client), data)


def remove_context(worktree: Path, client: str) -> None:
    """Forget the context of *client* in *worktree*, if there is one."""
    files.remove_local(worktree, _path(client))


def read_windows(worktree: Path) -> dict[str, str]:
    """Return which client session each window of a client showed last, by the window's number.

    What does not read as that counts as nothing: it is a hint for hooks. A window goes on to
    another client session when its conversation is cleared.
    """
    try:
        data = files.read_local(worktree, _WINDOWS)
        windows = msgspec.json.decode(data or b"{}", type=dict[_Window, _Client])
    except (problems.Problem, msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return windows


def write_windows(worktree: Path, windows: Mapping[str, str]) -> None:
    """Keep the newest of *windows*, the last being the newest. Raises as `files.write_local`."""
    newest = dict(list(windows.items())[-_MOST_WINDOWS:])
    files.write_local(worktree, _WINDOWS, msgspec.json.encode(newest) + b"\n")


def _path(client: str) -> str:
    return f"context/{file_name(client)}.json"
