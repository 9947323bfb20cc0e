"""Running commands through run_command.py, the way a shell would run `memprove run`."""

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("run_command.py")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a caller got, and what was recorded."""

    code: int
    stdout: bytes
    stderr: bytes
    report: dict[str, Any]

    @property
    def exit(self) -> dict[str, Any]:
        """Return the recorded Exit."""
        ended: dict[str, Any] = self.report["exit"]
        return ended

    def recorded(self, stream: str) -> tuple[int, str]:
        """Return the recorded length and digest of *stream*."""
        return self.report[stream]["length"], self.report[stream]["sha256"]


def measured(output: bytes) -> tuple[int, str]:
    """Return the length and digest of *output*."""
    return len(output), hashlib.sha256(output).hexdigest()


def command_line(report: Path, *command: str | bytes, options: tuple[str, ...] = ()) -> list[Any]:
    """Return the arguments that run *command* and write its report to *report*."""
    return [sys.executable, str(PROGRAM), *options, str(report), *command]


def run(
    report: Path, *command: str | bytes, options: tuple[str, ...] = (), stdin: bytes = b""
) -> Ran:
    """Run *command* to its end, reading all of its output."""
    ended = subprocess.run(
        command_line(report, *command, options=options),
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(ended.returncode, ended.stdout, ended.stderr, read(report))


def read(report: Path) -> dict[str, Any]:
    """Return the report that was written."""
    found: dict[str, Any] = json.loads(report.read_text("ascii"))
    return found
