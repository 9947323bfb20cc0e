"""What memprove writes into a client's configuration, and how it knows its own again.

An entry is ours by the exact shape of its command: a program named ``memprove`` with the arguments
``mcp serve`` or ``hook EVENT``. Where it stands, and under which name, says nothing.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from memprove.hooks.install.spans import Value

SERVER: Final = "memprove"
CONFIG: Final = "MEMPROVE_CONFIG_DIR"
BIN: Final = "${MEMPROVE_BIN:-memprove}"
SOURCES: Final = "startup|resume|clear|compact|fork"
_OPTION: Final = "--config-dir"
_NAMES: Final = frozenset({"memprove", "memprove.exe"})


@dataclass(frozen=True, slots=True)
class Program:
    """How a client is to start memprove: the absolute path of it and of its configuration.

    *default_config*: memprove finds that configuration by itself.
    """

    path: str
    config_dir: str
    default_config: bool

    def server(self, *, portable: bool) -> dict[str, Any]:
        """Return the entry of the server; a *portable* one holds nothing of this machine."""
        if portable:
            env = {CONFIG: f"${{{CONFIG}:-}}"}  # empty counts as unset
            return {"command": BIN, "args": ["mcp", "serve"], "env": env}
        arguments = ["mcp", "serve", _OPTION, self.config_dir]
        return {"command": self.path, "args": arguments, "env": {CONFIG: self.config_dir}}

    def hook(self, event: str, *, portable: bool) -> dict[str, Any]:
        """Return the handler of *event*. Clients take seconds, and would wait ten minutes."""
        arguments = ["hook", event]
        if not portable and not self.default_config:
            arguments += [_OPTION, self.config_dir]
        command = "memprove" if portable else self.path
        common = {"type": "command", "command": command, "args": arguments}
        return {**common, **EVENTS[event].extra}


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a client: which of its occasions, and what its handler says beside a command."""

    matcher: str | None
    extra: Mapping[str, Any]


EVENTS: Final[Mapping[str, Event]] = {
    "SessionStart": Event(SOURCES, {"timeout": 10}),
    "SubagentStart": Event(None, {"timeout": 10}),
    "SessionEnd": Event(None, {"timeout": 2}),
    "PostToolUse": Event("Bash", {"timeout": 10, "async": True}),
    "PostToolUseFailure": Event("Bash", {"timeout": 10, "async": True}),
    "PreCompact": Event(None, {"timeout": 10}),
}
"""The events that memprove can be called at. The first is installed, others when asked for."""
DEFAULT: Final = "SessionStart"


def is_server(entry: Value) -> bool:
    """Tell whether *entry* of ``mcpServers`` is ours."""
    return _is_program(entry.get("command")) and _words(entry.get("args"))[:2] == ["mcp", "serve"]


def is_portable_server(entry: Value) -> bool:
    """Tell whether *entry*, which is ours, holds nothing of one machine."""
    command = entry.get("command")
    return command is not None and command.text == BIN


def server_arguments(entry: Value, wanted: list[str]) -> list[str]:
    """Return the *wanted* arguments, and behind them those that a user added to *entry*."""
    words = _words(entry.get("args"))[2:]
    if words[:1] == [_OPTION]:
        words = words[2:]
    return [*wanted, *words]


def hook_verb(handler: Value) -> str | None:
    """Return what the *handler* calls ``memprove hook`` with if it is ours, else None."""
    kind, command = handler.get("type"), handler.get("command")
    if kind is None or kind.text != "command" or command is None or command.kind != "string":
        return None
    words = _words(handler.get("args"))
    if handler.get("args") is None:  # through a shell
        try:
            program, *words = shlex.split(command.text)
        except ValueError:
            return None
    else:
        program = command.text
    if not _is_name(program) or words[:1] != ["hook"]:
        return None
    plain = len(words) == 2 or (len(words) == 4 and words[2] == _OPTION)
    return words[1] if plain else None


def covers(matcher: Value | None, wanted: str | None) -> bool:
    """Tell whether a group with *matcher* is called on all occasions that *wanted* names."""
    if matcher is None or matcher.text in ("", "*"):
        return True
    if wanted is None:
        return False
    named = {word.strip() for word in matcher.text.replace(",", "|").split("|")}
    return named >= set(wanted.split("|"))


def _is_program(command: Value | None) -> bool:
    return command is not None and (command.text == BIN or _is_name(command.text))


def _is_name(path: str) -> bool:
    return PurePath(path.replace("\\", "/")).name in _NAMES


def _words(arguments: Value | None) -> list[str]:
    """Return a list of strings; empty where *arguments* is none."""
    if arguments is None or any(item.kind != "string" for item in arguments.items):
        return []
    return [item.text for item in arguments.items]
