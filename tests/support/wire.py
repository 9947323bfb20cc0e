"""A server in a process of its own, spoken to over pipes as a client does."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
EXECUTABLE = (sys.executable, "-P", "-m", "memprove.cli", "mcp", "serve")
TIMED = (sys.executable, "-m", "support.wire_server")
TESTS = Path(__file__).resolve().parent.parent

Json = dict[str, Any]


def request(id: Any, method: str, params: Json | None = None) -> Json:
    """Return a request of the handshake era."""
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def modern(id: Any, method: str, params: Json | None = None, **meta: Any) -> Json:
    """Return a request with the envelope of 2026-07-28; *meta*: more of it, by its last word."""
    more = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    return request(id, method, {**(params or {}), "_meta": {**META, **more}})


def initialize(id: Any = "initialize", version: Any = "2025-11-25") -> Json:
    """Return an initialize request."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return request(id, "initialize", params)


def call(id: Any, name: str, arguments: Json | None = None, *, token: Any = None) -> Json:
    """Return a tool call of the handshake era, with a progress token if one is given."""
    params: Json = {"name": name, "arguments": arguments or {}}
    return request(
        id, "tools/call", params if token is None else {**params, "_meta": {"progressToken": token}}
    )


def cancelled(id: Any) -> Json:
    """Return the notification that nobody waits for request *id*."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a server ended: its exit code, what else it said, its log."""

    code: int
    messages: list[Any]
    log: list[str]


class Wire:
    """Both ends of the pipes of one server."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self._id = 0

    def send(self, *messages: Any) -> None:
        """Send messages, or bytes as they are."""
        self.write(b"".join(map(line, messages)))

    def write(self, data: bytes) -> None:
        """Write bytes."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> Any:
        """Return the next message."""
        assert self.process.stdout
        told = self.process.stdout.readline()
        assert told, "the server has ended"
        return json.loads(told)

    def ask(self, *messages: Any) -> Any:
        """Send and return the next message."""
        self.send(*messages)
        return self.read()

    def open(self, version: str = "2025-11-25") -> None:
        """Shake hands."""
        assert self.ask(initialize(version=version))["result"]["protocolVersion"] == version
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def new_id(self) -> str:
        """Return an id that no test uses."""
        self._id += 1
        return f"new {self._id}"

    def lives(self) -> bool:
        """Tell whether the server answers a good request next."""
        id = self.new_id()
        return bool(self.ask(request(id, "ping")) == {"jsonrpc": "2.0", "id": id, "result": {}})

    def await_file(self, name: str) -> None:
        """Wait until a tool has made file *name*."""
        while not (self.folder / name).exists():
            assert self.process.poll() is None
            time.sleep(0.005)

    def go(self) -> None:
        """Let the tools that hold on go on."""
        (self.folder / "go").touch()

    def end(self, signal: int | None = None) -> Ended:
        """End the input, or send *signal*; return how the server ended."""
        if signal is None:
            assert self.process.stdin
            self.process.stdin.close()
            self.process.stdin = None
        else:
            self.process.send_signal(signal)
            self.process.wait(60)
        out, err = self.process.communicate(timeout=60)
        messages = [json.loads(told) for told in out.splitlines()]
        return Ended(self.process.returncode, messages, err.decode().splitlines())


def line(message: Any) -> bytes:
    """Return *message* as a line; bytes get their end and are otherwise left alone."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return data + b"\n"


@contextmanager
def served(
    folder: Path, command: tuple[str, ...] = TIMED, env: Mapping[str, str] | None = None
) -> Iterator[Wire]:
    """Serve in *folder* until the end of the block."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)} if command is TIMED else {**os.environ}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env={**environment, **(env or {})},
    ) as process:
        try:
            yield Wire(process, folder)
        finally:
            process.kill()
