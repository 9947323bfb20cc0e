"""One ledger that many processes use at once, and what each of them was told."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMPROVE = (sys.executable, "-P", "-m", "memprove.cli")
BUSY = frozenset({"ledger_busy", "token_revoked", "token_unknown", "token_unreadable"})
"""Problems that are right while others write, and while tokens change under a caller's feet."""
FULL = frozenset({"disk_full", "ledger_unwritable", "data_dir_unreadable", "workspace_unwritable"})
"""Problems that are right while the disk is full."""
STARTED = frozenset(
    {"session_missing", "session_ended", "session_unknown", "session_ambiguous", "context_invalid"}
)
"""Problems that follow when a kill or a full disk came between a write and its context."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The folders of the ledger, and the environment of whoever uses it."""

    base: Path

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def data(self) -> Path:
        return self.base / "data"

    @property
    def journals(self) -> Path:
        return self.base / "journals"

    def env(self, client: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.base / "home"),
            "LANG": "C.UTF-8",
            "MEMPROVE_CONFIG_DIR": str(self.base / "config"),
            "MEMPROVE_DATA_DIR": str(self.data),
            "MEMPROVE_STATE_DIR": str(self.base / "state"),
            "MEMPROVE_CONTEXT": client,
        }

    def memprove(
        self, *arguments: str, client: str = "owner", before: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, *MEMPROVE, *arguments],
            cwd=self.project,
            env=self.env(client),
            capture_output=True,
            text=True,
            check=False,
        )


def problem(stderr: str) -> str:
    """Return the code of the Problem that *stderr* tells of; empty if of none."""
    for line in stderr.splitlines():
        words = line.split(": ")
        if words[0] == "memprove" and len(words) > 2 and words[1].replace("_", "a").isalpha():
            return words[1]
    return ""


class Journal:
    """What one worker was told: it outlives the worker's death by SIGKILL."""

    def __init__(self, desk: Desk, name: str) -> None:
        desk.journals.mkdir(exist_ok=True)
        self._file = (desk.journals / f"{name}.jsonl").open("a")

    def acknowledged(self, seq: int, text: str, labels: Sequence[str] = ()) -> None:
        self._write({"seq": seq, "text": text, "labels": list(labels)})

    def wrong(self, what: str) -> None:
        self._write({"wrong": what})

    def counted(self, what: str) -> None:
        self._write({"counted": what})

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()


def journal_entries(desk: Desk) -> list[dict[str, Any]]:
    """Return all that the workers were told; a line that a kill cut off was told to nobody."""
    entries: list[dict[str, Any]] = []
    for path in sorted(desk.journals.glob("*.jsonl")):
        for line in path.read_text().split("\n")[:-1]:
            entries.append({**json.loads(line), "worker": path.stem})
    return entries
