"""What a tool is: a row of the table, what it is called with, and what it returns.

A row knows no transport. The server parses the arguments with ``input``, calls ``call`` once in a
worker thread, and sends what it returns; a Problem that is raised becomes ``refusal``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import BaseModel, ValidationError

from memprove.ledger.domain import printing
from memprove.ledger.problems import ARGUMENT_INVALID, ARGUMENT_MISSING, Problem
from memprove.ledger.settings import Caller

_MOST_DETAIL: Final = 2_000
"""Characters of the variable part of a Problem: clients cut what is longer."""


class Cancelled(Exception):
    """Raised in a call whose client wants no answer any more; nothing is sent for it."""


class Client(Protocol):
    """Whoever made this one call."""

    @property
    def caller(self) -> Caller:
        """Return the caller: environment and working directory as they are now."""
        ...

    @property
    def era(self) -> str:
        """Return the protocol revision of this request, such as ``2026-07-28``."""
        ...

    def progress(self, done: int, total: int) -> None:
        """Tell the client how much is done, if it asked; raise Cancelled if it wants no answer."""
        ...

    def cancelled(self) -> bool:
        """Tell whether the client wants no answer any more."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returns: a text for the model, and the same as an object for programs."""

    text: str
    structured: dict[str, Any]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints for the client about what a call can change. No tool reaches beyond the machine."""

    read_only: bool
    idempotent: bool
    destructive: bool = False
    open_world: bool = False


READS: Final = Annotations(read_only=True, idempotent=True)
WRITES: Final = Annotations(read_only=False, idempotent=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. *input* is an object at the root; *output* is a JSON Schema, None for no promise.

    ``call`` gets an *input* and blocks; it may raise a Problem.
    """

    name: str
    title: str
    description: str
    input: type[BaseModel]
    output: dict[str, Any] | None
    annotations: Annotations
    call: Callable[[Any, Client], Result]
    always_load: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the input."""
        return self.input.model_json_schema()


def refusal(problem: Problem) -> Result:
    """Return *problem* as the result of the call that met it.

    Its text begins with the code and the fixed sentence; what may be stored text comes behind
    them, escaped, on the same line.
    """
    detail = printing.escape(problem.detail[:_MOST_DETAIL])
    detail += "…" if len(problem.detail) > _MOST_DETAIL else ""
    structured: dict[str, Any] = {
        **dict.fromkeys(("task_id", "session_id", "task", "session")),
        "code": problem.code,
        "sentence": problem.kind.sentence,
        "detail": detail,
    }
    return Result(str(problem.kind(detail)), structured, is_error=True)


def wrong_arguments(error: ValidationError) -> Problem:
    """Return what is wrong with the arguments, which are not repeated."""
    first, *_ = error.errors(include_url=False, include_context=False, include_input=False)
    where = ".".join(str(step) for step in first["loc"]) or "arguments"
    if first["type"] == "missing":
        return ARGUMENT_MISSING(where)
    return ARGUMENT_INVALID(f"{where}: {first['msg']}")
