"""The floor of a call: a server with one tool that does nothing, as the SDK has it."""

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NOOP = types.Tool(name="noop", input_schema={"type": "object"})


async def listed(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[NOOP])


async def called(context: object, params: object) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])


async def main() -> None:
    server: Server[object] = Server("bare", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


anyio.run(main)
