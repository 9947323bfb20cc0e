"""``memprove mcp serve``: claim the streams, then import what the server is made of, then serve."""

import os
import signal
from pathlib import Path

from memprove.mcp_facade.streams import Streams


def serve(config_dir: Path | None, *, version: str) -> int:
    """Serve the client on the standard streams until it ends; return the exit code."""
    streams = Streams(quiet=os.environ.get("MEMPROVE_DEBUG") != "1")
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):  # while all is imported, like SIGINT
            signal.signal(number, signal.default_int_handler)
        _serve(streams, config_dir, version)
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        streams.tell(f"internal: {type(error).__name__}")
        return 1
    return 0


def _serve(streams: Streams, config_dir: Path | None, version: str) -> None:
    # Late: what an import prints must find the streams claimed.
    import anyio

    from memprove.ledger.workspace.scratch import abandon
    from memprove.mcp_facade.callers import caller
    from memprove.mcp_facade.loop import ENDING, Loop
    from memprove.mcp_facade.server import build_server
    from memprove.mcp_facade.tools import TOOLS

    async def run() -> None:
        server = build_server(TOOLS, lambda: caller(config_dir), version=version, tell=streams.tell)
        await Loop(server, streams).run()
        for number in ENDING:  # it ends already
            signal.signal(number, signal.SIG_IGN)

    try:
        anyio.run(run)
    finally:
        abandon()  # calls that were not waited for
