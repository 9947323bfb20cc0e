"""The gate: a Task completes only on a passed Run that is fresh.

It judges the Task's Checks from the ledger, never from a file of the Workspace. At least one
deciding Run of a kind that counts passed on today's tree, and none of them fails there.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from memprove.ledger.domain import limits
from memprove.ledger.domain.decide import UNFIT
from memprove.ledger.domain.events import COUNTING, Completion, Judged, RunKind
from memprove.ledger.domain.evidence import Evidence, is_on
from memprove.ledger.domain.labels import parse_label
from memprove.ledger.domain.run import Run, Verdict
from memprove.ledger.problems import (
    EVIDENCE_STALE,
    LABEL_UNKNOWN,
    NO_PASSED_RUN,
    RUN_SPOOLED,
    Problem,
)

_CONTRADICTS: Final = (Verdict.FAILED, Verdict.VACUOUS, Verdict.MASKED)
"""What contradicts a completion. A failure always does; the owner may accept the others: what they
ran was not tested."""


def judge(
    evidence: Evidence,
    *,
    runs: Sequence[str] = (),
    kinds: Iterable[RunKind] = COUNTING,
    accept_stale: str = "",
    accept_untested: str = "",
    spooled: bool = False,
) -> Completion:
    """Return on what the Task may be completed, or raise the Problem that says why not.

    *spooled*: Runs from the spool count too. Without it one that fails still speaks against.
    """
    limits.check_text("accept-stale", accept_stale, limits.STATEMENT)
    limits.check_text("accept-untested", accept_untested, limits.STATEMENT)
    heard = evidence
    evidence = heard if spooled else heard.without_spooled_passes()
    judged = [run for run in evidence.checks() if run.kind in COUNTING]
    refusing = _CONTRADICTS[:1] if accept_untested else _CONTRADICTS
    against = [r for r in judged if r.verdict in refusing and is_on(r, evidence.today)]
    if against:
        labels = ", ".join(run.label for run in against)
        count = "count" if len(against) > 1 else "counts"
        kind = UNFIT[against[0].verdict]
        raise kind(f"{labels} {count} for as long as the tree is as it is now")
    for label in () if spooled else runs:
        _check_recorded(heard, label)
    named = [_named(evidence, label, stale_ok=bool(accept_stale)) for label in runs]
    if not accept_untested:
        try:
            _one_passed(evidence, judged, frozenset(kinds), stale_ok=bool(accept_stale))
        except Problem:
            _check_not_hearsay(heard, frozenset(kinds))
            raise
    return Completion(
        judged=tuple(
            Judged(
                run=run.label,
                verdict=run.verdict,
                fresh=evidence.fresh(run).fresh,
                spooled=run.spooled,
            )
            for run in dict.fromkeys((*judged, *named))
        ),
        tree=evidence.today.tree,
        ignore=evidence.today.ignore,
        accept_stale=accept_stale,
        accept_untested=accept_untested,
    )


def _check_recorded(evidence: Evidence, text: str) -> None:
    """Raise ``run_spooled`` if what *text* names passed, but by the spool alone."""
    run = evidence.capsule.runs.get(parse_label(text, "rx"))
    if run is not None and run.spooled and run.verdict is Verdict.PASSED:
        raise RUN_SPOOLED(run.label)


def _check_not_hearsay(evidence: Evidence, kinds: frozenset[RunKind]) -> None:
    """Raise ``run_spooled`` if spooled Runs would do, were they allowed."""
    passed = [
        run.label
        for run in evidence.checks()
        if run.spooled and run.kind in kinds and run.verdict is Verdict.PASSED
    ]
    if passed:
        raise RUN_SPOOLED(", ".join(passed))


def _named(evidence: Evidence, text: str, *, stale_ok: bool) -> Run:
    label = parse_label(text, "rx")
    cited = evidence.capsule.runs.get(label)
    if cited is None:
        raise LABEL_UNKNOWN(label)
    run = evidence.deciding(cited.check) or cited
    if run.verdict is not Verdict.PASSED:
        raise UNFIT[run.verdict](run.label)
    if not stale_ok:
        _check_fresh(evidence, run)
    return run


def _one_passed(
    evidence: Evidence, runs: Sequence[Run], kinds: frozenset[RunKind], *, stale_ok: bool
) -> None:
    judged = [run for run in runs if run.kind in kinds]
    passed = [run for run in judged if run.verdict is Verdict.PASSED]
    if any(stale_ok or evidence.fresh(run).fresh for run in passed):
        return
    if passed:
        _check_fresh(evidence, passed[-1])
    if judged:
        run = judged[-1]
        kind = EVIDENCE_STALE if run.verdict is Verdict.MOVED else UNFIT[run.verdict]
        raise kind(run.label)
    fewer = kinds != COUNTING
    raise NO_PASSED_RUN(f"here only {', '.join(sorted(kinds))} counts" if fewer else "")


def _check_fresh(evidence: Evidence, run: Run) -> None:
    fresh = evidence.fresh(run)
    if not fresh.fresh:
        shown = ", ".join(fresh.paths[:3]) + (" changed" if fresh.paths else fresh.reason)
        raise EVIDENCE_STALE(f"{run.label}: {shown}; rerun it with `memprove rerun {run.label}`")
