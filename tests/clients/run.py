"""Other people's clients against the real executable: ``make clients``.

Each has a throw-away home and no account. One that cannot be had here is skipped, with the reason.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
if __name__ == "__main__":  # started as a script: tests/ is where modules are looked for
    sys.path[0] = str(HERE.parent)

from support import npm  # noqa: E402
from support.command_line import Desk, desk_with_ledger  # noqa: E402

EXECUTABLE: Final = Path(sys.executable).with_name("memprove")
DEADLINE_S: Final = 180
GEMINI_WAITS_S: Final = 5.0


class Skipped(Exception):
    """A client cannot be tried here; the text says why."""


class Failed(Exception):
    """A client did not get what it should; the text is what it said."""


class Client:
    """A client's programs, in a home of their own, in the repository of *desk*."""

    def __init__(self, desk: Desk, name: str, *packages: str) -> None:
        self.folder = npm.FOLDER / name
        self.desk = desk
        # As `memprove mcp print-config` has it: most clients hand on little of their environment.
        self.server = (str(EXECUTABLE), "mcp", "serve", "--config-dir", str(desk.config))
        home = desk.base / "home"
        home.mkdir(exist_ok=True)
        inherited = npm.installed(name, *packages)
        self.env = {**desk.env, "HOME": str(home), "PATH": inherited["PATH"]}

    def run(self, *command: str, env: Mapping[str, str] | None = None) -> str:
        """Run *command* in the repository; return what it says."""
        try:
            done = subprocess.run(
                command,
                cwd=self.desk.folder,
                env={**self.env, **(env or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"no end in {DEADLINE_S} s") from None
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def start_s(self) -> float:
        """Return how long the server takes from its start to its end."""
        began = time.monotonic()
        self.run(*self.server)
        return time.monotonic() - began

    def script(self, name: str, *arguments: str) -> str:
        """Run a script of this folder, beside the packages that it imports."""
        copy = self.folder / name
        copy.write_bytes((HERE / name).read_bytes())
        return self.run("node", str(copy), *arguments, *self.server)


def expect(text: str, *parts: str) -> None:
    """Check that all *parts* are in *text*."""
    if missing := [part for part in parts if part not in text]:
        raise Failed(f"without {missing}\n{text}")


def typescript_1(desk: Desk) -> None:
    """Shake hands, list, call, verify with progress."""
    client = Client(desk, "typescript-1", "@modelcontextprotocol/sdk@1")
    expect(client.script("typescript_1.mjs"), "10 tools", "begun", "progress", "refused", "done")


def typescript_2(desk: Desk) -> None:
    """Probe for the newer era, and take it; shake hands if told to."""
    client = Client(desk, "typescript-2", "@modelcontextprotocol/client@2")
    for mode in ("legacy", "auto"):
        expect(client.script("typescript_2.mjs", mode), "10 tools", "begun", "refused", "done")


def inspector(desk: Desk) -> None:
    """List strictly: no tool's schema may be one that some client cannot take."""
    client = Client(desk, "inspector", "@modelcontextprotocol/inspector@2")
    inspect = ("mcp-inspector", "--cli", *client.server)
    expect(client.run(*inspect, "--strict", "--method", "tools/list"), '"ledger_verify"')
    title = ("--tool-name", "begin", "--tool-arg", "new_task=From the inspector")
    expect(client.run(*inspect, "--method", "tools/call", *title), "Session 1")


def claude(desk: Desk) -> None:
    """Add it for oneself and for the project; it is looked at on the way."""
    client = Client(desk, "claude", "@anthropic-ai/claude-code")
    client.run("claude", "mcp", "add", "--scope", "local", "memprove", "--", *client.server)
    expect(client.run("claude", "mcp", "get", "memprove"), "Connected")
    expect(client.run("claude", "mcp", "list"), "Connected")


def gemini(desk: Desk) -> None:
    """Add it and look at it, up to three times: on a busy machine its own limit of 5 s is short."""
    client = Client(desk, "gemini", "@google/gemini-cli")
    if (took := client.start_s()) > GEMINI_WAITS_S / 2:  # its Node starts beside the server
        raise Skipped(
            f"the server takes {took:.1f} s to start here, the client waits {GEMINI_WAITS_S:.0f} s"
        )
    client.run("gemini", "mcp", "add", "memprove", *client.server)
    trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    listed = ""
    for _ in range(3):
        if " - Connected" not in listed:
            listed = client.run("gemini", "mcp", "list", env=trusted)
    expect(listed, " - Connected")


CLIENTS: Final[tuple[Callable[[Desk], None], ...]] = (
    typescript_1,
    typescript_2,
    inspector,
    claude,
    gemini,
)


def main() -> int:
    """Try all clients, or those that are named; return the exit code."""
    failed = 0
    for client in CLIENTS:
        if sys.argv[1:] and client.__name__ not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory(prefix="memprove-client-") as base:
            try:
                client(desk_with_ledger(Path(base).resolve()))
                print(f"{client.__name__}: passed", flush=True)
            except (npm.Missing, Skipped) as reason:
                print(f"{client.__name__}: skipped: {reason}", flush=True)
            except Failed as failure:
                failed += 1
                print(f"{client.__name__}: FAILED: {failure}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith(("MEMPROVE_", "GIT_", "CLAUDE"))]:
        del os.environ[name]
    sys.exit(main())
