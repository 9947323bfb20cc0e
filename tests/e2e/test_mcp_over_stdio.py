"""The official client against the real executable: its three ways to open a connection."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.command_line import Desk, desk_with_ledger
from support.wire import EXECUTABLE, Wire, call, cancelled, modern, served

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
Story = Callable[[Client], Awaitable[None]]


def told(desk: Desk, mode: Any, story: Story) -> None:
    """Let a client that opens in *mode* live through *story* in the repository of *desk*."""
    command, *arguments = EXECUTABLE
    server = StdioServerParameters(
        command=command, args=arguments, env=desk.env, cwd=str(desk.folder)
    )

    async def connected() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            assert client.protocol_version == MODES[mode]
            await story(client)

    asyncio.run(connected())


async def done(client: Client, name: str, **arguments: Any) -> types.CallToolResult:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    assert not result.is_error, result.content
    return result


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_with_ledger(tmp_path)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls(desk: Desk, mode: str) -> None:
    async def story(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            *("pack", "claims", "context", "tasks", "ledger_verify"),
            *("begin", "checkpoint", "decide", "end", "complete"),
        ]
        if mode != "2026-07-28":  # a pinned client does not ask who we are
            assert client.server_info is not None
            assert client.server_info.name == "memprove"
            assert "pack" in (client.instructions or "")
        begun = await done(client, "begin", new_task="Try it", agent_name="tester")
        assert begun.structured_content is not None
        assert list(begun.structured_content)[:2] == ["task_id", "session_id"]
        pack = await done(client, "pack")
        assert "Try it" in str(pack.content)
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("nosuch", {})
        refused = await client.call_tool("claims", {"claims": ["c99"]})
        assert refused.is_error

    told(desk, mode, story)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_hears_how_far_a_verification_is(desk: Desk, mode: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def story(client: Client) -> None:
        result = await client.call_tool("ledger_verify", {"full": True}, progress_callback=hear)
        assert not result.is_error

    told(desk, mode, story)
    assert heard
    assert heard == sorted(set(heard))
    assert heard[-1][0] == heard[-1][1]


def test_a_client_of_each_era_and_a_shell_share_one_ledger(desk: Desk) -> None:
    async def write(client: Client) -> None:
        await done(client, "begin", new_task="Share it")
        ran = desk.memprove("run", "--kind", "build", "--", "true")
        assert ran.code == 0
        await done(client, "checkpoint", facts=[{"text": "it builds", "evidence": ["r1"]}])

    async def read(client: Client) -> None:
        pack = str((await done(client, "pack")).content)
        assert "it builds" in pack
        assert "r1" in pack

    told(desk, "2026-07-28", write)
    told(desk, "legacy", read)
    assert desk.memprove("verify").code == 0


def test_a_verification_that_nobody_waits_for_any_more_is_not_answered(desk: Desk) -> None:
    with served(desk.folder, EXECUTABLE, desk.env) as wire:
        wire.open()
        wire.send(call(1, "ledger_verify", {"full": True}), cancelled(1))
        assert answered(wire, modern("next", "tools/list")) == {"next"}


def answered(wire: Wire, last: dict[str, Any]) -> set[Any]:
    """Return the ids of all answers up to that of *last*."""
    wire.send(last)
    ids = {wire.read().get("id")}
    while last["id"] not in ids:
        ids.add(wire.read().get("id"))
    return ids | {message.get("id") for message in wire.end().messages}
