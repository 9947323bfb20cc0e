"""Whether Codex runs our hooks: it passes over, silently, those that its user does not trust.

It keeps a hash of each hook that was trusted, under the place where the hook stands; another
command, time limit or matcher makes another hash. This is how versions 0.145 to 0.171 compute it.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from memprove.hooks.doctor.wiring import Wiring, read
from memprove.hooks.install import claude
from memprove.hooks.install.claude import Handler, Unfit
from memprove.ledger.findings import Finding, State, ok, skipped

_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_DEFAULT_S: Final = 600
_CURE: Final = "start `codex` here and trust it in `/hooks`"


def codex(wiring: Wiring) -> Iterator[Finding]:
    """Look for our hooks in Codex's files, and whether each is trusted as it is now."""
    home = wiring.codex_home()
    folders = (wiring.place.worktree / ".codex", home)
    files = dict.fromkeys(os.path.realpath(folder / "hooks.json") for folder in folders)
    hooks = [(file, one) for file in files for one in _handlers(file)]
    state = _trust(read(home / "config.toml"))
    if not hooks:
        yield skipped("no hook of ours in hooks.json of Codex")
    elif state is None:
        what = f"{home / 'config.toml'} does not say whether Codex trusts {hooks[0][0]}"
        yield Finding(State.WARNING, what, "look at `/hooks` in Codex")
    else:
        yield from (_judged(file, one, state.get(_key(file, one))) for file, one in hooks)


def _judged(file: str, handler: Handler, state: Any) -> Finding:
    kept = state if isinstance(state, dict) else {}
    known = str(kept.get("trusted_hash") or "")
    hook = f"the hook of memprove in {file}"
    if "args" in handler.written:
        what = f"Codex starts {hook} without its `args`, which it does not know"
        return Finding(State.FAULT, what, "write `command` as one line, then trust it in `/hooks`")
    if not known:
        return Finding(State.FAULT, f"Codex passes over {hook}: it is not trusted", _CURE)
    if kept.get("enabled") is False:
        return Finding(State.FAULT, f"Codex passes over {hook}: it is turned off", _CURE)
    if known == trusted_hash(handler):
        return ok(f"Codex trusts {hook}")
    if _HASH.fullmatch(known):
        what = f"Codex passes over {hook}: it was changed since it was trusted"
        return Finding(State.FAULT, what, _CURE)
    what = f"Codex says in a form that is not known here whether it trusts {hook}"
    return Finding(State.WARNING, what, "look at `/hooks` in Codex")


def trusted_hash(handler: Handler) -> str:
    """Return what Codex keeps of *handler* once it is trusted."""
    written, event = handler.written, _snake(handler.event)
    limit = written.get("timeout")
    hook = {
        "type": "command",
        "command": written.get("command"),
        "timeout": max(limit, 1) if isinstance(limit, int) else _DEFAULT_S,
        "async": written.get("async") is True,
    }
    if isinstance(said := written.get("statusMessage"), str):
        hook["statusMessage"] = said
    identity: dict[str, Any] = {"event_name": event, "hooks": [hook]}
    if handler.matcher is not None:
        identity["matcher"] = handler.matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _handlers(file: str) -> tuple[Handler, ...]:
    try:
        return claude.our_handlers(read(Path(file)))
    except Unfit:
        return ()


def _key(file: str, handler: Handler) -> str:
    """Return by what Codex knows *handler*: path, event, group, number in the group."""
    return f"{file}:{_snake(handler.event)}:{handler.group}:{handler.index}"


def _trust(data: bytes | None) -> Mapping[str, Any] | None:
    """Return what Codex keeps of hooks in its configuration; None where it cannot be read."""
    try:
        hooks = tomllib.loads((data or b"").decode()).get("hooks") or {}
        state = hooks.get("state") or {}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError, RecursionError):
        return None
    return state if isinstance(state, dict) else None


def _snake(event: str) -> str:
    return _WORD.sub("_", event).lower()
