"""What `memprove doctor` finds: how something is, and what to do about it.

A check is a function that looks at one thing and yields Findings. A Problem that it meets is a
fault, and says its cure itself. No text here holds a secret.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from memprove.ledger.problems import Problem

SubjectT = TypeVar("SubjectT")


class State(StrEnum):
    """How something is. A warning is no fault; what is skipped was not there to be looked at."""

    OK = "ok"
    SKIPPED = "skipped"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and in one line what to do about it."""

    state: State
    what: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A Finding under the name of its check."""

    check: str
    state: State
    what: str
    cure: str = ""


Check = Callable[[SubjectT], Iterator[Finding]]


def checked(checks: Mapping[str, Check[SubjectT]], subject: SubjectT) -> Iterator[Checked]:
    """Yield what *checks* find about *subject*. What ends one of them is a fault of that check."""
    for name, check in checks.items():
        for found in _isolated(check, subject):
            yield Checked(name, found.state, found.what, found.cure)


def _isolated(check: Check[SubjectT], subject: SubjectT) -> Iterator[Finding]:
    try:
        yield from check(subject)
    except Exception as error:  # the other checks are worth as much
        yield fault_of(error)


def fault_of(error: Exception) -> Finding:
    """Return the fault that *error* is: a Problem, of the system, or one of memprove itself."""
    if isinstance(error, Problem):
        return fault(error)
    if isinstance(error, OSError):
        what = f"it cannot be looked at: {error.filename or ''} {error.strerror}"
        return Finding(State.FAULT, what, "check the path and its permissions")
    return _broken(error)


def _broken(error: Exception) -> Finding:
    """Return the fault that a check of ours has which ended with *error*, and where in the code."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    code = frame.tb_frame.f_code.co_filename if frame is not None else ""
    at = f" at {os.path.basename(code)}:{frame.tb_lineno}" if frame is not None else ""
    what = f"this check of memprove itself is broken: {type(error).__name__}{at}"
    return Finding(State.FAULT, what, "please report it; the other checks hold all the same")


def fault(problem: Problem) -> Finding:
    """Return the fault that *problem* is; its sentence says the cure after a semicolon."""
    said, _, cure = problem.kind.sentence.partition("; ")
    detail = f": {problem.detail}" if problem.detail else ""
    return Finding(State.FAULT, f"{problem.code}: {said}{detail}", cure or said)


def ok(what: str) -> Finding:
    """Return that *what* is as it should be."""
    return Finding(State.OK, what)


def skipped(what: str) -> Finding:
    """Return that there was nothing to look at, and why."""
    return Finding(State.SKIPPED, what)
