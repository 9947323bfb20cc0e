"""Look at the files of clients for what is there twice, gone again, or personal."""

import os
import re
from collections.abc import Iterator
from typing import Final

from memprove.hooks.doctor.wiring import Wiring
from memprove.hooks.install import claude, instructions
from memprove.hooks.install.claude import Unfit
from memprove.hooks.install.plan import Role
from memprove.ledger.executable import on_path
from memprove.ledger.findings import Finding, State, ok, skipped
from memprove.ledger.problems import Problem

_AGAIN: Final = "run `memprove init`, which writes it again"


def duplicates(wiring: Wiring) -> Iterator[Finding]:
    """Look for what would run twice."""
    found = [*_servers(wiring), *_hooks(wiring), *_programs(wiring)]
    yield from found or [ok("nothing is installed twice")]


def _servers(wiring: Wiring) -> Iterator[Finding]:
    try:
        here = wiring.server() is not None
    except (Unfit, Problem):
        here = False
    if here and wiring.found.plugin:
        what = (
            f"the server is in {Role.SERVER} and in the plugin memprove: each tool is there twice"
        )
        yield Finding(State.FAULT, what, "turn the plugin off, or `memprove init --uninstall`")
    for scope in wiring.own_entries() if here else ():
        what = (
            f"Claude Code has a server memprove of {scope} scope, which comes before {Role.SERVER}"
        )
        cure = f"`claude mcp remove --scope {scope} memprove`, if you want the Workspace's"
        yield Finding(State.WARNING, what, cure)


def _hooks(wiring: Wiring) -> Iterator[Finding]:
    """Yield a fault for each event with several handlers: equal ones run once in Claude Code."""
    by_event: dict[str, dict[str, str]] = {}
    for where, one in wiring.hooks():
        words = f"{one.written.get('command')} {one.written.get('args')}"
        by_event.setdefault(one.event, {})[words] = where
    if wiring.found.plugin:
        for handlers in by_event.values():
            handlers["plugin"] = "the plugin memprove"
    for event, handlers in by_event.items():
        if len(handlers) > 1:
            places = ", ".join(dict.fromkeys(handlers.values()))
            what = f"{event} runs {len(handlers)} hooks of memprove: {places}"
            yield Finding(State.FAULT, what, "keep one of them, and take out the others")


def _programs(wiring: Wiring) -> Iterator[Finding]:
    path = wiring.caller.env.get("PATH", "").split(os.pathsep)
    programs = {os.path.realpath(one): str(one) for one in reversed(on_path(path))}
    if len(programs) > 1:
        named = ", ".join(reversed(programs.values()))
        what = f"{len(programs)} programs memprove are on the PATH: {named}"
        yield Finding(State.WARNING, what, "uninstall those that you do not use")


def dropped(wiring: Wiring) -> Iterator[Finding]:
    """Look whether what `init` wrote is still there: some clients write their files from a copy."""
    roles = [role for role in wiring.found.receipts if role is not Role.EXCLUDE]
    for role in roles:
        what = f"init wrote to {role}, where nothing of memprove is any more"
        try:
            if not _is_there(role, wiring.found.file(role).data):
                yield Finding(State.FAULT, what, _AGAIN)
        except Unfit as unfit:
            cure = f"correct {role}, then run `memprove init`"
            yield Finding(State.FAULT, f"Claude Code does not load {role}: {unfit}", cure)
    if not roles:
        yield skipped("init wrote to no file here")
    elif all(_is_fine(role, wiring) for role in roles):
        yield ok(f"what init wrote is there: {', '.join(sorted(roles))}")


def _is_fine(role: Role, wiring: Wiring) -> bool:
    try:
        return _is_there(role, wiring.found.data(role))
    except Unfit:
        return False


def _is_there(role: Role, data: bytes | None) -> bool:
    if role is Role.SERVER:
        return claude.our_server(data) is not None
    if role in (Role.LOCAL, Role.SHARED):
        return bool(claude.our_events(data))
    return instructions.has_block(data)


def tracked(wiring: Wiring) -> Iterator[Finding]:
    """Look for paths of this machine in entries that git tracks."""
    roles = [
        role for role in (Role.SERVER, Role.LOCAL, Role.SHARED) if role in wiring.found.tracked
    ]
    personal = [role for role in roles if any(map(_is_personal, _texts(role, wiring)))]
    for role in personal:
        what = f"git tracks {role}, whose entry of memprove names a path of this machine"
        yield Finding(
            State.FAULT, what, "run `memprove init`, which writes one without, and commit it"
        )
    if not personal:
        yield ok("no entry that git tracks names a path of this machine")


def _texts(role: Role, wiring: Wiring) -> Iterator[str]:
    """Yield the texts of our entries in a file."""
    data = wiring.found.data(role)
    try:
        if role is Role.SERVER:
            written = [claude.our_server(data) or {}]
        else:
            written = [dict(one.written) for one in claude.our_handlers(data)]
    except Unfit:
        return
    for entry in written:
        env = entry.get("env")
        yield str(entry.get("command", ""))
        yield from map(str, entry.get("args") or ())
        yield from map(str, env.values() if isinstance(env, dict) else ())


def _is_personal(text: str) -> bool:
    return text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", text) is not None
