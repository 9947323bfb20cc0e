"""What may be erased of an event, and what is left of it.

A text gives way to ``[erased: reason]``; so does each text of a list, whose length tells how many
there were. Outputs go with their digest, from which a short one could be guessed. What evidence
rests on survives: verdict, exit code, counts, kind, tree, citations, labels. A command that goes
leaves a name for its Check behind, so that no failure is hidden and no Run changes its Check.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Record
from memprove.ledger.domain.run import Run

Eraser = Callable[[Any, str], Any]


def _text(value: str | None, mark: str) -> str | None:
    return mark if value else value


def _each(values: tuple[str, ...], mark: str) -> tuple[str, ...]:
    return (mark,) * len(values)


def _nothing(value: str, mark: str) -> str:
    """Leave no mark where programs read a path."""
    return ""


def _folder(value: str, mark: str) -> str:
    return value if value in ("", ".") else mark


def _argv(value: tuple[str, ...], mark: str) -> tuple[str, ...]:
    return (mark,)


def _output(kept: e.StreamKept, mark: str) -> e.StreamKept:
    if not kept.length:
        return kept
    return msgspec.structs.replace(kept, sha256="", tail=mark, blob=None)


_TREE: Final[Mapping[str, Eraser]] = {"tree.branch": _text, "tree.reason": _text}

ERASABLE: Final[Mapping[type[object], Mapping[str, Eraser]]] = {
    e.TokenIssued: {"name": _text},
    e.WorkspaceRegistered: {"name": _text},
    e.TaskCreated: {"title": _text, "description": _text},
    e.TaskMoved: {
        "comment": _text,
        "completion.accept_stale": _text,
        "completion.accept_untested": _text,
    },
    e.SessionStarted: {"agent": _text, "role": _text, "worktree": _nothing},
    e.SessionEnded: {"note": _text},
    e.RunStarted: {"argv": _argv, "cwd": _folder, "worktree": _nothing, "junit": _nothing, **_TREE},
    e.RunEnded: {
        "stdout": _output,
        "stderr": _output,
        "error": _text,
        "masked": _text,
        "moved": _each,
        "products": _each,
        "notes": _each,
        **_TREE,
    },
    e.CheckpointRecorded: {"facts": _each, "opened": _each, "next_action": _text},
    e.DecisionProposed: {
        "title": _text,
        "choice": _text,
        "rationale": _text,
        "alternatives": _each,
    },
    e.DecisionDecided: {"comment": _text},
    e.NoteRecorded: {"command": _text},
}
"""Kind → the fields that may go, with dots between a field and one inside it.

