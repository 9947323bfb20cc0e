"""The table of tools as clients list it: small, plain, honest about what each tool does."""

import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # a dependency of the SDK
import mcp_types as types
import pytest
from support.snapshots import snapshot
from support.tools import Served

from memprove.ledger import scopes
from memprove.mcp_facade.server import INSTRUCTIONS
from memprove.mcp_facade.tool import Tool
from memprove.mcp_facade.tools import OPERATIONS, TOOLS

MOST_BYTES = 8_000
MOST_TOKENS = 1_500
COMBINING = {"anyOf", "oneOf", "allOf", "not", "$ref", "$defs"}

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def plain(tool: types.Tool) -> dict[str, Any]:
    listed: dict[str, Any] = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return listed


def keys(value: Any) -> set[str]:
    """Return all keys of the objects in *value*."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set()


def test_the_ten_are_listed_in_less_than_8000_bytes(served: Served) -> None:
    listed = [plain(tool) for tool in served.listed()]
    assert len(compact(listed).encode()) < MOST_BYTES


def test_descriptions_and_schemas_take_less_than_1500_tokens() -> None:
    parts = [f"{t.description}{compact(t.schema)}{compact(t.output)}" for t in TOOLS]
    assert len("".join(parts).encode()) / 4 < MOST_TOKENS


def test_each_tool_is_listed_as_it_was(served: Served) -> None:
    for tool in served.listed():
        text = json.dumps(plain(tool), indent=2, ensure_ascii=False) + "\n"
        assert text == snapshot(f"tools/{tool.name}.json", text)


@each_tool
def test_a_description_is_short_and_says_what_comes_back(tool: Tool) -> None:
    assert len(tool.description) < 400
    assert tool.description.endswith(".")
    assert 3 < len(tool.title) < 40
    assert re.fullmatch(r"[a-z_]{1,32}", tool.name)


@each_tool
def test_schemas_are_plain_objects_of_2020_12(tool: Tool) -> None:
    for schema in (tool.schema, tool.output):
        assert schema is not None
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not keys(schema) & COMBINING


def test_only_a_tool_without_parameters_forbids_others() -> None:
    closed = [tool.name for tool in TOOLS if "additionalProperties" in tool.schema]
    assert closed == ["context"]


def test_what_is_needed_is_said() -> None:
    needed = {tool.name: tool.schema["required"] for tool in TOOLS if "required" in tool.schema}
    assert needed == {"claims": ["claims"], "decide": ["title", "choice", "rationale"]}


def test_all_hints_are_set_and_follow_from_what_the_tool_sends(served: Served) -> None:
    for tool in served.listed():
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint is not scopes.writes(OPERATIONS[tool.name].sends)
        assert (hints.destructive_hint, hints.open_world_hint) == (False, False)
        again = tool.name not in ("begin", "checkpoint", "decide")
        assert hints.idempotent_hint is again


def test_three_tools_are_always_loaded(served: Served) -> None:
    loaded = [tool.name for tool in served.listed() if tool.meta == {"anthropic/alwaysLoad": True}]
    assert loaded == ["pack", "begin", "checkpoint"]


def test_the_instructions_name_only_tools_that_there_are() -> None:
    assert len(INSTRUCTIONS) < 2_000
    for name in ("pack", "begin", "checkpoint", "decide", "complete", "end"):
        assert re.search(rf"\b{name}\b", INSTRUCTIONS)


def test_every_result_fits_its_output_schema(served: Served) -> None:
    calls: dict[str, dict[str, Any]] = {
        "begin": {"new_task": "t"},
        "checkpoint": {"facts": ["so"]},
        "pack": {},
        "claims": {"claims": ["c1"]},
        "context": {},
        "tasks": {},
        "ledger_verify": {},
        "decide": {"title": "a", "choice": "b", "rationale": "c"},
        "end": {},
    }
    outputs = {tool.name: tool.output for tool in TOOLS}
    for name, arguments in calls.items():
        told = served.done(name, **arguments).structured
        output = outputs[name]
        assert output is not None
        jsonschema.validate(told, output)
        assert set(output["properties"]) <= set(told)
    failed = served.call("complete")
    jsonschema.validate(failed.structured, outputs["complete"] or {})
