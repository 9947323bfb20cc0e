"""``memprove init``: the ledger, and memprove's way into the files of clients.

The files are planned first; if one of them refuses, nothing is made, no ledger either.
"""

import difflib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memprove.hooks.install.apply import apply, check_writable
from memprove.hooks.install.plan import Change, Plan, Role, Wishes, plan
from memprove.hooks.install.receipts import Receipts
from memprove.hooks.install.survey import program, survey
from memprove.ledger import here, settings, setup
from memprove.ledger.domain import printing
from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.operations.workspaces import WorkspaceTold
from memprove.ledger.problems import Problem
from memprove.ledger.settings import Caller
from memprove.ledger.workspace.resolve import Place


@dataclass(frozen=True, slots=True)
class FileTold:
    """What was done, or would be, to one file: made, changed or removed."""

    path: Path
    did: str
    what: str


@dataclass(frozen=True, slots=True)
class Told:
    """What ``init`` did."""

    config_dir: Path
    data_dir: Path
    created: bool
    workspace: WorkspaceTold
    worktree: Path
    files: tuple[FileTold, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What ``init`` would do: what it would make beside files, the files, and their diff."""

    missing: tuple[str, ...]
    files: tuple[FileTold, ...]
    notes: tuple[str, ...]
    diff: str

    @property
    def changes(self) -> bool:
        """Tell whether it would do anything."""
        return bool(self.missing or self.files)


@dataclass(frozen=True, slots=True)
class Removed:
    """What ``init --uninstall`` did."""

    files: tuple[FileTold, ...]
    notes: tuple[str, ...]


def preview(caller: Caller, wishes: Wishes) -> Preview:
    """Return what would be done. Nothing is written."""
    planned, _ = _planned(caller, wishes)
    caller = _where(caller, wishes)
    missing = () if wishes.uninstall else setup.missing(caller)
    redact = Redactor(environment_secrets(caller.env)).text
    text = redact("".join(map(_diff, planned.changes)))
    lines = "".join(f"{_visible(line)}\n" for line in text.split("\n")[:-1])
    return Preview(missing, _told(planned), planned.notes, lines)


def initialize(caller: Caller, wishes: Wishes) -> Told:
    """Make what is missing, and put memprove into the files of clients."""
    setup.check_owner(caller)
    planned, receipts = _planned(caller, wishes)
    caller = _where(caller, wishes)
    check_writable(planned)
    if wishes.here:
        here.prepare(setup.project(caller))
    made = setup.set_up(caller)
    apply(planned, receipts)
    return Told(
        config_dir=made.config_dir,
        data_dir=made.data_dir,
        created=made.created,
        workspace=made.workspace,
        worktree=made.worktree,
        files=_told(planned),
        notes=planned.notes,
    )


def uninstall(caller: Caller, wishes: Wishes) -> Removed:
    """Take out of the files of clients what `initialize` put in; the ledger stays."""
    setup.check_owner(caller)
    planned, receipts = _planned(caller, wishes)
    check_writable(planned)
    apply(planned, receipts)
    return Removed(_told(planned), planned.notes)


def _where(caller: Caller, wishes: Wishes) -> Caller:
    return here.caller_here(caller, setup.project(caller)) if wishes.here else caller


def _planned(caller: Caller, wishes: Wishes) -> tuple[Plan, Receipts]:
    place = setup.project(caller)
    config_dir = settings.config_dir(_where(caller, wishes))
    receipts = Receipts(config_dir, _others(caller, place, config_dir))
    found = survey(caller, place, receipts)
    return plan(found, wishes, program(caller, config_dir)), receipts


def _others(caller: Caller, place: Place, config_dir: Path) -> tuple[Path, ...]:
    """Return the other configurations whose `init` may have written to these files."""
    known = [here.config_dir(place)]
    with suppress(Problem):  # no home folder is known
        known.append(settings.config_dir(caller))
    return tuple(
        one for one in known if one != config_dir and os.path.realpath(one) == str(one.absolute())
    )


def _told(planned: Plan) -> tuple[FileTold, ...]:
    return tuple(
        FileTold(change.seen.path, _did(change), change.what) for change in planned.changes
    )


def _did(change: Change) -> str:
    if change.after is None:
        return "removed"
    return "made" if change.seen.data is None else "changed"


def _diff(change: Change) -> str:
    name = ".git/info/exclude" if change.role is Role.EXCLUDE else change.role.value
    old, new = (_lines(data) for data in (change.seen.data, change.after))
    before = "/dev/null" if change.seen.data is None else f"a/{name}"
    after = "/dev/null" if change.after is None else f"b/{name}"
    return "".join(_ended(difflib.unified_diff(old, new, before, after)))


def _lines(data: bytes | None) -> list[str]:
    """Return lines as git counts them: only a line feed ends one."""
    text = (data or b"").decode("utf-8", "replace")
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [
        line for line in text.split("\n")[-1:] if line
    ]


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _visible(line: str) -> str:
    """Return a line of a diff with all but its tabs as a terminal may see it."""
    return "\t".join(map(printing.escape, line.split("\t")))
