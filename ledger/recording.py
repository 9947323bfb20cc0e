"""Run a command and record what really ran, on which tree, and how it ended.

The command runs whatever memprove itself meets: what cannot be recorded is said, and the command's
own exit code is returned. Only ``strict`` refuses to run what would not be recorded.
"""

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from memprove.ledger.capture import commands, reports
from memprove.ledger.capture.process import Exit, run_child
from memprove.ledger.capture.streams import Sink
from memprove.ledger.domain.events import RunEnded, RunKind, RunStarted, StreamKept, TestCounts
from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.domain.run import Verdict, verdict
from memprove.ledger.observation import Observation, differences
from memprove.ledger.operations.runs import EndRun, RunTold, StartRun
from memprove.ledger.operations.workspaces import FindWorkspace
from memprove.ledger.paths import from_text
from memprove.ledger.problems import (
    INTERNAL,
    LEDGER_BUSY,
    WORKSPACE_UNREGISTERED,
    Problem,
)
from memprove.ledger.service import Ledger

_TRIES: Final = 3  # to record an end: each waits for the lock by itself
_HIDDEN_VARIABLE: Final = "MEMPROVE_TOKEN"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run and record. *kind* None: told from the command. *cwd*: where, if not here."""

    kind: RunKind | None = None
    timeout_s: float | None = None
    session: int | None = None
    strict: bool = False
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
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A Run whose start is recorded."""

    told: RunTold
    started: RunStarted
    before: Observation


def record(ledger: Ledger, command: Sequence[str], options: RunOptions) -> Recorded:
    """Run *command* and record it; raises a Problem only for a *strict* refusal."""
    redactor = Redactor(environment_secrets(ledger.caller.env))
    begun, said = _try_to_begin(ledger, command, options, redactor)
    out, err = Sink(redactor.data), Sink(redactor.data)
    ended = run_child(
        command,
        cwd=options.cwd or _here(ledger),
        env={k: v for k, v in ledger.caller.env.items() if k != _HIDDEN_VARIABLE},
        timeout_s=options.timeout_s,
        stdout=out,
        stderr=err,
    )
    if begun is None:
        return Recorded(ended.code, ended.duration_ms, said=said)
    try:
        event, blobs = _end(begun, command, options, ended, out, err)
        _record_end(ledger, EndRun(begun.told, event, blobs))
    except Exception as error:  # the command's exit code comes first
        said = (*said, f"the end of {begun.told.run} was not recorded: {_problem(error)}")
        return Recorded(ended.code, ended.duration_ms, begun.told.run, Verdict.LOST, said=said)
    return Recorded(
        ended.code,
        ended.duration_ms,
        begun.told.run,
        verdict(event),
        _why(event),
        (*said, *ledger.notes),
    )


def _try_to_begin(
    ledger: Ledger, command: Sequence[str], options: RunOptions, redactor: Redactor
) -> tuple[_Begun | None, tuple[str, ...]]:
    try:
        return _begin(ledger, command, options, redactor), ()
    except Exception as error:
        problem = _problem(error)
        if options.strict:
            raise problem from error
        if problem.kind is WORKSPACE_UNREGISTERED:
            return None, ("not recorded: no Workspace here",)
        return None, (f"not recorded: {problem}",)


def _begin(
    ledger: Ledger, command: Sequence[str], options: RunOptions, redactor: Redactor
) -> _Begun:
    where = ledger.execute(FindWorkspace(cwd=options.cwd))
    before = Observation(from_text(where.worktree), allowed_filters=frozenset(where.filters))
    state, snapshot = before.state()
    words = [_text(word) for word in command]
    argv = redactor.argv(words)
    started = RunStarted(
        argv=argv,
        cwd=_text(where.below),
        worktree=where.worktree,
        kind=options.kind or RunKind(commands.classify(words)),
        tree=state,
        ignore=before.config.ignore,
        outputs=before.config.outputs,
        exact=argv == tuple(words) and _are_text(command),
        rerun_of=options.rerun_of,
    )
    blobs = () if snapshot is None else (snapshot,)
    told = ledger.execute(StartRun(started, blobs, options.session))
    return _Begun(told, started, before)


