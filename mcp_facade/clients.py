"""The clients that can start our server, and how each of them wants to be told.

Pure data and text: no file is read or written here, no ledger, no protocol. Where two forms of one
entry are known to work, this is the one that another program would read too.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

NAME: Final = "memprove"

PASSED_ON: Final = (
    "MEMPROVE_AGENT_NAME",
    "MEMPROVE_AGENT_ROLE",
    "MEMPROVE_PARENT_SESSION",
    "MEMPROVE_SESSION",
    "MEMPROVE_CONTEXT",
)
"""What a client that hands no environment on is asked to: variables that are no secrets."""


class Scope(StrEnum):
    """For whom an entry is: all who work on the project, you everywhere, you in this project."""

    PROJECT = "project"
    USER = "user"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Start:
    """How our server is started: everything in an entry that differs from machine to machine."""

    command: str
    config_dir: str
    root: str
    """The Workspace's root."""

    @property
    def args(self) -> list[str]:
        """Return the arguments behind the command."""
        return ["mcp", "serve", "--config-dir", self.config_dir]

    @property
    def env(self) -> dict[str, str]:
        """Return the variables to set: texts all of them, and nothing secret."""
        return {"MEMPROVE_CONFIG_DIR": self.config_dir}


@dataclass(frozen=True, slots=True)
class Client:
    """A client: where its entries belong, by scope, and the text of one."""

    places: Mapping[Scope, str]
    entry: Callable[[Start, Scope], str]
    hints: Mapping[Scope, str] = field(default_factory=dict)
    """What else to know, by scope."""


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _server(start: Start, **more: Any) -> dict[str, Any]:
    return {"command": start.command, "args": start.args, "env": start.env, **more}


def _claude(start: Start, scope: Scope) -> str:
    servers = {"mcpServers": {NAME: {"type": "stdio", **_server(start)}}}
    return _json({"projects": {start.root: servers}} if scope is Scope.LOCAL else servers)


def _codex(start: Start, scope: Scope) -> str:
    config = _toml(start.env["MEMPROVE_CONFIG_DIR"])
    return (
        f"[mcp_servers.{NAME}]\n"
        f"command = {_toml(start.command)}\n"
        f"args = [{', '.join(map(_toml, start.args))}]\n"
        f"env_vars = [{', '.join(map(_toml, PASSED_ON))}]\n"
        "\n"
        f"[mcp_servers.{NAME}.env]\n"
        f"MEMPROVE_CONFIG_DIR = {config}\n"
    )


def _toml(text: str) -> str:
    """Return a basic string, which escapes as JSON does, and one character more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(start: Start, scope: Scope) -> str:
    return _json({"mcpServers": {NAME: _server(start)}})


def _cursor(start: Start, scope: Scope) -> str:
    """Name the Workspace: Cursor promises no working directory."""
    entry = _server(start)
    entry["env"] = {**start.env, "CLAUDE_PROJECT_DIR": "${workspaceFolder}"}
    return _json({"mcpServers": {NAME: entry}})


def _vscode(start: Start, scope: Scope) -> str:
    entry = {"type": "stdio", **_server(start, cwd="${workspaceFolder}")}
    return _json({"servers": {NAME: entry}})


def _copilot(start: Start, scope: Scope) -> str:
    """For the project the file that Claude Code reads too, so nothing else is in it."""
    if scope is Scope.PROJECT:
        return _claude(start, scope)
    return _json({"mcpServers": {NAME: {"type": "local", **_server(start, tools=["*"])}}})


def _zed(start: Start, scope: Scope) -> str:
    return _json({"context_servers": {NAME: {"source": "custom", **_server(start)}}})


def _continue(start: Start, scope: Scope) -> str:
    args = "".join(f"      - {_yaml(arg)}\n" for arg in start.args)
    head = "name: Memprove\nversion: 0.0.1\nschema: v1\n" if scope is Scope.PROJECT else ""
    return (
        f"{head}mcpServers:\n"
        f"  - name: {NAME}\n"
        f"    command: {_yaml(start.command)}\n"
        f"    args:\n{args}"
        "    env:\n"
        f"      MEMPROVE_CONFIG_DIR: {_yaml(start.env['MEMPROVE_CONFIG_DIR'])}\n"
    )


def _yaml(text: str) -> str:
    """Return a double-quoted scalar in printable ASCII."""
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[^ -~]", lambda found: f"\\U{ord(found[0]):08x}", quoted)


def _cline(start: Start, scope: Scope) -> str:
    return _json({"mcpServers": {NAME: _server(start, disabled=False, autoApprove=[])}})


def _opencode(start: Start, scope: Scope) -> str:
    entry = {
        "type": "local",
        "command": [start.command, *start.args],
        "environment": start.env,
        "enabled": True,
    }
    return _json({"mcp": {NAME: entry}})


_WORKSPACE: Final = "{root}/"
_REWRITTEN: Final = "Claude Code writes to that file all the time: close it, or use `claude mcp`"

CLIENTS: Final[Mapping[str, Client]] = {
    "claude": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.mcp.json",
            Scope.USER: "~/.claude.json",
            Scope.LOCAL: "~/.claude.json",
        },
        _claude,
        {Scope.USER: _REWRITTEN, Scope.LOCAL: _REWRITTEN},
    ),
    "codex": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.codex/config.toml",
            Scope.USER: "~/.codex/config.toml",
        },
        _codex,
        {Scope.PROJECT: "Codex reads a project's file in projects that it trusts only"},
    ),
    "gemini": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.gemini/settings.json",
            Scope.USER: "~/.gemini/settings.json",
        },
        _plain,
        {Scope.PROJECT: "Gemini CLI starts servers in folders that it trusts only"},
    ),
    "cursor": Client(
        {Scope.PROJECT: f"{_WORKSPACE}.cursor/mcp.json", Scope.USER: "~/.cursor/mcp.json"},
        _cursor,
    ),
    "vscode": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.vscode/mcp.json",
            Scope.USER: "mcp.json of your profile: `MCP: Open User Configuration`",
        },
        _vscode,
    ),
    "copilot": Client(
        {Scope.PROJECT: f"{_WORKSPACE}.mcp.json", Scope.USER: "~/.copilot/mcp-config.json"},
        _copilot,
    ),
    "windsurf": Client(
        {Scope.USER: "~/.codeium/windsurf/mcp_config.json"},
        _plain,
        {Scope.USER: "Windsurf tells no Workspace: start it in the project's folder"},
    ),
    "zed": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.zed/settings.json",
            Scope.USER: "~/.config/zed/settings.json",
        },
        _zed,
    ),
    "continue": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}.continue/mcpServers/memprove.yaml",
            Scope.USER: "~/.continue/config.yaml",
        },
        _continue,
    ),
    "cline": Client(
        {Scope.USER: "~/.cline/data/settings/cline_mcp_settings.json"},
        _cline,
        {Scope.USER: "Cline tells no Workspace: start it in the project's folder"},
    ),
    "opencode": Client(
        {
            Scope.PROJECT: f"{_WORKSPACE}opencode.json",
            Scope.USER: "~/.config/opencode/opencode.json",
        },
        _opencode,
    ),
}
"""Client → what is known of it, in the order of the help. The first of its scopes is its usual one.

Codex and Gemini CLI keep tokens out of what they start: the token is found in the configuration
directory, which is why every entry names that."""


def place(client: Client, scope: Scope, root: str) -> str:
    """Return where the entry of *client* belongs."""
    return client.places[scope].replace("{root}", root)
