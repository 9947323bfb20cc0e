"""How a Run ended: from what was seen of a command to the event, and the blobs that it names."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from memprove.ledger.capture import commands, junit, reports
from memprove.ledger.capture.counts import Counts, counts_contradict
from memprove.ledger.capture.junit_xml import Fault
from memprove.ledger.capture.process import Exit
from memprove.ledger.capture.streams import Sink
from memprove.ledger.capture.wrappers import unwrapped
from memprove.ledger.domain.events import RunEnded, RunKind, StreamKept, TestCounts
from memprove.ledger.domain.redaction import Redactor
from memprove.ledger.domain.run import Verdict, verdict
from memprove.ledger.observation import Observation, differences
from memprove.ledger.outcomes import encode_outcomes


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a command.

    *kind*: what its caller said it is; *report*: its JUnit report, if it was asked for.
    """

    command: Sequence[str]
    kind: RunKind | None
    ended: Exit
    out: Sink
    err: Sink
    report: junit.Report | Fault | None = None


def run_ended(
    label: str, seen: Seen, *, before: Observation, after: Observation, redactor: Redactor
) -> tuple[RunEnded, tuple[bytes, ...]]:
    """Return the end of the Run *label*, and the blobs that it names."""
    ended = seen.ended
    state, snapshot = after.state()
    change = differences(before, after)
    counts, source = _counts(seen)
    kind = _kind(seen, counted=counts is not None)
    (stdout, out_blob), (stderr, err_blob) = _kept(seen.out, ended), _kept(seen.err, ended)
    outcomes = _outcomes(seen, redactor)
    event = RunEnded(
        run=label,
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
        counts=_event_counts(counts, source),
        counts_needed=kind is RunKind.TEST,
        outcomes=_digest(outcomes),
        masked=_masked(seen, counts),
        moved=change.moved,
        moved_count=change.moved_count,
        products=change.products,
        product_count=change.product_count,
        notes=tuple(_notes(seen)),
    )
    blobs = (snapshot, out_blob, err_blob, outcomes)
    return event, tuple(data for data in blobs if data is not None)


def why(ended: RunEnded) -> str:
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


def _counts(seen: Seen) -> tuple[Counts | None, str]:
    """Return the counts of a command that runs tests, and where they were read.

    A report that changed during the Run comes first. What other commands print is no count.
    """
    if isinstance(seen.report, junit.Report):
        return seen.report.counts, "junit"
    is_test = RunKind.TEST in (seen.kind, RunKind(commands.classify(seen.command)))
    return (_printed(seen), "output") if is_test else (None, "")


def _printed(seen: Seen) -> Counts | None:
    """Return the counts that stand in the output, whatever command printed them."""
    if seen.ended.fault is not None:
        return None
    return reports.count(seen.out.ending(), seen.err.ending())


def _kind(seen: Seen, *, counted: bool) -> RunKind:
    """Return the kind: a test command that passed without counts is none of kind ``test``."""
    if seen.ended.refusal or _is_misuse(seen):
        return RunKind.OTHER  # nothing was tested, built or linted: a slip of the fingers
    if seen.kind in (RunKind.BUILD, RunKind.LINT) and commands.is_no_op(seen.command):
        return RunKind.OTHER  # whoever says so: it builds and lints nothing
    if seen.kind is not None:
        return seen.kind
    if isinstance(seen.report, junit.Report):
        return RunKind.TEST
    return RunKind(commands.classify(seen.command, counted=counted or seen.ended.code != 0))


def _is_misuse(seen: Seen) -> bool:
    """Tell whether pytest did not understand its arguments: its exit code 4 says only that."""
    words = unwrapped(seen.command) or [""]
    return seen.ended.code == 4 and words[0].rpartition("/")[2] in ("pytest", "py.test")


def _masked(seen: Seen, counts: Counts | None) -> str:
    """Return why the exit code cannot be trusted; empty if it can.

    What any command prints counts here: a script or a makefile may run tests and swallow failures.
    """
    reason = commands.mask(seen.command)
    if reason or seen.ended.code != 0:
        return reason
    reported = counts if counts is not None else _printed(seen)
    if reported is not None and counts_contradict(reported, seen.ended.code):
        return "failures are reported beside exit code 0"
    ignored = seen.ended.fault is None and reports.make_ignored(
        seen.out.ending(), seen.err.ending()
    )
    return "make ignored an error" if ignored else ""


def _outcomes(seen: Seen, redactor: Redactor) -> bytes | None:
    if not isinstance(seen.report, junit.Report):
        return None
    return encode_outcomes(seen.report.outcomes, redactor)


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
        blob=_digest(blob),
        cut=record.cut,
    )
    return kept, blob


def _digest(blob: bytes | None) -> str | None:
    return None if blob is None else sha256(blob).hexdigest()


def _event_counts(counts: Counts | None, source: str) -> TestCounts | None:
    if counts is None:
        return None
    return TestCounts(
        runner=counts.runner,
        source=source,
        passed=counts.passed,
        failed=counts.failed,
        errors=counts.errors,
        skipped=counts.skipped,
    )


def _notes(seen: Seen) -> list[str]:
    notes = []
    if seen.ended.one_terminal:
        notes.append("stdout and stderr were one terminal")
    if seen.ended.pipe_held:
        notes.append("a process it left behind held its output open")
    if seen.ended.fault is not None:
        notes.append(f"its output was not recorded: {type(seen.ended.fault).__name__}")
    if seen.ended.undelivered:
        notes.append(f"its output was not passed on to its end: {seen.ended.undelivered}")
    if isinstance(seen.report, Fault):
        notes.append(f"no outcomes of tests, the report: {seen.report}")
    return notes


def _is_crash(ended: Exit) -> bool:
    names = ("SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")
    faults = {getattr(signal, name, None) for name in names} - {None}
    return not ended.timed_out and ended.signal in faults
