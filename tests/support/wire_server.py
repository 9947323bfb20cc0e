"""A server on our loop with tools that a test can time: ``python -m support.wire_server``.

What happens when is decided by files in the working directory, so that no test waits for a while.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from memprove.ledger.problems import TASK_UNKNOWN
from memprove.ledger.settings import Caller
from memprove.mcp_facade.streams import Streams
from memprove.mcp_facade.tool import READS, Client, Result, Tool


class Words(BaseModel):
    """A text, and how often."""

    text: str = ""
    times: int = 1


def echo(given: Words, client: Client) -> Result:
    return Result(given.text * given.times, {"text": given.text, "era": client.era})


def hold(given: Words, client: Client) -> Result:
    """Say that it has begun, then hold on until there is a file ``go``."""
    Path(f"begun-{given.text}").touch()
    while not Path("go").exists():
        time.sleep(0.005)
    Path(f"ended-{given.text}").touch()
    return Result("held", {"cancelled": client.cancelled()})


def count(given: Words, client: Client) -> Result:
    """Count for as long as anybody listens, at most to *times*; tell how far that was."""
    done = 0
    try:
        while done < given.times and not Path("go").exists():
            Path(f"begun-{given.text}").touch()
            client.progress(done, given.times)
            done += 1
        client.progress(given.times, given.times)
    finally:
        Path(f"ended-{given.text}").touch()
    return Result(str(done), {})


def noise(given: Words, client: Client) -> Result:
    print("a print", flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    warnings.warn("a warning", stacklevel=1)
    os.system("echo a child; echo a child to stderr >&2; cat")
    os.write(1, b"to descriptor 1")
    return Result("quiet", {})


def broken(given: Words, client: Client) -> Result:
    raise RuntimeError(f"secret {given.text}")


def refused(given: Words, client: Client) -> Result:
    raise TASK_UNKNOWN(7)


def tool(call: Callable[[Any, Client], Result]) -> Tool:
    return Tool(
        name=call.__name__,
        title=call.__name__.title(),
        description=f"A tool that can {call.__name__}.",
        input=Words,
        output=None,
        annotations=READS,
        call=call,
    )


TOOLS = tuple(map(tool, (echo, hold, count, noise, broken, refused)))


def main() -> None:
    streams = Streams()
    import anyio  # late, as in the real one

    from memprove.mcp_facade.loop import Loop
    from memprove.mcp_facade.server import build_server

    async def run() -> None:
        server = build_server(
            TOOLS, lambda: Caller("mcp", Path.cwd(), {}), version="1", tell=streams.tell
        )
        await Loop(server, streams).run()

    anyio.run(run)
    os._exit(0)  # as the executable: no thread is waited for


if __name__ == "__main__":
    main()
