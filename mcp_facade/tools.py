"""The ten tools, as a table: each is one operation, in one transaction.

What a tool sends, and so the scopes that it needs and whether it reads or writes, is that of its
operation. No tool runs a command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memprove.ledger import receipts, scopes
from memprove.ledger.operations.base import LocalOperation, Operation, Receipt
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.contexts import ReadContext
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.packs import ReadClaims, ReadPack
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CompleteTask, ListTasks
from memprove.ledger.problems import ARGUMENT_MISSING
from memprove.ledger.service import Ledger
from memprove.mcp_facade import inputs, results
from memprove.mcp_facade.tool import Annotations, Client, Result, Tool

if TYPE_CHECKING:
    from memprove.ledger.log.report import Report

ResultT = TypeVar("ResultT")
ReceiptT = TypeVar("ReceiptT", bound=Receipt)

_ID: Final = {"type": ["string", "null"]}
_TEXT: Final = {"type": "string"}
_LIST: Final = {"type": "array"}
_FLAG: Final = {"type": "boolean"}


def _pack(given: inputs.PackInput, client: Client) -> Result:
    read = ReadPack(task=given.task, query=given.query, budget=given.budget)
    return _executed(client, read, results.pack)


def _claims(given: inputs.ClaimsInput, client: Client) -> Result:
    if not given.claims:
        raise ARGUMENT_MISSING("claims: name some, such as c3")
    return _executed(client, ReadClaims(claims=given.claims, task=given.task), results.claims)


def _context(given: inputs.ContextInput, client: Client) -> Result:
    return results.context(Ledger(client.caller).look(ReadContext()))


def _tasks(given: inputs.TasksInput, client: Client) -> Result:
    listed = ListTasks(states=given.status, limit=given.limit, after=given.after)
    return _executed(client, listed, results.tasks)


def _ledger_verify(given: inputs.LedgerVerifyInput, client: Client) -> Result:
    def shown(report: Report, notes: list[str]) -> Result:
        client.progress(report.size, report.size)  # a short log tells nothing on the way
        return results.verified(report, notes)

    return _executed(client, VerifyLedger(progress=client.progress, full=given.full), shown)


def _begin(given: inputs.BeginInput, client: Client) -> Result:
    begun = BeginWork(
        task=given.task,
        new_task=given.new_task,
        description=given.description,
        agent=given.agent_name.strip() or None,
        role=given.agent_role.strip() or None,
        parent=given.parent_session,
    )
    return _written(client, begun, receipts.begun)


def _checkpoint(given: inputs.CheckpointInput, client: Client) -> Result:
    stated = RecordCheckpoint(
        facts=given.facts,
        open_items=given.open_items,
        closed_items=given.closed_items,
        reaffirm=given.reaffirm,
        withdraw=given.withdraw,
        next_action=given.next_action,
        session=given.session,
    )
    return _written(client, stated, receipts.checkpointed)


def _decide(given: inputs.DecideInput, client: Client) -> Result:
    proposed = ProposeDecision(
        title=given.title,
        choice=given.choice,
        rationale=given.rationale,
        alternatives=given.alternatives,
        supersedes=given.supersedes,
        evidence=given.evidence,
        session=given.session,
    )
    return _written(client, proposed, receipts.decided)


def _end(given: inputs.EndInput, client: Client) -> Result:
    ended = EndSession(note=given.note, abandoned=given.abandoned, session=given.session)
    return _written(client, ended, receipts.ended)


def _complete(given: inputs.CompleteInput, client: Client) -> Result:
    done = CompleteTask(runs=given.runs, session=given.session)
    return _written(client, done, receipts.completed)


def _executed(
    client: Client, operation: Operation[ResultT], shown: Callable[[ResultT, list[str]], Result]
) -> Result:
    """Execute *operation* for this one call; nothing is kept from the last."""
    ledger = Ledger(client.caller)
    told = ledger.execute(operation)
    return shown(told, ledger.notes)


def _written(
    client: Client, operation: Operation[ReceiptT], said: Callable[[ReceiptT], str]
) -> Result:
    def shown(told: ReceiptT, notes: list[str]) -> Result:
        return results.receipt(said(told), told, notes)

    return _executed(client, operation, shown)


def _tool(
    name: str,
    title: str,
    description: str,
    input: type[inputs.Input],
    call: Callable[[Any, Client], Result],
    *,
    idempotent: bool = True,
    always_load: bool = False,
    **fields: Mapping[str, Any],
) -> Tool:
    reads = not scopes.writes(OPERATIONS[name].sends)
    return Tool(
        name=name,
        title=title,
        description=description,
        input=input,
        output={
            "type": "object",
            "properties": {"task_id": _ID, "session_id": _ID, **fields},
            "required": ["task_id", "session_id"],
        },
        annotations=Annotations(read_only=reads, idempotent=idempotent),
        call=call,
        always_load=always_load,
    )


OPERATIONS: Final[Mapping[str, type[Operation[Any]] | type[LocalOperation[Any]]]] = {
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
"""Tool → the one operation that it is."""

TOOLS: Final[tuple[Tool, ...]] = (
    _tool(
        "pack",
        "Resume a Task",
        "Call this first, and again after the conversation was cleared or compacted. Returns where"
        " the Task (default: the current one) stands: next action, open items, claims and what"
        " proves them on today's files, Decisions, Runs; within the budget, naming what it left"
        " out.",
        inputs.PackInput,
        _pack,
        always_load=True,
        pack=_TEXT,
    ),
    _tool(
        "claims",
        "Read claims in full",
        "Returns named claims uncut: proof on today's files, evidence, history. Use it for what the"
        " Pack cut or left out.",
        inputs.ClaimsInput,
        _claims,
        claims=_LIST,
    ),
    _tool(
        "context",
        "Read the local pointer",
        "Returns which Task and Session the local files point to, unchecked. For when other tools"
        " fail.",
        inputs.ContextInput,
        _context,
        checked=_FLAG,
    ),
    _tool(
        "tasks",
        "List Tasks",
        "Returns the Workspace's Tasks by number, up to 100; `next` is the `after` of more.",
        inputs.TasksInput,
        _tasks,
        tasks=_LIST,
    ),
    _tool(
        "ledger_verify",
        "Verify the ledger",
        "Computes the log again: events, chains, tree, signatures; only what is new since the last"
        " time, or with `full` all of it, slow on a large ledger. Returns each check and what was"
        " found.",
        inputs.LedgerVerifyInput,
        _ledger_verify,
        ok=_FLAG,
    ),
    _tool(
        "begin",
        "Begin a Session",
        "Begin work: on Task `task`, or on a new one titled `new_task`; exactly one of them. Call"
        " it once before you record anything. A sub-agent gives its parent's Session, a name of its"
        " own, and then `session` in each call. Returns the numbers of Task and Session.",
        inputs.BeginInput,
        _begin,
        idempotent=False,
        always_load=True,
        agent=_TEXT,
    ),
    _tool(
        "checkpoint",
        "Record a checkpoint",
        "State what you found, what is open, what comes next, whenever that changed. Evidence of a"
        " fact: r1 (a Run that passed), r1:tests/test_x.py::test_y, !r2 (a Run that failed), c3,"
        " d1; or in brackets at the end of its text. Runs come from `memprove run -- COMMAND` in a"
        " shell. A false citation is refused. Returns the labels given. Texts up to 2,000"
        " characters, 50 entries.",
        inputs.CheckpointInput,
        _checkpoint,
        idempotent=False,
        always_load=True,
        claims=_LIST,
        open_items=_LIST,
    ),
    _tool(
        "decide",
        "Propose a Decision",
        "Record a choice that others should not undo unknowingly, with reasons and alternatives."
        " The owner accepts or rejects it. Returns its label. Up to 8,000 characters in all.",
        inputs.DecideInput,
        _decide,
        idempotent=False,
        decision=_TEXT,
    ),
    _tool(
        "end",
        "End a Session",
        "End your Session with a note to the next agent, or as `abandoned` another one. The Task"
        " stays as it is.",
        inputs.EndInput,
        _end,
        state=_TEXT,
    ),
    _tool(
        "complete",
        "Complete the Task",
        "Complete your Task if its tests, builds or lints passed on the files as they are now, or"
        " the Runs you name did. Else it says which to run again. The Session stays open.",
        inputs.CompleteInput,
        _complete,
        state=_TEXT,
    ),
)
"""In the order of ``tools/list``."""