Of a checkpoint each fact and each item may go by itself: ``facts.c3``, ``opened.o2``. Of a kind
that is not here nothing may go.
"""

ERASABLE_KINDS: Final = frozenset(k for k, (struct, _) in e.KINDS.items() if struct in ERASABLE)

_COMMAND: Final = frozenset({"argv", "cwd"})
"""The fields that make a Check."""


def mark(reason: str) -> str:
    """Return what stands in the place of an erased text."""
    return f"[erased: {reason}]"


def erasable(record: Record) -> list[str]:
    """Return the names of what can still be erased of *record*, each by itself."""
    gone = record.erasure.fields if record.erasure else ()
    return [name for name in _names(record) if name not in gone and _holds(record, name)]


def chosen(names: Iterable[str], wanted: Collection[str]) -> tuple[str, ...]:
    """Return those of *names* that *wanted* names: by itself, or with all that is inside it."""
    return tuple(
        name
        for name in names
        if not wanted or any(name == w or name.startswith(f"{w}.") for w in wanted)
    )


def is_redactable(record: Record) -> bool:
    """Tell whether anything may go from events of the kind of *record*."""
    return bool(_fields(record))


def is_erasable(record: Record, field: str) -> bool:
    """Tell whether *field* names what may go from an event of this kind, be it there or not."""
    return bool(chosen(_names(record), (field,)) or chosen(_fields(record), (field,)))


def is_field(record: Record, field: str) -> bool:
    """Tell whether *field* names something of an event of this kind, which may have to stay."""
    return field.partition(".")[0] in getattr(record.event, "__struct_fields__", ())


class Step(msgspec.Struct, frozen=True):
    """An event to erase *fields* of; *check* stands for the Check whose command goes."""

    record: Record
    fields: tuple[str, ...]
    check: str = ""


def plan(
    named: Iterable[Record], wanted: Collection[str], stream: Callable[[], Iterable[Record]]
) -> list[Step]:
    """Return the steps that erase *wanted* (empty: all) of *named* records of one *stream*.

    A command goes from all Runs of its Check. Were it to go from one alone, that Run would be of
    another Check.
    """
    found = ((record, chosen(erasable(record), wanted)) for record in named)
    return [step for record, names in found if names for step in _steps(record, names, stream)]


def surviving(step: Step, mark: str) -> e.Event:
    """Return what is left of an event after *step*, with *mark* for what is gone."""
    event: Any = step.record.event
    for name in step.fields:
        event = _without(step.record, event, name, mark)
    if step.check:
        event = msgspec.structs.replace(event, check=step.check, exact=False)
    left: e.Event = event
    return left


def _steps(
    record: Record, names: tuple[str, ...], stream: Callable[[], Iterable[Record]]
) -> Iterator[Step]:
    command = _COMMAND & set(names)
    if not command:
        yield Step(record, names)
        return
    alike = [(other, run) for other, run in _runs(stream()) if run.check == _run(record).check]
    first = alike[0][1]
    check = first.started.check or first.label
    yield Step(record, names, check)
    for other, _ in alike:
        also = chosen(erasable(other), command)
        if other.seq != record.seq and also:
            yield Step(other, also, check)


def _runs(records: Iterable[Record]) -> Iterator[tuple[Record, Run]]:
    return ((r, _run(r)) for r in records if isinstance(r.event, e.RunStarted))


def _run(record: Record) -> Run:
    assert isinstance(record.event, e.RunStarted)
    return Run(record.labels[0], record.seq, record.leaf.at, None, record.event)


def _fields(record: Record) -> Mapping[str, Eraser]:
    return ERASABLE.get(type(record.event), {})


def _names(record: Record) -> Iterator[str]:
    if not isinstance(record.event, e.CheckpointRecorded):
        yield from _fields(record)
        return
    for label in record.labels:
        yield f"facts.{label}" if label.startswith("c") else f"opened.{label}"
    yield "next_action"


def _holds(record: Record, name: str) -> bool:
    return bool(_without(record, record.event, name, "") != record.event)


def _without(record: Record, event: Any, name: str, mark: str) -> Any:
    if isinstance(event, e.CheckpointRecorded) and "." in name:
        return _without_entry(record.labels, event, name, mark)
    return _replaced(event, name.split("."), _fields(record)[name], mark)


def _replaced(value: Any, path: list[str], erase: Eraser, mark: str) -> Any:
    old = getattr(value, path[0])
    if old is None:
        return value
    new = _replaced(old, path[1:], erase, mark) if path[1:] else erase(old, mark)
    return msgspec.structs.replace(value, **{path[0]: new})


def _without_entry(
    labels: tuple[str, ...], event: e.CheckpointRecorded, name: str, mark: str
) -> e.CheckpointRecorded:
    """Return *event* without the text of one fact or item; the leaf's labels name facts first."""
    at = labels.index(name.partition(".")[2])
    facts, opened = list(event.facts), list(event.opened)
    if at < len(facts):
        facts[at] = msgspec.structs.replace(facts[at], text=mark)
    else:
        opened[at - len(facts)] = mark
    return msgspec.structs.replace(event, facts=tuple(facts), opened=tuple(opened))
