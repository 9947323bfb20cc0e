"""``rerun``: run recorded commands again on today's tree."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from memprove.cli import options
from memprove.cli.commands.runs import tell
from memprove.cli.invocation import Invocation, flush, invoked
from memprove.cli.output import is_terminal
from memprove.cli.verbs import verbs
from memprove.cli.words import given
from memprove.ledger.capture.commands import classify
from memprove.ledger.domain import printing
from memprove.ledger.domain.events import RunKind
from memprove.ledger.domain.evidence import ProofState
from memprove.ledger.domain.run import Run
from memprove.ledger.operations.packs import ReadClaims
from memprove.ledger.operations.runs import FindRuns
from memprove.ledger.operations.workspaces import FindWorkspace
from memprove.ledger.problems import (
    ARGUMENT_MISSING,
    COMMAND_REDACTED,
    RERUN_UNCONFIRMED,
    RERUN_UNTRUSTED,
    TASK_UNKNOWN,
    Problem,
)
from memprove.ledger.recording import RunOptions, record
from memprove.ledger.service import Ledger

app = verbs()


@app.command()
def rerun(
    context: typer.Context,
    label: Annotated[
        str,
        typer.Argument(
            metavar="[r3|w1|c7]", help="A Run, or a claim: all Runs behind it.", show_default=False
        ),
    ] = "",
    stale: Annotated[
        bool, typer.Option("--stale", help="The Runs behind all stale claims; asks first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> int:
    """Run recorded commands again on today's tree; each is a new Run.

    The commands are printed first, and the claims whose proof changed after. The exit code is that
    of the last command that failed, else 0. With --json the commands' own output goes to stdout
    too, before the document.

    Examples:
      memprove rerun r3
      memprove rerun c7
      memprove rerun --stale --yes

    """
    call = invoked(context, as_json=as_json, session=session)
    if bool(label) == stale:
        raise ARGUMENT_MISSING("exactly one of a label and --stale")
    found = call.execute(FindRuns(label=label, stale=stale))
    if not found.runs:
        call.answer({"runs": [], "changed": {}}, "nothing to run again")
        return 0
    _check(found.runs)
    asks = stale and not yes
    if asks and not is_terminal(sys.stdin):
        raise RERUN_UNCONFIRMED(", ".join(map(_named, found.runs)))
    call.output.say(*map(_named, found.runs))
    if asks:
        _confirm(call, found.runs)
    before = _proofs(call)
    code, labels = _run(call, found.runs, found.session)
    changed = _changes(before, _proofs(call))
    lines = [f"{claim} was {was}, is {now}" for claim, (was, now) in changed.items()]
    call.answer({"runs": labels, "changed": changed, "code": code}, *lines)
    return code


def _run(call: Invocation, runs: Sequence[Run], session: int | None) -> tuple[int, list[str]]:
    """Run the commands of *runs* in the work tree that we are in; return code and new labels."""
    worktree = call.execute(FindWorkspace()).worktree
    caller = replace(call, session=None).caller()  # the command's environment is its own
    code, labels = 0, []
    flush()
    for run in runs:
        options = RunOptions(
            kind=_told_kind(run),
            session=session,
            junit=given(run.started.junit),
            rerun_of=run.label,
            cwd=given(os.path.join(worktree, run.started.cwd)),
        )
        recorded = record(Ledger(caller), list(map(given, run.started.argv)), options)
        tell(call, recorded)
        code = recorded.code or code
        labels.append(recorded.label)
    return code, labels


def _told_kind(run: Run) -> RunKind | None:
    """Return the kind that somebody told with ``--kind``, None if it follows from the command."""
    kind = run.started.kind
    return None if kind == classify(run.started.argv) else kind


def _check(runs: Sequence[Run]) -> None:
    """Refuse a command that is not as it was given, or that nobody saw being given."""
    for run in runs:
        if run.spooled:
            raise RERUN_UNTRUSTED(run.label)
        if not run.started.exact:
            raise COMMAND_REDACTED(run.label)


def _confirm(call: Invocation, runs: Sequence[Run]) -> None:
    call.output.trace("memprove: run this? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RERUN_UNCONFIRMED(", ".join(map(_named, runs)))


def _named(run: Run) -> str:
    inside = "" if run.started.cwd in ("", ".") else f" in {printing.code(run.started.cwd)}"
    return f"{run.label} {printing.command(run.started.argv, limit=1 << 30)}{inside}"


def _proofs(call: Invocation) -> dict[str, ProofState]:
    """Return what stands behind each claim; a ``w`` Run may have no Task around it."""
    try:
        claims = call.execute(ReadClaims(states=tuple(ProofState))).told.claims
    except Problem as problem:
        if problem.kind is TASK_UNKNOWN:
            return {}
        raise
    return {claim.claim: claim.proof for claim in claims}


def _changes(
    before: dict[str, ProofState], after: dict[str, ProofState]
) -> dict[str, tuple[ProofState, ProofState]]:
    return {
        claim: (before[claim], now)
        for claim, now in after.items()
        if claim in before and before[claim] is not now
    }
