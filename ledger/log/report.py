"""What ``verify`` says of a ledger: checks, findings, and what protects which part of it."""

from typing import Final

import msgspec

CHECKS: Final = (
    *("store", "leaves", "payloads", "blobs", "tree", "epochs", "head", "heads"),
    *("projections", "remembered", "required"),
)
"""All checks, in order. The last two are made where there is something to compare with."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it was written.

    *seq* is the event's number where there is one, *code* that of the Problem which stops every
    other operation for the same reason, where it is a particular one.
    """

    check: str
    what: str
    seq: int | None = None
    code: str = ""


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check."""

    check: str
    ok: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What ``verify`` found.

    Ranges that begin with event 1: *signed* is the size of the newest head that holds;
    *epoch_protected* is where the last key epoch before the live one ended, so that no key is left
    to sign another history up to there; *remembered* is the size of the head that was seen before
    and is continued (None: there is none, for the reason *unremembered*).

    *skipped*: the events up to this number were verified before, and not read again.

    *erased* is of how many of the events that were read the payloads were erased, tombstones left
    aside.

    A check that the store's damage kept from its end is not among *checks*, unless it had failed.
    """

    ok: bool
    size: int
    root: str
    origin: str
    signed: int
    checks: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]
    epoch_protected: int = 0
    remembered: int | None = None
    unremembered: str = ""
    erased: int = 0
    skipped: int = 0


class SignedHead(msgspec.Struct, frozen=True, kw_only=True):
    """The newest head: *note* is signed with *key*, that of key epoch *epoch*; *root* is hex."""

    origin: str
    size: int
    root: str
    epoch: int
    key: str
    note: str


def unreadable(what: str) -> Report:
    """Return the report on a ledger that cannot be opened; *what* is wrong with it."""
    found = Finding(check="store", what=what)
    check = CheckResult(check="store", ok=False)
    return Report(
        ok=False, size=0, root="", origin="", signed=0, checks=(check,), findings=(found,)
    )
