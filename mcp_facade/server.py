"""The server of a table of tools: what each request is answered with, whatever carries it.

The SDK's low-level server, which checks messages against the schema of their revision and shapes
the answers. Nothing of an exception but its class ever leaves: neither to the client nor to stderr.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from msgspec import structs
from pydantic import ValidationError

from memprove.ledger.domain import printing
from memprove.ledger.problems import INTERNAL, Problem
from memprove.ledger.settings import Caller
from memprove.mcp_facade.tool import Cancelled, Result, Tool, refusal, wrong_arguments

REVISIONS: Final = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")
"""The revisions of the protocol that are served, the newest first."""

INSTRUCTIONS: Final = (
    "memprove keeps a signed ledger of work. Call pack first: it says where the Task stands. "
    "Call begin if no Session is open. Run tests in a shell with `memprove run -- COMMAND`; it "
    "prints a label such as r3. Record what you found with checkpoint and cite those labels as "
    "evidence; no tool runs a command. Record choices with decide, finish with complete, then end."
)
_HINTS: Final = CacheHint(3_600_000, "public")
_BETWEEN_S: Final = 0.1
_MOST_NAME: Final = 128
_TOOL_USE: Final = "claudecode/toolUseId"

Context = ServerRequestContext[Any, Any]


def build_server(
    tools: Iterable[Tool],
    caller: Callable[[], Caller],
    *,
    version: str,
    at_once: int = 8,
    tell: Callable[[str], None] = lambda line: None,
) -> Server[Any]:
    """Return a server of *tools*. *caller* is asked anew on each call, *at_once* run in parallel.

    *tell* gets one line about each fault of our own.
    """
    answers = Answers(tools, caller, ThreadPoolExecutor(at_once, "call"), tell)
    server: Server[Any] = Server(
        "memprove",
        version=version,
        title="memprove",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": _HINTS, "server/discover": _HINTS},
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
    )

    async def discover(context: Context, params: types.RequestParams) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(REVISIONS),
            capabilities=server.get_capabilities(protocol_version=context.protocol_version),
            instructions=INSTRUCTIONS,
        )

    server.add_request_handler("server/discover", types.RequestParams, discover)
    server.middleware.clear()  # no traces: nothing of a call is told to anybody else
    return server


class Answers:
    """The answers to ``tools/list`` and ``tools/call``."""

    def __init__(
        self,
        tools: Iterable[Tool],
        caller: Callable[[], Caller],
        threads: ThreadPoolExecutor,
        tell: Callable[[str], None],
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._caller = caller
        self._threads = threads
        self._tell = tell

    @cached_property
    def _listed(self) -> list[types.Tool]:
        return [_listed(tool) for tool in self._tools.values()]

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return all tools, always in the same order."""
        if params is not None and params.cursor is not None:
            raise MCPError(code=types.INVALID_PARAMS, message="Invalid cursor")
        return types.ListToolsResult(tools=self._listed)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool in a thread, so that other requests are answered meanwhile.

        A cancelled call is left alone: its thread ends at its next word of progress, or unheard,
        and counts as busy until then.
        """
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=_unknown(params.name))
        loop = asyncio.get_running_loop()
        caller = structs.replace(self._caller(), call=_tool_use(context.meta))
        call = Call(context, caller, loop)
        try:
            result = await loop.run_in_executor(
                self._threads, self._result, tool, params.arguments or {}, call
            )
        finally:
            call.end()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)],
            structured_content=result.structured,
            is_error=result.is_error,
        )

    def _result(self, tool: Tool, arguments: dict[str, Any], call: "Call") -> Result:
        try:
            return tool.call(tool.input.model_validate(arguments), call)
        except ValidationError as error:
            return refusal(wrong_arguments(error))
        except Problem as problem:
            return refusal(problem)
        except Cancelled:
            return Result("", {})  # nobody waits for it
        except Exception as error:
            self._tell(f"internal: {type(error).__name__} in {tool.name}")
            return refusal(INTERNAL(type(error).__name__))


class Call:
    """One call of a tool, as the tool sees its client."""

    def __init__(self, context: Context, caller: Caller, loop: asyncio.AbstractEventLoop) -> None:
        self._context = context
        self._caller = caller
        self._loop = loop
        self._ended = threading.Event()
        self._wanted = "progress_token" in (context.meta or {})
        self._done = -1
        self._told_at = 0.0

    @property
    def caller(self) -> Caller:
        """Return the caller, as it was when the call came."""
        return self._caller

    @property
    def era(self) -> str:
        """Return the revision of the protocol that the request speaks."""
        return self._context.protocol_version

    def cancelled(self) -> bool:
        """Tell whether nobody waits for the answer any more."""
        return self._ended.is_set()

    def end(self) -> None:
        """Let nothing more be sent for this call."""
        self._ended.set()

    def progress(self, done: int, total: int) -> None:
        """Tell the client, if it asked: always more than before, and the end without fail."""
        if self.cancelled():
            raise Cancelled
        now = time.monotonic()
        due = now - self._told_at >= _BETWEEN_S or done >= total
        if not self._wanted or not due or done <= self._done:
            return
        self._done, self._told_at = done, now
        sending = self._context.session.report_progress(done, total)
        asyncio.run_coroutine_threadsafe(sending, self._loop).result()


def _listed(tool: Tool) -> types.Tool:
    hints = tool.annotations
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=tool.output,
        annotations=types.ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.always_load else None,
    )


def _tool_use(meta: Mapping[str, Any] | None) -> str:
    """Return what the client calls this use of a tool by its agent; empty if it does not say."""
    named = (meta or {}).get(_TOOL_USE)
    return named if isinstance(named, str) else ""


def _unknown(name: str) -> str:
    if len(name) > _MOST_NAME:
        return "Unknown tool, of a long name"
    return f"Unknown tool: {printing.escape(name)}"
