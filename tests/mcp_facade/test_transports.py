"""One server over two transports: ours, and the SDK's HTTP app. The answers do not differ."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from support.command_line import Desk, desk_with_ledger
from support.wire import EXECUTABLE

from memprove.cli.version import VERSION
from memprove.mcp_facade.callers import caller
from memprove.mcp_facade.server import build_server
from memprove.mcp_facade.tools import TOOLS

URL = "http://127.0.0.1:1/mcp"


@asynccontextmanager
async def over_http(desk: Desk, mode: Any) -> AsyncIterator[Client]:
    env = {**desk.env, "CLAUDE_PROJECT_DIR": str(desk.folder)}
    server = build_server(TOOLS, lambda: caller(None, env), version=VERSION)
    app = server.streamable_http_app(host="127.0.0.1")
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(desk: Desk, mode: Any) -> AsyncIterator[Client]:
    command, *arguments = EXECUTABLE
    server = StdioServerParameters(
        command=command, args=arguments, env=desk.env, cwd=str(desk.folder)
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


async def answers(client: Client) -> list[str]:
    """Return what the client is told, by what reads and what refuses; but what time it is."""
    told: list[Any] = [client.server_info, client.instructions, await client.list_tools()]
    for name, arguments in (
        ("tasks", {}),
        ("pack", {"budget": "800"}),
        ("claims", {"claims": ["c1"]}),
        ("context", {}),
        ("ledger_verify", {"full": True}),
        ("begin", {}),
        ("decide", {"title": "only"}),
    ):
        result = await client.call_tool(name, arguments)
        assert isinstance(result, types.CallToolResult)
        told.append((name, result))
    return [re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "now", repr(one)) for one in told]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_transports_give_the_same_answers(tmp_path: Path, mode: str) -> None:
    desk = desk_with_ledger(tmp_path)

    async def begin() -> None:
        async with over_http(desk, mode) as client:
            done = await client.call_tool("begin", {"new_task": "Share it"})
            assert not done.is_error
            done = await client.call_tool("checkpoint", {"facts": ["so it is"]})
            assert not done.is_error

    async def compare() -> None:
        async with over_http(desk, mode) as client:
            first = await answers(client)
        async with over_stdio(desk, mode) as client:
            assert await answers(client) == first

    for step in (begin, compare):
        asyncio.run(step())
