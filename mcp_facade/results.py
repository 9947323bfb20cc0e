"""What calls return: lines for the model, and the same as an object for programs.

Some clients show the model the lines, others the object, so neither says less than the other and
in both stored text is escaped as everywhere (``domain/printing.py``). The object begins with the
ids of Task and Session, null where there are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from memprove.ledger import receipts
from memprove.ledger.domain import printing
from memprove.ledger.operations.base import Answer, Receipt
from memprove.ledger.operations.contexts import ContextTold
from memprove.ledger.operations.packs import Claims, PackTold
from memprove.ledger.operations.sessions import Begun
from memprove.ledger.operations.tasks import TaskList
from memprove.mcp_facade.tool import Result

if TYPE_CHECKING:
    from memprove.ledger.log.report import Report

_NOBODY: Final = Answer()


def pack(told: PackTold, notes: Iterable[str]) -> Result:
    """Return the opening statement, a blank line, the Pack: nothing else is in this text."""
    # Both are printed already: escaped again they would read otherwise.
    printed = {"opening": told.opening, "pack": told.pack}
    structured = {**_about(told), **printed, "notes": receipts.notes(notes)}
    return Result(f"{told.opening}\n\n{told.pack}", structured)


def claims(read: Claims, notes: Iterable[str]) -> Result:
    """Return claims uncut."""
    lines = receipts.claims(read)
    return _result(lines, {**_shown(read.told), "lines": lines}, notes)


def context(told: ContextTold) -> Result:
    """Return the words of the local file."""
    found = told.context
    about = _about(_NOBODY) | {"checked": False, "client": printing.escape(told.client)}
    if found is not None:
        about |= {
            "task_id": found.task,
            "session_id": found.session,
            "task": found.task_number,
            "session": found.session_number,
            "agent": printing.escape(found.agent),
            "role": printing.escape(found.role),
            "runs": [{"run": label, "verdict": verdict} for label, verdict in found.runs],
        }
    return _result(receipts.context(told), about, ())


def tasks(told: TaskList, notes: Iterable[str]) -> Result:
    """Return Tasks."""
    return _result(receipts.tasks(told), _shown(told), notes)


def verified(report: Report, notes: Iterable[str]) -> Result:
    """Return what verification found. That something was found is no failure of the tool."""
    structured = {**_about(_NOBODY), **_shown(report)}
    return _result(receipts.verified(report), structured, notes)


def receipt(line: str, told: Receipt, notes: Iterable[str]) -> Result:
    """Return what a write leaves."""
    lines, said = [line], [*notes, *told.notes]
    if isinstance(told, Begun) and told.parent is not None:
        number = told.session
        tools = f"use session {number} in checkpoint, decide and end"
        said.insert(0, f"{tools}, and in a shell `memprove run --session {number} -- COMMAND`")
    if told.replayed:
        lines.append(receipts.REPLAYED)
    return _result(lines, _shown(told), said)


def _result(lines: Iterable[str], structured: dict[str, Any], notes: Iterable[str]) -> Result:
    said = receipts.notes(notes)
    text = "\n".join([*lines, *(f"note: {note}" for note in said)])
    return Result(text, {**structured, "notes": said})


def _about(told: Answer) -> dict[str, Any]:
    return {name: getattr(told, name) for name in Answer.__struct_fields__}


def _shown(told: msgspec.Struct) -> dict[str, Any]:
    shown: dict[str, Any] = _escaped(msgspec.to_builtins(told))
    return shown


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return printing.escape(value)
        case dict():
            return {key: _escaped(item) for key, item in value.items()}
        case list() | tuple():
            return [_escaped(item) for item in value]
        case _:
            return value
