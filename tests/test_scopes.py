"""What a token may do: the table of wire operations, and what follows from it."""

import inspect
import pkgutil
from importlib import import_module
from typing import Any

import pytest
from operations.seed_table import SCOPES, tools

from memprove.ledger import operations, scopes
from memprove.ledger.operations.base import LocalOperation, Operation
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.contexts import ReadContext
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.packs import ReadClaims, ReadPack
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CompleteTask, ListTasks
from memprove.ledger.scopes import Scope

OPERATION: dict[str, type[Operation[Any]] | type[LocalOperation[Any]]] = {
    "pack": ReadPack,
    "claims": ReadClaims,
    "context": ReadContext,
    "tasks": ListTasks,
    "ledger_verify": VerifyLedger,
    "begin": BeginWork,
    "checkpoint": RecordCheckpoint,
    "decide": ProposeDecision,
    "end": EndSession,
    "complete": CompleteTask,
}


def every_operation() -> set[type[Operation[Any]]]:
    found: set[type[Operation[Any]]] = set()
    for module in pkgutil.iter_modules(operations.__path__):
        names = vars(import_module(f"{operations.__name__}.{module.name}")).values()
        found |= {c for c in names if inspect.isclass(c) and issubclass(c, Operation)}
    return {operation for operation in found if hasattr(operation, "sends")}


@pytest.mark.parametrize("tool", OPERATION)
def test_a_tool_sends_exactly_what_the_table_says(tool: str) -> None:
    assert frozenset(OPERATION[tool].sends) == tools()[tool][1]
    assert len(OPERATION[tool].sends) == len(tools()[tool][1])


def test_the_table_has_these_ten_tools() -> None:
    assert list(tools()) == list(OPERATION)


@pytest.mark.parametrize("tool", [tool for tool in OPERATION if tool != "context"])
def test_a_tool_reads_or_writes_as_the_table_says(tool: str) -> None:
    kind, names, scope = tools()[tool]
    assert scopes.writes(OPERATION[tool].sends) == (kind == "write")
    assert scope in scopes.needed(names)
    assert scopes.lacking(names, ["mcp-read", "mcp-write"], "agent") == []


def test_every_wire_operation_needs_the_scope_of_the_table() -> None:
    table = {name: scope for scope, names in SCOPES.items() for name in names.split()}
    assert table == scopes.WIRE


def test_every_operation_sends_wire_operations_that_are_known() -> None:
    assert len(every_operation()) > 20
    for operation in every_operation():
        assert set(operation.sends) <= set(scopes.WIRE), operation
        assert operation.sends, operation
        assert len(set(operation.sends)) == len(operation.sends), operation


@pytest.mark.parametrize(
    ("held", "role", "lacking"),
    [
        (["mcp-read", "mcp-write"], "agent", []),
        (["mcp:read", "mcp:write"], "agent", []),
        (["mcp-read"], "agent", ["mcp-write"]),
        (["mcp-write"], "agent", ["mcp-read"]),
        ([], "agent", ["mcp-read", "mcp-write"]),
        ([], "owner", ["mcp-read", "mcp-write"]),
        (["MCP-READ", "mcp-write"], "agent", ["mcp-read"]),
        (["mcp_read", "mcp-write"], "agent", ["mcp-read"]),
        (["mcp-read ", "mcp-write"], "agent", ["mcp-read"]),
        (["mcp-*", "mcp-write"], "agent", ["mcp-read"]),
        (["memory-read", "mcp-read", "mcp-write"], "agent", []),
    ],
)
def test_what_a_token_lacks_is_compared_as_text(
    held: list[str], role: str, lacking: list[str]
) -> None:
    assert scopes.lacking(["getTaskCapsule", "createTask"], held, role) == lacking


@pytest.mark.parametrize("held", [["owner"], ["owner", "mcp-read", "mcp-write"], [Scope.OWNER]])
def test_the_owner_is_a_role_and_no_scope_makes_one(held: list[str]) -> None:
    assert scopes.lacking(["issueToken"], held, "agent") == ["owner"]
    assert scopes.lacking(["issueToken"], [], "owner") == []
