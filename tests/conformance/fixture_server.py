"""The server that the official conformance suite asks for, on our loop and our server.

``python -m conformance.fixture_server`` serves stdio, with ``--port N`` the SDK's HTTP app. It has
what applies to a server of tools; what the suite asks of prompts, resources, sampling and the like
is in the baseline, for memprove has none.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from memprove.ledger.problems import INTERNAL
from memprove.ledger.settings import Caller
from memprove.mcp_facade.server import build_server
from memprove.mcp_facade.tool import READS, Client, Result, Tool

_PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4"
    "DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
)
_WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA="
_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Nothing(BaseModel):
    """No arguments."""


class Region(BaseModel):
    """One argument, which HTTP clients repeat in a header."""

    region: str = "none"

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        schema = super().model_json_schema(*args, **options)
        schema["properties"]["region"]["x-mcp-header"] = "Region"
        return schema


class Whole(BaseModel):
    """A schema with every keyword that the suite looks for."""

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        return _SCHEMA


def test_simple_text(given: Nothing, client: Client) -> Result:
    return Result("This is a simple text response for testing.", {})


def test_logging_tool(given: Nothing, client: Client) -> Result:
    return Result("Nothing is logged to the client, whatever level it asks for.", {})


def test_streaming_elicitation(given: Nothing, client: Client) -> Result:
    return Result("Nothing is asked of the client.", {})


def test_error_handling(given: Nothing, client: Client) -> Result:
    raise INTERNAL("This tool intentionally returns an error for testing")


def test_tool_with_progress(given: Nothing, client: Client) -> Result:
    for done in (0, 50, 100):
        client.progress(done, 100)
        time.sleep(0.11)  # more often is not told
    return Result("done", {})


def test_x_mcp_header(given: Region, client: Client) -> Result:
    return Result(f"region={given.region}", {})


def json_schema_2020_12_tool(given: Whole, client: Client) -> Result:
    return Result("json_schema_2020_12_tool", {})


def _tool(call: Callable[[Any, Client], Result], input: type[BaseModel] = Nothing) -> Tool:
    name = call.__name__
    title = name.replace("_", " ")
    return Tool(
        name=name,
        title=title,
        description=f"Answers what the suite expects of {title}.",
        input=input,
        output=None,
        annotations=READS,
        call=call,
    )


TOOLS: Final = (
    _tool(test_simple_text),
    _tool(test_logging_tool),
    _tool(test_streaming_elicitation),
    _tool(test_error_handling),
    _tool(test_tool_with_progress),
    _tool(test_x_mcp_header, Region),
    _tool(json_schema_2020_12_tool, Whole),
)
_RESOURCE: Final = types.EmbeddedResource(
    type="resource",
    resource=types.TextResourceContents(
        uri="test://embedded-resource", mime_type="text/plain", text="An embedded resource."
    ),
)
_IMAGE: Final = types.ImageContent(type="image", data=_PNG, mime_type="image/png")
_CONTENT: Final[dict[str, list[types.ContentBlock]]] = {
    "test_image_content": [_IMAGE],
    "test_audio_content": [types.AudioContent(type="audio", data=_WAV, mime_type="audio/wav")],
    "test_embedded_resource": [_RESOURCE],
    "test_multiple_content_types": [
        types.TextContent(type="text", text="Multiple content types test:"),
        _IMAGE,
        _RESOURCE,
    ],
}


def fixture_server() -> Server[Any]:
    """Return our server, and beside its table tools that answer with more than text."""
    server = build_server(TOOLS, lambda: Caller("mcp", Path.cwd(), {}), version="1")
    ours = server.get_request_handler("tools/call")
    assert ours is not None

    async def call(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> Any:
        if params.name == "test_missing_capability":
            declared = context.session.client_capabilities
            if declared is None or declared.sampling is None:
                needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
                code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
                raise MCPError(code, "This tool needs the client's sampling", needed)
        if params.name in _CONTENT:
            return types.CallToolResult(content=_CONTENT[params.name])
        return await ours.handler(context, params)

    server.add_request_handler("tools/call", types.CallToolRequestParams, call)
    return server


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    if port is None:
        _stdio()
    else:
        import uvicorn

        app = fixture_server().streamable_http_app(host="127.0.0.1")
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


def _stdio() -> None:
    import anyio

    from memprove.mcp_facade.loop import Loop
    from memprove.mcp_facade.streams import Streams

    streams = Streams()

    async def run() -> None:
        await Loop(fixture_server(), streams).run()

    anyio.run(run)
    os._exit(0)


if __name__ == "__main__":
    main()
