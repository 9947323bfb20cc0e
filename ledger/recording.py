"""Run a command and record what really ran, on which tree, and how it ended.

The command runs whatever memprove itself meets: what cannot be recorded is said, and the command's
own exit code is returned. Only ``strict`` refuses to run what would not be recorded.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memprove.ledger import running
from memprove.ledger.capture import commands, junit, launch
from memprove.ledger.capture.junit_xml import Fault
from memprove.ledger.capture.streams import Sink
from memprove.ledger.domain.events import RunEnded, RunKind, RunStarted, TestCounts
from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.domain.run import Verdict, verdict
from memprove.ledger.ending import Seen, run_ended, why
from memprove.ledger.observation import Observation
from memprove.ledger.operations.runs import EndRun, RunTold, StartRun
from memprove.ledger.operations.workspaces import FindWorkspace
from memprove.ledger.paths import from_text, to_text
from memprove.ledger.problems import (
    INTERNAL,
    LEDGER_BUSY,
    WORKSPACE_UNREGISTERED,
    Problem,
)
from memprove.ledger.service import Ledger
from memprove.ledger.spooling import UNREACHABLE, Spool, find_spool, new_label

_TRIES: Final = 3  # to record an end: each waits for the lock by itself
_HIDDEN_VARIABLE: Final = "MEMPROVE_TOKEN"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run and record. *kind* None: told from the command. *cwd*: where, if not here."""

    kind: RunKind | None = None
    timeout_s: float | None = None
    session: int | None = None
    strict: bool = False
    junit: str = ""
    rerun_of: str = ""
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """How a command ended and what was recorded: no *label*, nothing. *said* is for people."""

    code: int
    duration_ms: int
    label: str = ""
    verdict: Verdict | None = None
    why: str = ""
    kind: RunKind | None = None
    counts: TestCounts | None = None
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A Run whose start is recorded, or which is to be spooled when it has ended."""

    run: str
    recorded: RunTold | None
    spool: Spool | None
    started: RunStarted
    blobs: tuple[bytes, ...]
    before: Observation
    reported: junit.Stamp | None
    unreachable: str = ""
    """The code of the Problem for which it is to be spooled."""


def record(ledger: Ledger, command: Sequence[str], options: RunOptions) -> Recorded:
    """Run *command* and record it; raises a Problem only for a *strict* refusal."""
    redactor, begun, said = _try_to_begin(ledger, command, options)
    env = {k: v for k, v in ledger.caller.env.items() if k != _HIDDEN_VARIABLE}
    cwd = options.cwd or _here(ledger)
    if redactor is None:  # nothing can look on
        launch.require_folder(cwd)
        ended = running.run_plainly(command, cwd=cwd, env=env, fault=MemoryError())
        return Recorded(ended.code, ended.duration_ms, said=said)
    out, err = Sink(redactor.data), Sink(redactor.data)
    with running.held_signals() as ignore:
        ended = running.run(
            command, cwd=cwd, env=env, timeout_s=options.timeout_s, stdout=out, stderr=err
        )
        ignore()
        if begun is None:
            return Recorded(ended.code, ended.duration_ms, said=said)
        try:
            seen = Seen(command, options.kind, ended, out, err, _report(ledger, begun, options))
            return _record(ledger, begun, seen, redactor, said)
        except Exception as error:  # the command's exit code comes first
            said = (*said, f"the end of {begun.run} was not recorded: {_problem(error)}")
            return Recorded(ended.code, ended.duration_ms, begun.run, Verdict.LOST, said=said)


def _record(
    ledger: Ledger, begun: _Begun, seen: Seen, redactor: Redactor, said: tuple[str, ...]
) -> Recorded:
    """Record how the Run that has *begun* ended."""
    label, ended = begun.run, seen.ended
    event, blobs = run_ended(
        label, seen, before=begun.before, after=begun.before.again(), redactor=redactor
    )
    if spooled := _record_end(ledger, begun, event, blobs):
        said = (
            *said,
            f"{label} is kept in .memprove/spool/ until the ledger can be written: {spooled}",
        )
    if event.tree.id is None:
        said = (*said, f"{label} proves nothing: tree unknown: {event.tree.reason}")
    if ended.undelivered:
        said = (*said, f"the output of {label} was not passed on to its end: {ended.undelivered}")
    if ended.fault is not None:
        said = (*said, f"not recorded: the output of {label}: {type(ended.fault).__name__}")
    return Recorded(
        ended.code,
        ended.duration_ms,
        label,
        verdict(event),
        why(event),
        event.kind,
        event.counts,
        (*said, *ledger.notes),
    )


def _try_to_begin(
    ledger: Ledger, command: Sequence[str], options: RunOptions
) -> tuple[Redactor | None, _Begun | None, tuple[str, ...]]:
    redactor = None
    try:
        redactor = Redactor(environment_secrets(ledger.caller.env))
        try:
            return redactor, _begin(ledger, command, options, redactor), ()
        except Problem as problem:
            begun = _begin_spooled(ledger, command, options, redactor, problem)
            if begun is None:
                raise
            return redactor, begun, ()
    except Exception as error:
        met = _problem(error)
        if options.strict:
            raise met from error
        if met.kind is WORKSPACE_UNREGISTERED:
            return redactor, None, ("not recorded: no Workspace here",)
        return redactor, None, (f"not recorded: {met}",)


def _begin(
    ledger: Ledger, command: Sequence[str], options: RunOptions, redactor: Redactor
) -> _Begun:
    where = ledger.execute(FindWorkspace(cwd=options.cwd))
    before = Observation(from_text(where.worktree), allowed_filters=frozenset(where.filters))
    started, blobs = _started(before, where.below, command, options, redactor)
    reported = junit.stamp(_report_path(ledger, options)) if options.junit else None
    told = ledger.execute(StartRun(started, blobs, options.session))
    spool = find_spool(ledger.caller, told.session, options.cwd) if told.session else None
    return _Begun(told.run, told, spool, started, blobs, before, reported)


def _begin_spooled(
    ledger: Ledger,
    command: Sequence[str],
    options: RunOptions,
    redactor: Redactor,
    problem: Problem,
) -> _Begun | None:
    """Return the Run that is to be spooled because of *problem*, if it can be."""
    if problem.kind not in UNREACHABLE:
        return None
    spool = find_spool(ledger.caller, options.session, options.cwd)
    if spool is None:
        return None
    before = Observation(spool.worktree)
    started, blobs = _started(before, spool.below, command, options, redactor)
    reported = junit.stamp(_report_path(ledger, options)) if options.junit else None
    return _Begun(new_label(), None, spool, started, blobs, before, reported, problem.code)


def _started(
    before: Observation,
    below: str,
    command: Sequence[str],
    options: RunOptions,
    redactor: Redactor,
) -> tuple[RunStarted, tuple[bytes, ...]]:
    """Return the start of a Run, and the blobs that it names."""
    state, snapshot = before.state()
    words = [_text(word) for word in command]
    argv = redactor.argv(words)
    started = RunStarted(
        argv=argv,
        cwd=_text(below),
        worktree=to_text(before.worktree),
        kind=options.kind or RunKind(commands.classify(words)),
        tree=state,
        ignore=before.config.ignore,
        outputs=before.config.outputs,
        exact=argv == tuple(words) and _are_text(command),
        junit=_text(options.junit),
        rerun_of=options.rerun_of,
    )
    return started, () if snapshot is None else (snapshot,)


def _report_path(ledger: Ledger, options: RunOptions) -> Path:
    """Return where the command leaves its report: *junit* as the command itself takes it."""
    return Path(options.cwd or ledger.caller.cwd) / options.junit


def _report(ledger: Ledger, begun: _Begun, options: RunOptions) -> junit.Report | Fault | None:
    if not options.junit:
        return None
    return junit.read_junit(_report_path(ledger, options), before=begun.reported)


def _record_end(ledger: Ledger, begun: _Begun, event: RunEnded, blobs: tuple[bytes, ...]) -> str:
    """Record the end, or spool what the ledger does not have; return why it was spooled."""
    if begun.recorded is None:
        assert begun.spool is not None
        begun.spool.keep(begun.run, begun.started, event, (*begun.blobs, *blobs))
        return begun.unreachable
    try:
        _try_to_end(ledger, EndRun(begun.recorded, event, blobs))
    except Problem as problem:
        if begun.spool is None or problem.kind not in UNREACHABLE:
            raise
        begun.spool.keep(begun.run, None, event, blobs)
        return problem.code
    return ""


def _try_to_end(ledger: Ledger, operation: EndRun) -> None:
    for left in reversed(range(_TRIES)):
        try:
            ledger.execute(operation)
            return
        except Problem as problem:
            if problem.kind is not LEDGER_BUSY or not left:
                raise


def _here(ledger: Ledger) -> str | None:
    """Return the caller's directory; None, that is ours, where it was removed under the caller."""
    return str(ledger.caller.cwd) if ledger.caller.cwd.is_dir() else None


def _are_text(words: Sequence[str]) -> bool:
    """Tell whether *words* are UTF-8, whatever the locale made of them."""
    return all(os.fsencode(word) == _text(word).encode() for word in words)


def _text(word: str) -> str:
    """Return an argument as valid text; bytes that are not UTF-8 are shown as escapes."""
    return os.fsencode(word).decode("utf-8", "backslashreplace")


def _problem(error: Exception) -> Problem:
    return error if isinstance(error, Problem) else INTERNAL(type(error).__name__)
