"""What should become of each file, decided before any is written. Pure.

A `Survey` is what was found; a `Plan` is what to do, and nothing where every file is as it should
be. One file that cannot be edited refuses the whole plan.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar, assert_never

import msgspec

from memprove.hooks.install import claude, exclude, instructions
from memprove.hooks.install.claude import Edited, Foreign, Unfit
from memprove.hooks.install.entries import DEFAULT, EVENTS, SERVER, Program
from memprove.hooks.install.files import Seen
from memprove.hooks.install.receipts import Receipt, digest
from memprove.ledger.paths import to_text
from memprove.ledger.problems import CLIENT_ENTRY_FOREIGN, CLIENT_FILE_INVALID, Problem

T = TypeVar("T")


class Role(StrEnum):
    """The files that memprove may write to, in the order in which it does."""

    EXCLUDE = "info/exclude"
    SERVER = ".mcp.json"
    LOCAL = ".claude/settings.local.json"
    SHARED = ".claude/settings.json"
    AGENTS = "AGENTS.md"
    CLAUDE = "CLAUDE.md"


PERSONAL: Final = (Role.SERVER, Role.LOCAL)
"""What is hidden from git where we made it: it names places of this machine."""


PLUGIN: Final = "the plugin memprove is on, which has server and hooks: none was written"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller asks for."""

    shared: bool = False
    hooks: tuple[str, ...] = ()
    instructions: bool = False
    uninstall: bool = False
    here: bool = False
    """Ledger and keys in the Workspace itself."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found. A file that may not be touched is in *refused*, with the Problem it is."""

    seen: Mapping[Role, Seen]
    refused: Mapping[Role, Problem] = field(default_factory=dict)
    receipts: Mapping[Role, Receipt] = field(default_factory=dict)
    backups: Mapping[str, bytes] = field(default_factory=dict)
    tracked: frozenset[Role] = frozenset()
    ignored: frozenset[Role] = frozenset()
    plugin: bool = False

    def file(self, role: Role) -> Seen:
        """Return the file, or raise the Problem that it is."""
        if role in self.refused:
            raise self.refused[role]
        return self.seen[role]

    def data(self, role: Role) -> bytes | None:
        """Return what the file holds; None also for a file that is not ours to read."""
        return self.seen[role].data if role in self.seen else None


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is to hold *after* (None: to go), the receipt of that, and *what* it is about."""

    role: Role
    seen: Seen
    after: bytes | None
    receipt: Receipt | None
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes to make, in order, and what else is to be said."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


def plan(survey: Survey, wishes: Wishes, program: Program) -> Plan:
    """Return what *wishes* come to; raises the Problem of the first file that refuses."""
    steps = _Removal(survey) if wishes.uninstall else _Installation(survey, wishes, program)
    changes = tuple(change for change in steps.changes() if change.after != change.seen.data)
    return Plan(changes, tuple(steps.notes))


class _Installation:
    def __init__(self, survey: Survey, wishes: Wishes, program: Program) -> None:
        self.survey, self.wishes, self.program = survey, wishes, program
        self.notes: list[str] = []

    def changes(self) -> Iterator[Change]:
        own = [*self.server(), *self.hooks()]
        hidden = [change.role for change in own if self.is_to_hide(change)]
        if hidden:
            yield self.exclusion(hidden)
        yield from own
        if self.wishes.instructions:
            yield from self.blocks()

    def server(self) -> Iterator[Change]:
        data = self.survey.file(Role.SERVER).data
        if self.survey.plugin:
            self.notes.append(PLUGIN)
            if _edited(Role.SERVER, lambda: claude.our_server(data)) is not None:
                self.notes.append(f"{Role.SERVER} has the server too: `memprove init --uninstall`")
            return
        with_server = _edited(Role.SERVER, lambda: claude.has_portable_server(data))
        portable = self.wishes.shared or Role.SERVER in self.survey.tracked or with_server
        entry = self.program.server(portable=portable)
        edited = _edited(Role.SERVER, lambda: claude.with_server(data, entry))
        yield self.change(Role.SERVER, edited, f"server {SERVER}")

    def hooks(self) -> Iterator[Change]:
        """Yield our hooks in one of the two files of settings: in both, they would run twice."""
        if self.survey.plugin:
            return
        here, other = (Role.SHARED, Role.LOCAL) if self.wishes.shared else (Role.LOCAL, Role.SHARED)
        data = self.survey.file(here).data
        elsewhere = _events_if_readable(self.survey.data(other))
        present = _edited(here, lambda: claude.our_events(data))
        wanted = {DEFAULT, *self.wishes.hooks, *present}
        folders: tuple[str, ...] = ()
        if self.wishes.shared:
            wanted |= elsewhere
            if elsewhere:
                yield self.moved_away(other)
                moved = self.survey.receipts.get(other)
                folders = moved.folders if moved is not None else ()
        elif elsewhere:
            wanted -= elsewhere
            self.notes.append(f"{other} has the hooks already: {', '.join(sorted(elsewhere))}")
        names = [event for event in EVENTS if event in wanted]
        if names or present:
            yield _also_made(self.handlers(here, names, elsewhere), folders)

    def handlers(self, role: Role, names: Sequence[str], elsewhere: frozenset[str]) -> Change:
        portable = role is Role.SHARED or role in self.survey.tracked
        handlers = {name: self.program.hook(name, portable=portable) for name in names}
        data = self.survey.file(role).data
        if data is not None and role is Role.LOCAL and elsewhere:
            data = claude.without_hooks(data, (), elsewhere)
        edited = _edited(role, lambda: claude.with_hooks(data, handlers))
        return self.change(role, edited, f"hook {', '.join(names)}")

    def moved_away(self, role: Role) -> Change:
        data = self.survey.data(role) or b""
        after = _Removal(self.survey).without(role, data, self.survey.receipts.get(role))
        return Change(role, self.survey.file(role), after, None, "hooks moved")

    def is_to_hide(self, change: Change) -> bool:
        made = change.seen.data is None and not self.wishes.shared
        known = self.survey.tracked | self.survey.ignored
        in_git = Role.EXCLUDE in self.survey.seen or Role.EXCLUDE in self.survey.refused
        return change.role in PERSONAL and made and in_git and change.role not in known

    def exclusion(self, hidden: Sequence[Role]) -> Change:
        data = self.survey.file(Role.EXCLUDE).data
        edited = Edited(exclude.with_patterns(data, [_pattern(role) for role in hidden]))
        return self.change(Role.EXCLUDE, edited, f"git does not show {' and '.join(hidden)}")

    def blocks(self) -> Iterator[Change]:
        for role in (Role.AGENTS, Role.CLAUDE):
            if role is Role.CLAUDE and not self.needs_claude():
                continue
            data = self.survey.file(role).data
            edited = Edited(_edited(role, partial(instructions.with_block, data)))
            yield self.change(role, edited, "block of instructions")

    def needs_claude(self) -> bool:
        """Tell whether Claude Code reads ``CLAUDE.md`` here, and no other file through it.

        None is ever made: it would hide ``AGENTS.md`` from Claude Code.
        """
        if Role.CLAUDE not in self.survey.seen and Role.CLAUDE not in self.survey.refused:
            return False  # it is AGENTS.md under another name
        data = self.survey.file(Role.CLAUDE).data
        imports = _edited(Role.CLAUDE, lambda: instructions.imports_agents(data))
        return data is not None and not imports

    def change(self, role: Role, edited: Edited, what: str) -> Change:
        seen = self.survey.file(role)
        receipt = _receipt(self.survey.receipts.get(role), seen, edited)
        return Change(role, seen, edited.data, receipt, what)


class _Removal:
    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.notes: list[str] = []

    def changes(self) -> Iterator[Change]:
        for role in reversed(Role):
            receipt = self.survey.receipts.get(role)
            if receipt is not None and role in self.survey.refused:
                raise self.survey.refused[role]
            data = self.survey.data(role)
            if data is None:
                continue
            after = self.without(role, data, receipt)
            if receipt is None and role in self.survey.tracked and after != data:
                self.notes.append(f"{role} is committed, and not by this machine's init: left")
                continue
            what = "as before" if self.leads_back(data, receipt) else "without memprove"
            yield Change(role, self.survey.file(role), after, None, what)

    def leads_back(self, data: bytes, receipt: Receipt | None) -> bool:
        """Tell whether *receipt* leads from *data* to the very bytes from before."""
        if receipt is None or digest(data) not in receipt.after:
            return False
        return receipt.created or receipt.before in self.survey.backups

    def without(self, role: Role, data: bytes, receipt: Receipt | None) -> bytes | None:
        if receipt is not None and self.leads_back(data, receipt):
            return None if receipt.created else self.survey.backups[receipt.before or ""]
        made = receipt.made if receipt is not None else ()
        try:
            after = _taken_out(role, data, made)
            blank = _is_blank(role, after)
        except Unfit as error:
            if receipt is None and b"memprove" not in data.lower():
                return data
            raise CLIENT_FILE_INVALID(f"{role}: {error}") from None
        created = receipt is not None and receipt.created
        return None if blank and created else after


def _also_made(change: Change, folders: tuple[str, ...]) -> Change:
    """Return *change* with *folders*, which were made for another file, in its receipt."""
    if change.receipt is None or not folders:
        return change
    made = tuple(dict.fromkeys((*folders, *change.receipt.folders)))
    return replace(change, receipt=msgspec.structs.replace(change.receipt, folders=made))


def _taken_out(role: Role, data: bytes, made: tuple[str, ...]) -> bytes:
    match role:
        case Role.EXCLUDE:
            return exclude.without_patterns(data, [_pattern(one) for one in PERSONAL])
        case Role.SERVER:
            return claude.without_server(data, made)
        case Role.LOCAL | Role.SHARED:
            return claude.without_hooks(data, made)
        case Role.AGENTS | Role.CLAUDE:
            return instructions.without_block(data)
        case unknown:
            assert_never(unknown)


def _is_blank(role: Role, data: bytes) -> bool:
    if role in (Role.SERVER, Role.LOCAL, Role.SHARED):
        return claude.is_blank(data)
    return not data.strip()


def _receipt(old: Receipt | None, seen: Seen, edited: Edited) -> Receipt:
    """Return the receipt of a change: it leads back to before the first of an unbroken chain."""
    before = None if seen.data is None else digest(seen.data)
    fresh = Receipt(
        path=to_text(seen.path),
        created=seen.data is None,
        before=before,
        after=(digest(edited.data),),
        made=edited.made,
    )
    if old is None or before is None:
        return fresh
    unbroken = before in old.after or before == old.before  # the latter: we died before the write
    return Receipt(
        path=fresh.path,
        created=old.created,
        before=old.before if unbroken else None,
        after=(*old.after, *fresh.after) if unbroken else (),
        folders=old.folders,
        made=tuple(dict.fromkeys((*old.made, *fresh.made))),
    )


def _edited(role: Role, edit: Callable[[], T]) -> T:
    """Return what *edit* returns; what it refuses is a Problem that names the file."""
    try:
        return edit()
    except Unfit as error:
        raise CLIENT_FILE_INVALID(f"{role}: {error}") from None
    except Foreign as error:
        raise CLIENT_ENTRY_FOREIGN(f"{role}: {error}") from None


def _events_if_readable(data: bytes | None) -> frozenset[str]:
    try:
        return claude.our_events(data)
    except Unfit:
        return frozenset()


def _pattern(role: Role) -> bytes:
    return f"/{role}".encode()