def _end(
    begun: _Begun,
    command: Sequence[str],
    options: RunOptions,
    ended: Exit,
    out: Sink,
    err: Sink,
) -> tuple[RunEnded, tuple[bytes, ...]]:
    """Return the end of the Run, and the blobs that it names."""
    after = begun.before.again()
    state, snapshot = after.state()
    change = differences(begun.before, after)
    counts = None if ended.fault else _counts(command, options, out, err)
    kind = _kind(command, options, counts, ended.code)
    (stdout, out_blob), (stderr, err_blob) = _kept(out, ended), _kept(err, ended)
    masked = commands.mask(command)
    if counts is not None and reports.counts_contradict(counts, ended.code):
        masked = masked or "the output reports failures"
    event = RunEnded(
        run=begun.told.run,
        kind=kind,
        exit=ended.code if ended.signal is None or ended.timed_out else None,
        signal=None if ended.timed_out else ended.signal,
        duration_ms=max(0, ended.duration_ms),
        stdout=stdout,
        stderr=stderr,
        tree=state,
        timed_out=ended.timed_out,
        crashed=_is_crash(ended),
        error=ended.refusal,
        counts=_event_counts(counts),
        counts_needed=kind is RunKind.TEST,
        masked=masked,
        moved=change.moved,
        moved_count=change.moved_count,
        products=change.products,
        product_count=change.product_count,
        notes=tuple(_notes(ended)),
    )
    return event, tuple(data for data in (snapshot, out_blob, err_blob) if data is not None)


def _why(ended: RunEnded) -> str:
    """Return in few words what the exit code alone does not tell of the verdict; mostly nothing."""
    match verdict(ended):
        case Verdict.INTERRUPTED:
            return f"signal {ended.signal}"
        case Verdict.FAILED if ended.crashed:
            return f"crashed by signal {ended.signal}"
        case Verdict.FAILED:
            return ended.error or ("timed out" if ended.timed_out else "")
        case Verdict.MASKED:
            return ended.masked
        case Verdict.VACUOUS:
            return "no counts of tests" if ended.counts is None else "no test ran"
        case Verdict.MOVED:
            return f"{ended.moved[0]} was changed"
        case Verdict.LOST | Verdict.PASSED:
            return ""


def _counts(
    command: Sequence[str], options: RunOptions, out: Sink, err: Sink
) -> reports.Counts | None:
    """Return the counts of a command that runs tests; what others print is no count."""
    is_test = RunKind.TEST in (options.kind, RunKind(commands.classify(command)))
    return reports.count(out.ending(), err.ending()) if is_test else None


def _kind(
    command: Sequence[str], options: RunOptions, counts: reports.Counts | None, code: int
) -> RunKind:
    """Return the kind: a test command that passed without counts is none of kind ``test``."""
    if options.kind is not None:
        return options.kind
    return RunKind(commands.classify(command, counted=counts is not None or code != 0))


def _kept(sink: Sink, ended: Exit) -> tuple[StreamKept, bytes | None]:
    if ended.fault is not None:
        return StreamKept(length=0, sha256=""), None
    record = sink.record()
    blob = record.kept if record.length else None
    kept = StreamKept(
        length=record.length,
        sha256=record.sha256,
        redacted=record.redacted,
        tail=record.tail,
        blob=None if blob is None else sha256(blob).hexdigest(),
        cut=record.cut,
    )
    return kept, blob


def _event_counts(counts: reports.Counts | None) -> TestCounts | None:
    if counts is None:
        return None
    return TestCounts(
        runner=counts.runner,
        passed=counts.passed,
        failed=counts.failed,
        errors=counts.errors,
        skipped=counts.skipped,
    )


def _notes(ended: Exit) -> list[str]:
    notes = []
    if ended.pipe_held:
        notes.append("a process it left behind held its output open")
    if ended.fault is not None:
        notes.append(f"its output was not recorded: {type(ended.fault).__name__}")
    return notes


def _is_crash(ended: Exit) -> bool:
    names = ("SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")
    faults = {getattr(signal, name, None) for name in names} - {None}
    return not ended.timed_out and ended.signal in faults


def _record_end(ledger: Ledger, operation: EndRun) -> None:
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
