"""A project with files of a client, and memprove's way into them, without a ledger."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from support.git_repository import new_repository

from memprove.hooks.install.apply import apply
from memprove.hooks.install.entries import Program
from memprove.hooks.install.plan import Plan, Role, Wishes, plan
from memprove.hooks.install.receipts import Receipts
from memprove.hooks.install.survey import survey
from memprove.ledger import setup
from memprove.ledger.settings import Caller

PROGRAM = Program("/opt/bin/memprove", "/home/a/.config/memprove", default_config=True)
LOCAL = Role.LOCAL.value
SHARED = Role.SHARED.value
SERVER = Role.SERVER.value
FILES = (SERVER, LOCAL, SHARED, "AGENTS.md", "CLAUDE.md", ".git/info/exclude")


@dataclass(frozen=True)
class Desk:
    """A folder, and where receipts go."""

    folder: Path
    config: Path
    program: Program = PROGRAM
    env: dict[str, str] = field(default_factory=dict)
    others: tuple[Path, ...] = ()

    def plan(self, wishes: Wishes = Wishes()) -> Plan:  # noqa: B008  (it is frozen)
        """Return what would be done."""
        caller = Caller("cli", self.folder, {"PATH": os.environ["PATH"], **self.env})
        found = survey(caller, setup.project(caller), Receipts(self.config, self.others))
        return plan(found, wishes, self.program)

    def apply(self, planned: Plan) -> None:
        """Do it."""
        apply(planned, Receipts(self.config, self.others))

    def install(
        self, *hooks: str, shared: bool = False, instructions: bool = False
    ) -> tuple[str, ...]:
        """Plan and apply; return the notes."""
        planned = self.plan(Wishes(shared=shared, hooks=hooks, instructions=instructions))
        self.apply(planned)
        return planned.notes

    def uninstall(self) -> tuple[str, ...]:
        """Take it out again; return the notes."""
        planned = self.plan(Wishes(uninstall=True))
        self.apply(planned)
        return planned.notes

    def write(self, name: str, data: bytes | str) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def text(self, name: str) -> str:
        """Return what a file holds, whatever its line ends."""
        return (self.folder / name).read_bytes().decode()

    def state(self) -> dict[str, tuple[bytes, int, int]]:
        """Return bytes, mode and time of every file of the project outside git's own."""
        return {
            name: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
            for name, path in self.files().items()
        }

    def bytes(self) -> dict[str, bytes]:
        """Return the bytes of every file of the project."""
        return {name: path.read_bytes() for name, path in self.files().items()}

    def files(self) -> dict[str, Path]:
        """Return the files of the project, and git's list of what this clone does not show."""
        found = {str(p.relative_to(self.folder)): p for p in self.folder.rglob("*") if p.is_file()}
        inside = (".git/objects", ".git/index", ".git/logs", ".git/refs", ".git/hooks")
        return {name: path for name, path in found.items() if not name.startswith(inside)}


def new_client_desk(base: Path, *, repository: bool = True) -> Desk:
    """Return a new project below *base*."""
    folder = base / "project"
    if repository:
        new_repository(folder)
    else:
        folder.mkdir(parents=True)
    (base / "config").mkdir()
    return Desk(folder, base / "config")
