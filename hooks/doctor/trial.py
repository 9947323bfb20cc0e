"""Start what the entries name, as a client would, and see what comes of it.

A clone can ship such entries. So only a program of our name is started, never one that lies in the
Workspace (unless it is the one that runs now), never through a shell, and of the variables that an
entry sets only our own are handed on.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memprove.hooks.doctor.child import Command, Silent, ask, finished
from memprove.hooks.doctor.expansion import expanded
from memprove.hooks.doctor.wiring import Wiring
from memprove.hooks.install.claude import Unfit
from memprove.hooks.install.plan import Role
from memprove.hooks.starting import PROBE
from memprove.ledger import settings
from memprove.ledger.findings import Finding, State, ok, skipped
from memprove.ledger.problems import KINDS
from memprove.ledger.settings import Caller

SERVER_S: Final = 20.0
HOOK_S: Final = 12.0
EVENT: Final = "SessionStart"
MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
_CLIENT: Final = {"name": "memprove-doctor", "version": "1"}
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_OURS: Final = "MEMPROVE_"
_TOLD: Final = "memprove hook: "
_AGAIN: Final = "run `memprove init` again"


def server(wiring: Wiring) -> Iterator[Finding]:
    """Start the server that ``.mcp.json`` names, and speak both eras to it."""
    try:
        entry = wiring.server()
    except Unfit as unfit:
        what = f"Claude Code does not load {Role.SERVER}: {unfit}"
        yield Finding(State.FAULT, what, f"correct {Role.SERVER}, then run `memprove init`")
        return
    if entry is None:
        yield _missing(wiring, f"no server of ours in {Role.SERVER}")
        return
    texts = [expanded(str(one), wiring.caller.env) for one in entry.get("args", ())]
    env = entry.get("env")
    given = {
        name: expanded(str(value), wiring.caller.env)
        for name, value in (env.items() if isinstance(env, dict) else ())
    }
    command = expanded(str(entry["command"]), wiring.caller.env)
    argv, said = _argv(wiring, Role.SERVER.value, command, texts, "export MEMPROVE_BIN=PATH")
    yield from said
    if argv is None:
        return
    ours = {name: value for name, value in given.items() if name.startswith(_OURS)}
    if left := sorted(set(given) - set(ours)):
        what = f"{Role.SERVER} sets {', '.join(left)[:80]}, which was left out here"
        yield Finding(State.WARNING, what, "look whether you want it for memprove's server")
    yield from _other_ledger(wiring, texts, ours)
    child = Command(argv, wiring.environment(ours), wiring.place.worktree, SERVER_S)
    try:
        faults = faults_of(ask(child, messages()))
    except Silent as silent:
        faults = [str(silent)]
    for what in faults:
        yield Finding(State.FAULT, f"the server in {Role.SERVER}: {what}", _AGAIN)
    if not faults:
        yield ok(f"{argv[0]} answers in both eras of the protocol")


def hook(wiring: Wiring) -> Iterator[Finding]:
    """Call the hook at the start of a conversation that is none."""
    handlers = [(where, one) for where, one in wiring.hooks() if one.event == EVENT]
    if not handlers:
        if wiring.found.plugin:
            yield skipped("the plugin memprove has the hook")
        else:
            yield _missing(wiring, f"no hook of ours at {EVENT}")
    for where, handler in handlers:
        words = _words(handler.written)
        argv, said = _argv(wiring, where, words[0], words[1:], "link memprove into /usr/bin")
        yield from said
        if argv is not None:
            yield _called(wiring, where, argv)


def _called(wiring: Wiring, where: str, argv: tuple[str, ...]) -> Finding:
    child = Command(
        argv, wiring.environment({"MEMPROVE_DEBUG": "1"}), wiring.place.worktree, HOOK_S
    )
    try:
        code, output, messages = finished(child, document(str(wiring.place.worktree)))
    except Silent as silent:
        return Finding(State.FAULT, f"the hook in {where}: {silent}", _AGAIN)
    return judged_hook(where, code, output, messages, registered=wiring.registered)


def judged_hook(
    where: str, code: int, output: bytes, messages: bytes, *, registered: bool
) -> Finding:
    """Return what is to be said of a hook that ended so; *messages* hold its reason for silence."""
    if code != 0:
        return Finding(State.FAULT, f"the hook in {where} ends with exit code {code}", _AGAIN)
    if not output:
        lines = messages.decode("utf-8", "replace").splitlines()
        why = next((line for line in lines if line.startswith(_TOLD)), "")
        reason = (
            why.removeprefix(_TOLD) or "it was not done in time, which MEMPROVE_HOOK_SECONDS sets"
        )
        kind = KINDS.get(reason.partition(":")[0])
        cure = kind.sentence.partition("; ")[2] if kind else _AGAIN
        state = State.FAULT if registered else State.WARNING
        return Finding(state, f"the hook in {where} says nothing: {reason}", cure or _AGAIN)
    try:
        told = json.loads(output)["hookSpecificOutput"]
        fine = told["hookEventName"] == EVENT and isinstance(told["additionalContext"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        fine = False
    if not fine:
        return Finding(State.FAULT, f"the hook in {where} prints no document of ours", _AGAIN)
    return ok(f"the hook in {where} answers with one document")


def messages() -> list[Mapping[str, Any]]:
    """Return what is said to a server: the newer era first, as Claude Code does."""
    hello = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
    calls: list[tuple[str | None, str, Mapping[str, Any]]] = [
        ("discover", "server/discover", {"_meta": _META}),
        ("newer", "tools/list", {"_meta": _META}),
        ("hello", "initialize", hello),
        (None, "notifications/initialized", {}),
        ("older", "tools/list", {}),
    ]
    return [
        {"jsonrpc": "2.0", "method": method, "params": params, **({"id": id} if id else {})}
        for id, method, params in calls
    ]


def faults_of(answers: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with a server's *answers* to `messages`."""
    faults = []
    if MODERN not in (_result(answers, "discover").get("supportedVersions") or ()):
        faults.append(f"server/discover does not offer {MODERN}")
    if _result(answers, "hello").get("protocolVersion") != HANDSHAKE:
        faults.append(f"initialize does not agree to {HANDSHAKE}")
    newer, older = (_names(_result(answers, id)) for id in ("newer", "older"))
    if "pack" not in newer or newer != older:
        faults.append("tools/list does not show its tools in both eras")
    return faults


