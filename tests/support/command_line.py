"""The real command in real processes, in a real repository with a ledger of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support import forked
from support.git_repository import new_repository

from memprove.ledger.settings import Caller
from memprove.ledger.setup import set_up

MEMPROVE = (sys.executable, "-P", "-m", "memprove.cli")
ROOT_RIGHTS = "-dac_override,-dac_read_search"


@dataclass(frozen=True, slots=True)
class Done:
    """What a caller of the command got."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Return standard output as text."""
        return self.stdout.decode()

    @property
    def err(self) -> str:
        """Return standard error as text."""
        return self.stderr.decode()

    @property
    def json(self) -> Any:
        """Return the one document on standard output."""
        return json.loads(self.stdout)

    @property
    def problem(self) -> str:
        """Return the code of the Problem that ended it: one line on stderr, nothing on stdout."""
        lines = self.err.splitlines()
        assert (self.code, self.stdout, len(lines)) == (1, b"", 1), self
        assert lines[0].startswith("memprove: ")
        return lines[0].split(": ")[1]


Inside = Callable[..., Done]
"""``memprove(*arguments, stdin=b"")``: the command, called in the test's own process."""


@dataclass(frozen=True)
class Desk:
    """A repository, a configuration and a data directory; ``memprove`` runs there."""

    base: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Return the root of the repository."""
        return self.base / "project"

    @property
    def config(self) -> Path:
        """Return the configuration directory."""
        return self.base / "config"

    @property
    def data(self) -> Path:
        """Return the data directory."""
        return self.base / "data"

    def memprove(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        before: Sequence[str] = (),
        command: Sequence[str] = MEMPROVE,
    ) -> Done:
        """Run the command, through the program *before* if one is named."""
        where, around = cwd or self.folder, {**self.env, **(env or {})}
        words = list(map(os.fsdecode, arguments))
        if not before and command is MEMPROVE and forked.serves(words, around):
            return Done(*forked.forker().run(words, stdin, where, around))
        done = subprocess.run(
            [*before, *command, *arguments],
            input=stdin,
            capture_output=True,
            cwd=where,
            env=around,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def shell(self, script: str, env: Mapping[str, str] | None = None) -> Done:
        """Run a shell *script* in which ``memprove`` is the command."""
        words = " ".join(f"'{word}'" for word in MEMPROVE)
        defined = f'memprove() {{ {words} "$@"; }}\n{script}'
        return self.memprove(env=env, command=("bash", "-c", defined))

    def begin(self, title: str = "try it") -> None:
        """Begin a Session on a new Task."""
        assert self.memprove("begin", title).code == 0


def new_desk(base: Path) -> Desk:
    """Return a repository below *base* with nothing set up."""
    new_repository(base / "project")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MEMPROVE_CONFIG_DIR": str(base / "config"),
        "MEMPROVE_DATA_DIR": str(base / "data"),
        "MEMPROVE_STATE_DIR": str(base / "state"),
    }
    return Desk(base, env)


def desk_with_ledger(base: Path) -> Desk:
    """Return a repository below *base* that is a Workspace of a new ledger."""
    desk = new_desk(base)
    set_up(Caller("cli", desk.folder, desk.env))
    return desk


def without_root_rights() -> tuple[str, ...]:
    """Return the program that makes permissions count for root too; empty for anybody else."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root reads everything here")
    return ("setpriv", f"--bounding-set={ROOT_RIGHTS}", f"--inh-caps={ROOT_RIGHTS}")
