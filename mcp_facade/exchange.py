"""One request as the SDK's kernel sees its channel back to the client."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.transport_context import TransportContext

from memprove.mcp_facade import envelope

Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Outbound:
    """A channel that takes notifications. Requests of the server it refuses, in every era."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Send a notification."""
        await self._send(envelope.notification(method, params))

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuse."""
        raise NoBackChannelError(method)


class Exchange(Outbound):
    """A request in flight; nothing is sent for it once it is over."""

    can_send_request = False
    message_metadata = None
    transport = TransportContext(kind="stdio", can_send_request=False)

    def __init__(self, send: Send, request: envelope.Request) -> None:
        super().__init__(send)
        self.request_id = request.id
        self.scope = anyio.CancelScope()
        self.cancel_requested = anyio.Event()
        self._token = progress_token_from_params(request.params)
        self._over = False

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Send a notification about this request."""
        if not self._over:
            await super().notify(method, params, opts)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell how far this request is, if the client asked."""
        told = {"progressToken": self._token, "progress": progress}
        more = {"total": total, "message": message}
        if self._token is not None:
            params = told | {name: value for name, value in more.items() if value is not None}
            await self.notify("notifications/progress", params)

    def cancel(self) -> None:
        """Stop, for the client wants no answer."""
        self._over = True
        self.cancel_requested.set()
        self.scope.cancel()

    def end(self) -> None:
        """Send nothing more."""
        self._over = True
