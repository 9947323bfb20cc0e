"""What `memprove doctor` finds: how something is, and what to do about it.

A check is a function that looks at one thing and yields Findings. A Problem that it meets is a
fault, and says its cure itself. No text here holds a secret.
"""

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
    """Yield what *checks* find about *subject*; a Problem that one meets is a fault."""
    for name, check in checks.items():
        try:
            for found in check(subject):
                yield Checked(name, found.state, found.what, found.cure)
        except Problem as problem:
            found = fault(problem)
            yield Checked(name, found.state, found.what, found.cure)
        except OSError as error:
            what = f"it cannot be looked at: {error.filename or ''} {error.strerror}"
            yield Checked(name, State.FAULT, what, "check the path and its permissions")


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