def document(folder: str) -> bytes:
    """Return what a client would write to the hook's stdin."""
    told = {"session_id": "", "cwd": folder, "hook_event_name": EVENT, "source": PROBE}
    return json.dumps(told).encode()


def _result(answers: Mapping[Any, Mapping[str, Any]], id: str) -> Mapping[str, Any]:
    result = answers.get(id, {}).get("result")
    return result if isinstance(result, dict) else {}


def _names(result: Mapping[str, Any]) -> list[str]:
    tools = result.get("tools")
    named = [one.get("name") for one in tools or () if isinstance(one, dict)]
    return sorted(str(name) for name in named)


def _words(handler: Mapping[str, Any]) -> list[str]:
    """Return program and arguments; of a line for a shell its words, and nothing else of it."""
    if "args" in handler:
        return [str(handler["command"]), *map(str, handler["args"])]
    program, *rest = shlex.split(handler["command"])
    return [os.path.expanduser(program), *rest]


def _argv(
    wiring: Wiring, where: str, command: str, arguments: Sequence[str], cure: str
) -> tuple[tuple[str, ...] | None, list[Finding]]:
    """Return what to start, None if nothing, and what is to be said of it."""
    program, everywhere = wiring.program(command)
    if program is None:
        return None, [Finding(State.FAULT, f"{where} starts {command}, which is not there", _AGAIN)]
    if wiring.is_foreign(program):
        what = f"{where} starts {program}, which lies in this Workspace: it was not started"
        return None, [Finding(State.FAULT, what, f"look who wrote it, then {_AGAIN}")]
    said = []
    if not everywhere:
        what = f"{where} starts {command}, which a client from a desktop may not find"
        said.append(Finding(State.WARNING, what, cure.replace("PATH", str(program))))
    return (str(program), *arguments), said


def _other_ledger(
    wiring: Wiring, arguments: Sequence[str], env: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield a warning where agents would write to another ledger than the caller's."""
    option = arguments[3] if len(arguments) > 3 and arguments[2] == "--config-dir" else ""
    named = option or env.get("MEMPROVE_CONFIG_DIR", "")
    if not named:
        return
    theirs = settings.config_dir(Caller("cli", wiring.caller.cwd, {"MEMPROVE_CONFIG_DIR": named}))
    if theirs != settings.config_dir(wiring.caller):
        what = f"{Role.SERVER} uses the configuration in {theirs}, and you another one"
        yield Finding(State.WARNING, what, f"export MEMPROVE_CONFIG_DIR={theirs}, or {_AGAIN}")


def _missing(wiring: Wiring, what: str) -> Finding:
    if not wiring.registered:
        return skipped(what)
    if wiring.found.plugin:
        return skipped("the plugin memprove has it")
    return Finding(State.WARNING, what, "run `memprove init`, if you use Claude Code")
