"""What each tool takes: a model for each, from which its schema comes.

Every field reads its own value, with ``lenient``; pydantic itself judges nothing but what is
missing. Fields that nobody knows are ignored. The schemas are plain objects without references,
for some clients take no others; they describe the best form of what is accepted.
"""

from functools import partial
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationInfo, WithJsonSchema

from memprove.ledger.domain import limits, pack
from memprove.ledger.domain.events import Fact, TaskState
from memprove.ledger.problems import BUDGET_INVALID, Problem
from memprove.mcp_facade import lenient

MOST_TASKS: Final = 100


def _read(reader: lenient.Reader) -> PlainValidator:
    def read(value: Any, info: ValidationInfo) -> Any:
        return reader(info.field_name or "", value)

    return PlainValidator(read)


def _optional(reader: lenient.Reader, otherwise: Any = None) -> PlainValidator:
    """Read what may be absent: null is *otherwise*."""
    return _read(lambda name, value: otherwise if value is None else reader(name, value))


def _budget(name: str, value: Any) -> int:
    try:
        return lenient.number(name, value, pack.LEAST_BUDGET, pack.MOST_BUDGET)
    except Problem:
        raise BUDGET_INVALID() from None


_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_NUMBER: Final = {"type": "integer"}
_FACT: Final = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "evidence": _TEXTS,
        "paths": {**_TEXTS, "description": "what can make it stale"},
    },
    "required": ["text"],
}

Number = Annotated[int | None, _optional(lenient.number), WithJsonSchema(_NUMBER)]
Text = Annotated[str, _read(lenient.text), WithJsonSchema(_TEXT)]
Needed = Annotated[str, _read(lenient.needed), WithJsonSchema(_TEXT)]
Flag = Annotated[bool, _read(lenient.flag), WithJsonSchema({"type": "boolean"})]
Texts = Annotated[tuple[str, ...], _read(lenient.texts), WithJsonSchema(_TEXTS)]
Label = Annotated[str, _read(lenient.label), WithJsonSchema(_TEXT)]
Labels = Annotated[tuple[str, ...], _read(lenient.labels), WithJsonSchema(_TEXTS)]
Citations = Annotated[tuple[str, ...], _read(lenient.evidence), WithJsonSchema(_TEXTS)]
Facts = Annotated[
    tuple[Fact, ...],
    _read(lenient.facts),
    WithJsonSchema({"type": "array", "items": _FACT}),
]
States = Annotated[
    tuple[TaskState, ...],
    _read(lenient.states),
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(TaskState)}}),
]
Budget = Annotated[
    int,
    _optional(_budget, pack.DEFAULT_BUDGET),
    WithJsonSchema({"type": "integer", "minimum": pack.LEAST_BUDGET, "maximum": pack.MOST_BUDGET}),
]
Limit = Annotated[
    int,
    _optional(partial(lenient.number, most=MOST_TASKS), 20),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_TASKS}),
]
After = Annotated[
    int,
    _optional(partial(lenient.number, least=0), 0),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]


class Input(BaseModel):
    """The arguments of one call."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the schema as ``tools/list`` shows it: an object, as short as it can be."""
        whole = super().model_json_schema(*args, **kwargs)
        named = whole.get("properties", {})
        plain: dict[str, Any] = {
            "type": "object",
            "properties": {name: _plain(field) for name, field in named.items()},
        }
        if not named:
            plain["additionalProperties"] = False
        if required := whole.get("required"):
            plain["required"] = required
        return plain


class PackInput(Input):
    """What Pack to read."""

    task: Number = None
    query: Text = Field("", description="what to keep first")
    budget: Budget = Field(pack.DEFAULT_BUDGET, description="UTF-16 units")
    manifest: Flag = False


class ClaimsInput(Input):
    """Which claims to read."""

    claims: Labels = Field(description="c3")
    task: Number = None


class ContextInput(Input):
    """Nothing."""


class TasksInput(Input):
    """Which Tasks to list."""

    status: States = ()
    limit: Limit = 20
    after: After = Field(0, description="Task number")


class LedgerVerifyInput(Input):
    """How much to verify."""

    full: Flag = False


class BeginInput(Input):
    """What to begin, and as whom."""

    task: Number = None
    new_task: Annotated[
        str | None,
        _optional(lenient.text),
        WithJsonSchema({"type": "string", "maxLength": limits.TITLE}),
    ] = Field(None, description="title")
    description: Text = ""
    agent_name: Text = ""
    agent_role: Text = ""
    parent_session: Number = None


class CheckpointInput(Input):
    """What a Session states."""

    facts: Facts = ()
    open_items: Texts = ()
    closed_items: Labels = Field((), description="o1")
    reaffirm: Labels = Field((), description="c3")
    withdraw: Labels = ()
    next_action: Text = ""
    session: Number = None


class DecideInput(Input):
    """A choice."""

    title: Needed
    choice: Needed
    rationale: Needed
    alternatives: Texts = ()
    supersedes: Label = Field("", description="d1")
    evidence: Citations = ()
    session: Number = None


class EndInput(Input):
    """Which Session to end."""

    note: Text = ""
    abandoned: Number = Field(None, description="Session number")
    session: Number = None


class CompleteInput(Input):
    """On what to complete."""

    runs: Labels = Field((), description="r3")
    session: Number = None


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field without what says nothing."""
    told = {key: value for key, value in field.items() if key != "title"}
    if not told.get("default"):
        told.pop("default", None)  # what is absent is empty
    return told
