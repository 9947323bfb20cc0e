"""HTTP in front of a server on stdio, for the suite speaks HTTP alone.

``python -m conformance.bridge --port N COMMAND…``. Each handshake session has a process of its own;
all requests of 2026-07-28 share one. Ids and progress tokens are made unique on the way in and put
back on the way out; everything else passes as it is. What the protocol asks of HTTP alone, headers
that agree with the body and no ``initialize`` in the newer era, is done here.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final
from uuid import uuid4

import uvicorn
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
)
from mcp_types import METHOD_NOT_FOUND
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

_LIMIT: Final = 1 << 24
_MODERN: Final = "2026-07-28"
_SPARES: Final = 4
_SESSION: Final = "mcp-session-id"


class Server:
    """One process on stdio, and the requests that wait for it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._ids = count(1)
        self._waiting: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(cls, command: Sequence[str]) -> "Server":
        """Start one."""
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=_LIMIT)
        )

    async def _read(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            message = json.loads(line)
            id = message.get("id") or message.get("params", {}).get("progressToken")
            if (queue := self._waiting.get(str(id))) is not None:
                queue.put_nowait(message)

    async def write(self, message: Any) -> None:
        """Send *message*."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def ask(self, message: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Send a request; yield what comes for it, its answer last."""
        id = f"bridge-{next(self._ids)}"
        queue = self._waiting[id] = asyncio.Queue()
        meta = (message.get("params") or {}).get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        sent = {**message, "id": id}
        if isinstance(meta, dict) and token is not None:
            sent["params"] = {**message["params"], "_meta": {**meta, "progressToken": id}}
        try:
            await self.write(sent)
            while True:
                told = await queue.get()
                if "method" not in told:
                    yield {**told, "id": message["id"]}
                    return
                yield {**told, "params": {**told["params"], "progressToken": token}}
        finally:
            del self._waiting[id]

    async def end(self) -> None:
        """End its input, and so it."""
        assert self._process.stdin
        self._process.stdin.close()
        await self._process.wait()


class Bridge:
    """The HTTP side."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._sessions: dict[str, Server] = {}

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Have the process of the modern era, and end all of them at the end."""
        self._modern = await Server.started(self._command)
        self._spares = [await Server.started(self._command) for _ in range(_SPARES)]
        for server in self._spares:  # it answers: it has started
            await anext(server.ask({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        yield
        for server in (self._modern, *self._spares, *self._sessions.values()):
            await server.end()

    async def post(self, request: Request) -> Response:
        """Pass a message on."""
        message = await request.json()
        headers: dict[str, str] = {}
        if request.headers.get("mcp-protocol-version") == _MODERN or _is_modern(message):
            if (refused := _refused(message, request.headers)) is not None:
                return refused
            server = self._modern
        elif isinstance(message, dict) and message.get("method") == "initialize":
            server = self._spares.pop(0)  # started before, for the suite waits only so long
            self._spares.append(await Server.started(self._command))
            session = headers[_SESSION] = uuid4().hex
            self._sessions[session] = server
        else:
            session = request.headers.get(_SESSION, "")
            if session not in self._sessions:
                return Response(status_code=404 if session else 400)
            server = self._sessions[session]
        if not _is_request(message):
            await server.write(message)
            return Response(status_code=202, headers=headers)
        return await _answered(server, message, headers)

    async def delete(self, request: Request) -> Response:
        """End a session."""
        server = self._sessions.pop(request.headers.get(_SESSION, ""), None)
        if server is None:
            return Response(status_code=404)
        await server.end()
        return Response(status_code=200)


def _is_modern(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and "io.modelcontextprotocol/protocolVersion" in meta


def _is_request(message: Any) -> bool:
    return isinstance(message, dict) and "id" in message and "method" in message


def _refused(message: Any, headers: Mapping[str, str]) -> Response | None:
    if not _is_request(message):
        return None
    route = classify_inbound_request(message, headers=headers)
    if isinstance(route, InboundLadderRejection):
        return _failed(message["id"], route.code, route.message, route.data)
    if message["method"] == "initialize":
        return _failed(message["id"], METHOD_NOT_FOUND, "Method not found")
    return None


def _failed(id: Any, code: int, text: str, data: Any = None) -> Response:
    error = {"code": code, "message": text, "data": data}
    content = {"jsonrpc": "2.0", "id": id, "error": error}
    return JSONResponse(content, ERROR_CODE_HTTP_STATUS.get(code, 200))


async def _answered(server: Server, message: dict[str, Any], headers: dict[str, str]) -> Response:
    told = server.ask(message)
    first = await anext(told)
    if "method" not in first:
        await told.aclose()  # type: ignore[attr-defined]
        code = first.get("error", {}).get("code")
        return JSONResponse(first, ERROR_CODE_HTTP_STATUS.get(code, 200), headers)

    async def events() -> AsyncIterator[str]:
        yield _event(first)
        async for further in told:
            yield _event(further)

    return StreamingResponse(events(), headers=headers, media_type="text/event-stream")


def _event(message: dict[str, Any]) -> str:
    return f"event: message\ndata: {json.dumps(message)}\n\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    bridge = Bridge(asked.command)
    routes = [
        Route("/mcp", bridge.post, methods=["POST"]),
        Route("/mcp", bridge.delete, methods=["DELETE"]),
    ]
    app = Starlette(routes=routes, lifespan=bridge.lifespan)
    uvicorn.run(app, host="127.0.0.1", port=asked.port, log_level="error")


if __name__ == "__main__":
    main()
