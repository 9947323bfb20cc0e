"""What clients are told of memprove here: their files, and what is known of them."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memprove.hooks.install import claude, files
from memprove.hooks.install.claude import Handler
from memprove.hooks.install.plan import Role, Survey
from memprove.hooks.install.receipts import Receipts
from memprove.hooks.install.survey import settings_of_user, survey
from memprove.ledger import settings
from memprove.ledger.log.state_files import opener
from memprove.ledger.problems import Problem
from memprove.ledger.settings import Caller
from memprove.ledger.workspace.resolve import Place

BARE: Final = ("/usr/bin", "/bin")
"""The PATH of a client that was started from a desktop."""
_MOST: Final = 64 * files.LARGEST
_KEPT: Final = ("HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA")
_KEPT_PREFIXES: Final = ("XDG_", "MEMPROVE_")
_OF_A_SESSION: Final = frozenset({"MEMPROVE_CONTEXT", "MEMPROVE_SESSION", "MEMPROVE_DEBUG"})


@dataclass(frozen=True, slots=True)
class Wiring:
    """The files of clients at *place*. *registered*: it is a Workspace of the caller's ledger."""

    caller: Caller
    place: Place
    registered: bool
    found: Survey
    own: Path
    """The program that runs now."""

    @classmethod
    def look(cls, caller: Caller, place: Place, *, registered: bool, own: Path) -> "Wiring":
        """Read the files."""
        receipts = Receipts(settings.config_dir(caller))
        return cls(caller, place, registered, survey(caller, place, receipts), own)

    def server(self) -> Mapping[str, Any] | None:
        """Return our entry of ``.mcp.json``; raises Unfit, or the Problem that the file is."""
        return claude.our_server(self.found.file(Role.SERVER).data)

    def hooks(self) -> Iterator[tuple[str, Handler]]:
        """Yield where each of our handlers is, and it; a file that no client loads has none."""
        for role in (Role.LOCAL, Role.SHARED):
            yield from ((role.value, one) for one in _handlers(self.found.data(role)))
        named = "the settings of your user"
        yield from ((named, one) for one in _handlers(settings_of_user(self.caller)))

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a client from a desktop, with *more*."""
        kept = {
            name: value
            for name, value in self.caller.env.items()
            if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and name not in _OF_A_SESSION
        }
        path = os.pathsep.join(BARE) if os.name == "posix" else os.defpath
        project = {"CLAUDE_PROJECT_DIR": str(self.place.worktree)}
        return {**kept, **more, **project, "PATH": path}

    def program(self, command: str) -> tuple[Path | None, bool]:
        """Return what *command* starts, and whether a client from a desktop finds it too."""
        if os.path.dirname(command):
            path = self.place.worktree / command
            return (path if os.access(path, os.X_OK) and path.is_file() else None), True
        if bare := shutil.which(command, path=os.pathsep.join(BARE)):
            return Path(bare), True
        folders = [one for one in os.get_exec_path(dict(self.caller.env)) if os.path.isabs(one)]
        found = shutil.which(command, path=os.pathsep.join(folders))
        return (Path(found) if found else None), False

    def is_foreign(self, program: Path) -> bool:
        """Tell whether *program* came with the Workspace: then nothing of it is started."""
        real = Path(os.path.realpath(program))
        if real == Path(os.path.realpath(self.own)):
            return False
        inside = (self.place.worktree, self.place.root)
        return any(one.is_relative_to(folder) for one in (real, program) for folder in inside)

    def codex_home(self) -> Path:
        """Return the folder of Codex's own configuration."""
        return Path(self.caller.variable("CODEX_HOME") or os.path.expanduser("~/.codex"))

    def own_entries(self) -> list[str]:
        """Return for which scopes the user's file of Claude Code starts our server too."""
        folder = self.caller.variable("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
        try:
            with open(Path(folder, ".claude.json"), "rb", opener=opener) as file:
                data = file.read(_MOST + 1)
            known = json.loads(data) if len(data) <= _MOST else {}
            project = (known.get("projects") or {}).get(str(self.place.worktree)) or {}
            scopes = {"local": project, "user": known}
            return [
                scope for scope, at in scopes.items() if "memprove" in (at.get("mcpServers") or {})
            ]
        except (OSError, ValueError, AttributeError, RecursionError):
            return []


def _handlers(data: bytes | None) -> tuple[Handler, ...]:
    try:
        return claude.our_handlers(data)
    except claude.Unfit:
        return ()


def read(path: Path) -> bytes | None:
    """Return what a file of a client holds, None where it is not to be read."""
    try:
        return files.read(Path(os.path.realpath(path)), path.name).data
    except Problem:
        return None
