"""One piece of work from the first call to the next agent's Pack, with the official client."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from support.command_line import MEMPROVE, Desk

HANDSHAKE = {"protocolVersion": "2025-11-25"}
MODES = ("auto", "legacy", "2026-07-28")
TESTS = """\
import unittest
from sums import add

class Sums(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
RUN = ("run", "-q", "--", "python3", "-m", "unittest", "-q", "test_sums")


def server(desk: Desk) -> StdioServerParameters:
    """Return how a client starts the server, from the root of its file system."""
    command, *arguments = MEMPROVE
    env = {**desk.env, "CLAUDE_PROJECT_DIR": str(desk.folder / "dir"), "MEMPROVE_DATA_DIR": ""}
    return StdioServerParameters(
        command=command,
        args=[*arguments, "mcp", "serve", "--config-dir", str(desk.config)],
        env=env,
        cwd="/",
    )


async def told(client: Client, name: str, **arguments: Any) -> str:
    """Call a tool that is to succeed; return its text."""
    result = await client.call_tool(name, arguments)
    [content] = result.content
    assert isinstance(content, types.TextContent)
    assert not result.is_error, content.text
    return content.text


async def work(client: Client, desk: Desk) -> None:
    """Begin, see it fail, mend it, see it pass, decide, complete, end."""
    assert "new Task 1 “Mend add”" in await told(
        client, "begin", new_task="Mend add", agent_name="claude"
    )
    desk.folder.joinpath("test_sums.py").write_text(TESTS)
    desk.folder.joinpath("sums.py").write_text("def add(a, b):\n    return a - b\n")
    assert desk.memprove(*RUN).code == 1
    assert await told(
        client,
        "checkpoint",
        facts=[{"text": "add subtracts", "evidence": ["!r1"]}],
        next_action="mend add",
    ) == ("c1 recorded · next action recorded")
    refused = await client.call_tool("complete", {})
    assert refused.is_error
    desk.folder.joinpath("sums.py").write_text("def add(a, b):\n    return a + b\n")
    assert desk.memprove(*RUN).code == 0
    assert await told(client, "checkpoint", facts=["add adds [r2]"], next_action="try floats") == (
        "c2 recorded · next action recorded"
    )
    assert await told(
        client, "decide", title="add", choice="plain +", rationale="enough", evidence=["r2"]
    ) == ("d1 proposed")
    assert await told(client, "complete") == "Task 1 completed “Mend add” · r2 passed"
    assert await told(client, "end", note="done") == "Session 1 ended · Task 1 is completed"


async def resume(client: Client, desk: Desk) -> None:
    """Read what the first one left."""
    opening, _, pack = (await told(client, "pack", task=1)).partition("\n\n")
    assert opening.startswith("Task 1 “Mend add” is completed.")
    assert pack.encode() == desk.memprove("resume", "--pack", "--task", "1").stdout
    assert "Next (claude, Session 1): “try floats”" in pack
    assert "Proven (1)\n  c2 r2 `python3 -m unittest -q test_sums` test 1/1 · “add adds”" in pack
    assert "Observed (1)\n  c1 !r1 " in pack
    assert "d1 proposed · “add”: “plain +” because “enough”" in pack
    verified: list[tuple[float, float | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        verified.append((progress, total))

    result = await client.call_tool("ledger_verify", {}, progress_callback=heard)
    assert result.structured_content is not None
    assert result.structured_content["ok"] is True
    size = result.structured_content["size"]
    assert verified[-1:] == [(size, size)]


def speak(desk: Desk, mode: Any, do: Callable[[Client, Desk], Coroutine[Any, Any, None]]) -> None:
    """Let a new server serve what *do* asks."""

    async def spoken() -> None:
        async with Client(server(desk), mode=mode) as client:
            await client.list_tools()
            await do(client, desk)

    asyncio.run(spoken())


def test_a_begin_whose_answer_finds_a_closed_pipe_and_is_sent_again_makes_one_task(
    desk: Desk,
) -> None:
    once = {"new_task": "once"}
    lines: tuple[tuple[str, dict[str, Any]], ...] = (
        (
            "initialize",
            {**HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        ),
        ("notifications/initialized", {}),
        ("tools/call", {"name": "begin", "arguments": once}),
    )
    parameters = server(desk)
    unread = subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert unread.stdin is not None
    assert unread.stdout is not None
    unread.stdout.close()
    for number, (method, params) in enumerate(lines):
        id = {} if method.startswith("notifications/") else {"id": number}
        message = {"jsonrpc": "2.0", **id, "method": method, "params": params}
        with suppress(BrokenPipeError):
            unread.stdin.write(json.dumps(message).encode() + b"\n")
    with suppress(BrokenPipeError):
        unread.stdin.close()
    unread.wait()

    async def again(client: Client, desk: Desk) -> None:
        first = await client.call_tool("begin", once)
        second = await client.call_tool("begin", once)
        listed = await client.call_tool("tasks", {})
        assert listed.structured_content is not None
        assert [row["title"] for row in listed.structured_content["tasks"]] == ["once"]
        assert not first.is_error
        assert second.structured_content is not None
        assert second.structured_content["replayed"] is True

    speak(desk, "auto", again)


@pytest.mark.parametrize("mode", MODES)
def test_work_done_over_one_server_is_what_the_next_one_resumes(desk: Desk, mode: str) -> None:
    speak(desk, mode, work)
    speak(desk, mode, resume)
    assert desk.memprove("verify").code == 0
