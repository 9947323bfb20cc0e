"""Look at everything that a plan depends on: files, receipts, and what git says of them."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memprove.hooks.install import claude, files
from memprove.hooks.install.entries import Program
from memprove.hooks.install.files import Seen
from memprove.hooks.install.plan import PERSONAL, Role, Survey
from memprove.hooks.install.receipts import Receipts
from memprove.ledger.executable import executable
from memprove.ledger.paths import to_text
from memprove.ledger.problems import Problem
from memprove.ledger.settings import Caller
from memprove.ledger.workspace.git import Git, Unknown
from memprove.ledger.workspace.repository import is_ignored, tracked_under
from memprove.ledger.workspace.resolve import Place

_DEADLINE_S: Final = 30.0


def survey(caller: Caller, place: Place, receipts: Receipts) -> Survey:
    """Return what is found at *place*; a file that may not be read is noted, not raised."""
    bases = _bases(place)
    found = _Found({}, {})
    for role, base in bases.items():
        found.look(role, base)
    found.leave_out_the_same()
    known = {role: receipts.back(seen.path, seen.data) for role, seen in found.seen.items()}
    kept = {role: receipt for role, receipt in known.items() if receipt is not None}
    backups = {
        receipt.before: data
        for receipt in kept.values()
        if receipt.before and (data := receipts.backup(receipt.before)) is not None
    }
    in_git = place.kind == "git"
    return Survey(
        seen=found.seen,
        refused=found.refused,
        receipts=kept,
        backups=backups,
        tracked=frozenset(r for r in found.seen if in_git and _is_tracked(bases[r], r, found)),
        ignored=frozenset(
            r for r in PERSONAL if in_git and is_ignored(bases[r], r, deadline_s=_DEADLINE_S)
        ),
        plugin=any(
            claude.enables_plugin(data) for data in (*found.settings(), settings_of_user(caller))
        ),
    )


def program(caller: Caller, config_dir: Path) -> Program:
    """Return how a client is to start what runs now.

    *default_config* is true where it finds *config_dir* by itself.
    """
    default = "XDG_CONFIG_HOME" not in caller.env and config_dir == _default_config_dir()
    started = executable(sys.argv[0])
    return Program(_slashed(started), _slashed(config_dir), default)


@dataclass(slots=True)
class _Found:
    seen: dict[Role, Seen]
    refused: dict[Role, Problem]

    def look(self, role: Role, base: Path) -> None:
        try:
            self.seen[role] = files.look(base, role.value)
        except Problem as problem:
            self.refused[role] = problem

    def leave_out_the_same(self) -> None:
        """Leave out ``CLAUDE.md`` where it is ``AGENTS.md`` under another name."""
        agents, other = self.seen.get(Role.AGENTS), self.seen.get(Role.CLAUDE)
        if agents is not None and other is not None and agents.path == other.path:
            del self.seen[Role.CLAUDE]

    def settings(self) -> tuple[bytes | None, ...]:
        return tuple(
            self.seen[role].data for role in (Role.LOCAL, Role.SHARED) if role in self.seen
        )


def _bases(place: Place) -> Mapping[Role, Path]:
    """Return the folder that each file is named from.

    Claude Code reads the local settings of the main work tree in all others too.
    """
    main = place.worktree if place.root == place.common else place.root
    bases = dict.fromkeys(Role, place.worktree) | {Role.LOCAL: main}
    if place.common is None:
        del bases[Role.EXCLUDE]
    else:
        bases[Role.EXCLUDE] = place.common
    return bases


def _is_tracked(base: Path, role: Role, found: _Found) -> bool:
    """Tell whether git tracks the file; where nobody can say, a file that is there may be."""
    if role is Role.EXCLUDE:
        return False
    try:
        Git.find(base, deadline_s=_DEADLINE_S)
        return role.value in tracked_under(base, role.value, deadline_s=_DEADLINE_S)
    except Unknown:
        return found.seen[role].data is not None


def _default_config_dir() -> Path | None:
    from platformdirs import user_config_path  # late, as in settings

    try:
        return user_config_path("memprove")
    except RuntimeError:  # no home folder is known
        return None


def settings_of_user(caller: Caller) -> bytes | None:
    """Return the settings that Claude Code has for all projects of the user."""
    folder = caller.variable("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    if not os.path.isabs(folder):  # no home folder is known; what lies here is not the user's
        return None
    file = os.path.realpath(os.path.join(folder, "settings.json"))
    try:
        return files.read(Path(file), "settings.json").data
    except Problem:
        return None


def _slashed(path: Path) -> str:
    return to_text(path).replace("\\", "/") if os.name == "nt" else to_text(path)
