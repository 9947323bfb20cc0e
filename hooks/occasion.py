"""One call of a hook: where it is, for which client session, and how to answer this client."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from memprove.hooks.document import Told
from memprove.ledger.domain.printing import utf8_len
from memprove.ledger.operations.base import Operation
from memprove.ledger.paths import from_text
from memprove.ledger.problems import (
    LEDGER_DAMAGED,
    TRUST_INVALID,
    TRUST_MISSING,
    Problem,
)
from memprove.ledger.settings import Caller
from memprove.ledger.workspace import context, files, resolve

LIMIT: Final = 9_500
"""UTF-8 bytes of a context: clients cut at 10,000, some of them without a word."""
UNTRUSTED: Final = frozenset({LEDGER_DAMAGED, TRUST_INVALID, TRUST_MISSING})

ResultT = TypeVar("ResultT")


class Occasion:
    """An event that *told* describes, and the ledger as it is reached from there."""

    def __init__(
        self, event: str, told: Told, config_dir: str | None, *, patience_s: float
    ) -> None:
        self.event = event
        self.told = told
        env = dict(os.environ)
        self.folder = _folder(told, env)
        if client := self._client(env):
            env["MEMPROVE_CONTEXT"] = client
        self.caller = Caller(
            face="hook",
            cwd=self.folder,
            env=env,
            config_option=Path(config_dir) if config_dir else None,
            patience_s=patience_s,
        )

    @property
    def window(self) -> str:
        """Return the number of the client's process; empty if the client does not say it."""
        number = self.caller.variable("CLAUDE_PID") or ""
        return number if number.isascii() and number.isdigit() and len(number) <= 10 else ""

    @property
    def earlier(self) -> str:
        """Return another client session that the environment names; empty if it names none."""
        before = self.caller.variable("CLAUDE_CODE_SESSION_ID") or ""
        return before if self.has_own_session and before != self.told.session_id else ""

    @property
    def has_own_session(self) -> bool:
        """Tell whether this client session is the one that stdin names, and nobody else's."""
        named = self.told.session_id
        return bool(named) and self.caller.env.get("MEMPROVE_CONTEXT") == named

    def execute(self, operation: Operation[ResultT]) -> ResultT:
        """Execute *operation* on the ledger."""
        from memprove.ledger.service import Ledger  # late: the folder may have none

        return Ledger(self.caller).execute(operation)

    def warning(self, problem: Problem) -> str:
        """Return one sentence if *problem* means that the ledger here is not to be believed."""
        from memprove.ledger.registration import is_registered  # late: hardly ever

        if problem.kind not in UNTRUSTED or not is_registered(self.caller):
            raise problem
        return (
            "The memprove ledger of this Workspace cannot be believed, so no Pack is shown"
            f" ({problem.code}: {problem.kind.sentence}).\n"
        )

    def answer(self, text: str) -> bytes:
        """Return the document that gives *text* to the client; nothing for one we do not know.

        Clients that are known have exactly these keys in common. One that finds another key, or
        another event, takes nothing.
        """
        said = self.told.hook_event_name or (self.event if self.told.session_id else None)
        if not text or said != self.event or utf8_len(text) > LIMIT:
            return b""
        if said == "sessionStart":  # Cursor
            known = self.told.cursor_version is not None
            return _encoded({"additional_context": text}) if known else b""
        return _encoded({"hookSpecificOutput": {"hookEventName": said, "additionalContext": text}})

    def _client(self, env: Mapping[str, str]) -> str:
        """Return the client session that stdin names, if it is the one of the client's shell too.

        MEMPROVE_CONTEXT comes before it. A client that gives its shell and its servers no such id
        (Codex, Gemini CLI) shares `shell` with them, unless there is a context under its id.
        """
        named = self.told.session_id or ""
        if not 0 < len(named) <= 200 or _is_set(env, "MEMPROVE_CONTEXT"):
            return ""
        is_shared = _is_set(env, "CLAUDE_CODE_SESSION_ID")
        return named if is_shared or _has_context(self.folder, named) else ""


def _is_set(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "")
    return bool(value) and not value.startswith("${")


def _folder(told: Told, env: Mapping[str, str]) -> Path:
    """Return where the conversation is; a relative path means one below the working directory."""
    roots = told.workspace_roots or ()
    project = env.get("CLAUDE_PROJECT_DIR", "")
    named = told.cwd or (roots[0] if roots else "")
    if named:
        return Path.cwd() / from_text(named)
    return Path(project) if _is_set(env, "CLAUDE_PROJECT_DIR") else Path.cwd()


def _has_context(folder: Path, client: str) -> bool:
    """Tell whether a context of *client* lies there. Only a name is chosen by it."""
    name = f"context/{context.file_name(client)}.json"
    try:
        places = resolve.locate(folder)
    except Problem:
        return False
    return any(os.path.lexists(place.worktree / files.FOLDER / name) for place in places)


def _encoded(document: object) -> bytes:
    return msgspec.json.encode(document) + b"\n"
