"""The loop of a connection on stdio: which era each message is of, what runs, what is answered.

The SDK decides the era once, by the first request; the protocol lets one process serve both. So
this loop decides per request, and hands each to the SDK's kernel, which knows the methods. One with
the 2026-07-28 envelope in its ``_meta`` stands for itself. Any other belongs to the one handshake
session, which ``initialize`` opens, however often.

Delete this file, `envelope` and `streams` when the SDK serves both eras in any order and refuses
what these refuse; docs/adr has the list.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import anyio
import anyio.abc
import mcp_types as types
from anyio.lowlevel import checkpoint
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner, serve_one
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from pydantic import ValidationError

from memprove.mcp_facade import envelope
from memprove.mcp_facade.envelope import Batch, Id, Lines, Message, Notification, Request, Wrong
from memprove.mcp_facade.exchange import Exchange, Outbound
from memprove.mcp_facade.server import REVISIONS
from memprove.mcp_facade.streams import ClientGone, Streams

MOST_AT_ONCE: Final = 256
"""Requests in flight: with so many, no further line is read before one is answered."""

DRAIN_S: Final = 0.8
"""How long what is in flight may take once the client wants to end."""

ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_HANDSHAKES: Final = REVISIONS[1:]
_WITH_BATCHES: Final = "2025-03-26"
_ENVELOPE: Final = (types.PROTOCOL_VERSION_META_KEY, types.CLIENT_CAPABILITIES_META_KEY)

Reply = Callable[[dict[str, Any] | None], Awaitable[None]]
"""Takes the answer to a request, or None: it was cancelled and gets none."""


class Loop:
    """One connection. ``run`` returns when the client has ended it, or a signal has."""

    def __init__(self, server: Server[Any], streams: Streams) -> None:
        self._server = server
        self._streams = streams
        self._outbound = Outbound(self._send)
        self._session = Connection.for_loop(self._outbound)
        self._kernel = ServerRunner(server, self._session, {})
        self._in_flight: dict[tuple[type, Id], Exchange] = {}
        self._room = anyio.Semaphore(MOST_AT_ONCE, fast_acquire=True)
        self._writing = anyio.Lock(fast_acquire=True)
        self._reading = anyio.CancelScope()

    async def run(self) -> None:
        """Serve; then let what is in flight end, but not for long."""
        try:
            # Before anything is read: what has been answered once ends as is promised.
            with anyio.open_signal_receiver(*ENDING) as received:
                async with anyio.create_task_group() as signals:
                    signals.start_soon(self._await_signal, received)
                    with anyio.CancelScope() as life:
                        async with anyio.create_task_group() as self._tasks:
                            with self._reading:
                                await self._read()
                            life.deadline = anyio.current_time() + DRAIN_S
                    signals.cancel_scope.cancel()
        except* ClientGone:
            pass

    async def _await_signal(self, received: AsyncIterable[signal.Signals]) -> None:
        async for _ in received:
            self._reading.cancel()

    async def _read(self) -> None:
        lines = Lines()
        while data := await self._streams.read():
            for line in lines.feed(data):
                await self._take(line)
                await checkpoint()  # however fast they come, what they ask for is done meanwhile
        await self._take(lines.last())

    async def _take(self, line: bytes | None) -> None:
        match envelope.parse(line):
            case None:
                pass
            case Batch(messages):
                await self._take_batch(messages)
            case message:
                await self._take_message(message, self._reply)

    async def _take_batch(self, messages: Sequence[Message]) -> None:
        known = self._session.client_params is not None
        if not messages or not known or self._session.protocol_version != _WITH_BATCHES:
            why = "this revision has no batches" if messages else "an empty batch"
            wrong = Wrong(None, envelope.INVALID_REQUEST, f"Invalid Request: {why}")
            await self._refuse(wrong, self._reply)
            return
        answers = Answers(sum(isinstance(one, Request | Wrong) for one in messages), self._send)
        for message in messages:
            if isinstance(message, Request) and _is_no_part(message):
                text = "Invalid Request: not in a batch"
                message = Wrong(message.id, envelope.INVALID_REQUEST, text)
            await self._take_message(message, answers.take)

    async def _take_message(self, message: Message, reply: Reply) -> None:
        match message:
            case Request():
                await self._take_request(message, reply)
            case Notification("notifications/cancelled", params):
                self._cancel((params or {}).get("requestId"))
            case Wrong():
                await self._refuse(message, reply)
            case _:  # nothing else is asked of us, and we have asked for nothing
                pass

    async def _take_request(self, request: Request, reply: Reply) -> None:
        key = (type(request.id), request.id)
        if key in self._in_flight:
            text = "Invalid Request: the id is that of a request in flight"
            await self._refuse(Wrong(request.id, envelope.INVALID_REQUEST, text), reply)
            return
        await self._room.acquire()
        exchange = self._in_flight[key] = Exchange(self._send, request)
        if request.method == "initialize":  # what stands behind it is of the session it opens
            await self._handle(exchange, request, reply)
        else:
            self._tasks.start_soon(self._handle, exchange, request, reply)

    def _cancel(self, id: Any) -> None:
        exchange = self._in_flight.pop((type(id), id), None) if isinstance(id, Id) else None
        if exchange is not None:
            exchange.cancel()

    async def _refuse(self, wrong: Wrong, reply: Reply) -> None:
        self._streams.tell(f"refused: {wrong.message}")
        await reply(envelope.error(wrong.id, wrong.code, wrong.message))

    async def _handle(self, exchange: Exchange, request: Request, reply: Reply) -> None:
        answer = None
        try:
            with exchange.scope:
                answer = await self._answer(exchange, request)
            exchange.end()
            await reply(None if exchange.cancel_requested.is_set() else answer)
        finally:
            key = (type(request.id), request.id)
            if self._in_flight.get(key) is exchange:
                del self._in_flight[key]
            self._room.release()

    async def _answer(self, exchange: Exchange, request: Request) -> dict[str, Any]:
        try:
            return envelope.answer(request.id, await self._result(exchange, request))
        except MCPError as raised:
            told = raised.error
            return envelope.error(request.id, told.code, told.message, told.data)
        except ValidationError:
            return envelope.error(request.id, types.INVALID_PARAMS, "Invalid request parameters")
        except Exception as fault:
            self._streams.tell(f"internal: {type(fault).__name__}")
            return envelope.error(request.id, types.INTERNAL_ERROR, "Internal error")

    async def _result(self, exchange: Exchange, request: Request) -> dict[str, Any]:
        method, params = request.method, request.params
        if method == "initialize":
            _check_version((params or {}).get("protocolVersion"))
        elif _is_enveloped(params):
            return await self._modern(exchange, request)
        elif method == "server/discover":
            raise MCPError(types.INVALID_PARAMS, f"params._meta must carry {_ENVELOPE[0]}")
        elif self._server.get_request_handler(method) is None and method != "ping":
            # Before the kernel sees it, which would look at the parameters first.
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", method)
        elif self._session.client_params is None and method != "ping":
            raise MCPError(types.INVALID_REQUEST, "Not initialized: send initialize first")
        return await self._kernel.on_request(exchange, method, params)

    async def _modern(self, exchange: Exchange, request: Request) -> dict[str, Any]:
        method, params = request.method, request.params
        route = classify_inbound_request({"method": method, "params": params})
        if isinstance(route, InboundLadderRejection):
            data = route.data
            if route.code == types.UNSUPPORTED_PROTOCOL_VERSION:
                data = {**(data or {}), "supported": list(REVISIONS)}
            raise MCPError(route.code, route.message, data)
        connection = Connection.from_envelope(
            route.protocol_version,
            route.client_info,
            route.client_capabilities,
            outbound=self._outbound,
        )
        return await serve_one(
            self._server, exchange, method, params, connection=connection, lifespan_state={}
        )

    async def _reply(self, answer: dict[str, Any] | None) -> None:
        if answer is not None:
            await self._send(answer)

    async def _send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        async with self._writing:
            await self._streams.write(envelope.line(message))


class Answers:
    """The answers to a batch, sent in one line once all are there."""

    def __init__(
        self, missing: int, send: Callable[[list[dict[str, Any]]], Awaitable[None]]
    ) -> None:
        self._missing = missing
        self._send = send
        self._answers: list[dict[str, Any]] = []

    async def take(self, answer: dict[str, Any] | None) -> None:
        """Take one answer; None for a request that gets none."""
        self._missing -= 1
        if answer is not None:
            self._answers.append(answer)
        if not self._missing and self._answers:
            await self._send(self._answers)


def _is_enveloped(params: dict[str, Any] | None) -> bool:
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and any(key in meta for key in _ENVELOPE)


def _is_no_part(request: Request) -> bool:
    """Tell whether *request* may be no part of a batch: those that no session is needed for."""
    return request.method == "initialize" or _is_enveloped(request.params)


def _check_version(asked: Any) -> None:
    """Refuse a version below the oldest; any other that we do not have is offered our newest."""
    if isinstance(asked, str) and asked >= _HANDSHAKES[-1]:
        return
    data = {"supported": list(_HANDSHAKES), "requested": asked if isinstance(asked, str) else None}
    raise MCPError(types.INVALID_PARAMS, "Unsupported protocol version", data)
