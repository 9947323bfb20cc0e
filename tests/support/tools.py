"""The ten tools as a client calls them: through the real server, in the test's own process."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client

from memprove.ledger.settings import Caller
from memprove.mcp_facade.callers import caller
from memprove.mcp_facade.server import build_server
from memprove.mcp_facade.tools import TOOLS

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

Asked = tuple[str, Mapping[str, Any]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a client got for one call."""

    text: str
    structured: dict[str, Any]
    is_error: bool

    @property
    def code(self) -> str:
        """Return the code of the Problem, with which text and object agree."""
        assert self.is_error, self
        code, _, sentence = self.text.partition(": ")
        assert self.structured["code"] == code
        assert sentence.startswith(self.structured["sentence"])
        return code


@dataclass
class Served:
    """One server. It is called in *folder* with *env*, which may change between two calls."""

    folder: Path
    env: dict[str, str]
    config_dir: Path | None = None

    def caller(self) -> Caller:
        """Return who calls, as the environment is now."""
        named = {"CLAUDE_PROJECT_DIR": str(self.folder), **self.env}
        return caller(self.config_dir, named)

    def call(self, name: str, /, *, tool_use: str = "", **arguments: Any) -> Told:
        """Call a tool; *tool_use* is what the client calls this use of it by its agent."""
        return self.calls((name, arguments), tool_use=tool_use)[0]

    def done(self, name: str, /, *, tool_use: str = "", **arguments: Any) -> Told:
        """Call a tool that is to succeed."""
        told = self.call(name, tool_use=tool_use, **arguments)
        assert not told.is_error, told.text
        return told

    def calls(self, *asked: Asked, at_once: bool = False, tool_use: str = "") -> list[Told]:
        """Call tools on one connection, one after the other or all *at_once*."""
        return asyncio.run(self._calls(asked, at_once, tool_use))

    def listed(self) -> list[types.Tool]:
        """Return what ``tools/list`` answers."""

        async def listing() -> list[types.Tool]:
            async with self._client() as client:
                return (await client.list_tools()).tools

        return asyncio.run(listing())

    def _client(self) -> Client:
        return Client(build_server(TOOLS, self.caller, version="0"), raise_exceptions=True)

    async def _calls(self, asked: Sequence[Asked], at_once: bool, tool_use: str) -> list[Told]:
        async with self._client() as client:
            await client.list_tools()  # then results are checked against the output schemas
            coming = (self._told(client, *one, tool_use) for one in asked)
            return await asyncio.gather(*coming) if at_once else [await one for one in coming]

    async def _told(
        self, client: Client, name: str, arguments: Mapping[str, Any], tool_use: str
    ) -> Told:
        meta: Any = {"claudecode/toolUseId": tool_use} if tool_use else None
        result = await client.call_tool(name, dict(arguments), meta=meta)
        [content] = result.content
        assert isinstance(content, types.TextContent)
        assert isinstance(result.structured_content, dict)
        assert list(result.structured_content)[:2] == ["task_id", "session_id"]
        return Told(content.text, result.structured_content, bool(result.is_error))
