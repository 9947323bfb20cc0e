"""The official conformance suite against the fixture server: ``make conformance``.

Both revisions that the suite has, each over the SDK's HTTP app and over our stdio loop. The
baselines name the scenarios that do not apply to a server of tools, and why; any other failure, and
a scenario of a baseline that passes, makes the exit code 1. Reports lie in ``.venv/npm/reports``.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
if __name__ == "__main__":  # started as a script: tests/ is where modules are looked for
    sys.path[0] = str(HERE.parent)

from support import npm  # noqa: E402

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
FIXTURE: Final = (sys.executable, "-m", "conformance.fixture_server")
BRIDGE: Final = (sys.executable, "-m", "conformance.bridge")


def main() -> int:
    """Run the suite in all four ways; return the exit code."""
    try:
        env = npm.installed("conformance", SUITE)
    except npm.Missing as missing:
        print(f"conformance: skipped: {missing}")
        return 0
    failed = []
    for transport in ("http", "stdio"):
        with _serving(transport) as address:
            failed += [
                f"{transport} {r}" for r in REVISIONS if not _passes(transport, r, address, env)
            ]
    print(f"conformance: {'failed: ' + ', '.join(failed) if failed else 'as expected'}")
    return int(bool(failed))


def _passes(transport: str, revision: str, address: str, env: dict[str, str]) -> bool:
    print(f"conformance: {revision} over {transport}", flush=True)
    reports = npm.FOLDER / "reports" / f"{transport}-{revision}"
    baseline = HERE / f"{transport}-{revision}.yml"
    done = subprocess.run(
        (
            *("conformance", "server", "--url", address, "--suite", "all"),
            *("--spec-version", revision, "-o", str(reports)),
            *("--expected-failures", str(baseline)),
        ),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    _, _, summary = done.stdout.partition("=== SUMMARY ===")
    print(summary.strip() or done.stdout[-2000:], flush=True)
    return done.returncode == 0


@contextmanager
def _serving(transport: str) -> Iterator[str]:
    port = _free_port()
    command: Sequence[str] = (*FIXTURE, "--port", str(port))
    if transport == "stdio":
        command = (*BRIDGE, "--port", str(port), *FIXTURE)
    env = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    with subprocess.Popen(command, env=env) as process:
        try:
            while not _is_open(port):
                if process.poll() is not None:
                    raise SystemExit(f"conformance: the {transport} server has ended")
                time.sleep(0.1)
            yield f"http://localhost:{port}/mcp"
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    sys.exit(main())
