"""What the Runs prove today: freshness, the deciding Run of a Check, the proof of a claim.

All of it is derived on every read and never stored; reading refreshes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from memprove.ledger.domain.events import TreeState
from memprove.ledger.domain.run import Check, Run, Verdict, in_order

if TYPE_CHECKING:
    from memprove.ledger.domain.capsule import Capsule, Claim
    from memprove.ledger.domain.labels import Citation


class ProofState(StrEnum):
    """What stands behind a claim. First match in this order."""

    WITHDRAWN = "withdrawn"
    ASSERTED = "asserted"
    OBSERVED = "observed"
    REFUTED = "refuted"
    STALE = "stale"
    PROVEN = "proven"


class Changes(msgspec.Struct, frozen=True):
    """The paths that differ between a Run's tree and today's. *known* False: not to be had."""

    known: bool
    paths: tuple[str, ...] = ()


class Today(msgspec.Struct, frozen=True):
    """The caller's working tree now.

    *changes* is by tree id of a Run; paths that the ignore list names are left out of it already.
    """

    tree: str | None
    reason: str = ""
    ignore: tuple[str, ...] = ()
    changes: Mapping[str, Changes] = msgspec.field(default_factory=lambda: MappingProxyType({}))


class Freshness(msgspec.Struct, frozen=True):
    """Whether a Run's tree is today's. If not: the paths that changed, or why it is unknown."""

    fresh: bool
    paths: tuple[str, ...] = ()
    reason: str = ""


class Ground(msgspec.Struct, frozen=True):
    """What stands for one citation today: the deciding Run, and the *test* in it if one was cited.

    *outcome* is that test's; *flaky*: it both passed and failed on this very tree.
    """

    run: Run
    test: str = ""
    outcome: str = ""
    flaky: bool = False

    @property
    def contradicts(self) -> bool:
        """Tell whether it speaks against the claim."""
        return self.outcome != PASSED if self.test else self.run.verdict in _CONTRADICTS


class Proof(msgspec.Struct, frozen=True):
    """What stands behind one claim, and the grounds that say so."""

    state: ProofState
    grounds: tuple[Ground, ...] = ()
    paths: tuple[str, ...] = ()
    reason: str = ""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return the Runs of the grounds, each once."""
        return tuple({ground.run.label: ground.run for ground in self.grounds}.values())

    @property
    def spooled(self) -> bool:
        """Tell whether any of them came from the spool."""
        return any(run.spooled for run in self.runs)


Outcomes = Callable[[Run], Mapping[str, str]]
"""The outcome of each test of a Run by its id: ``passed``, ``failed``, ``error`` or ``skipped``.

It is empty for a Run that no report came with."""

PASSED: Final = "passed"
SKIPPED: Final = "skipped"
UNKNOWN_PATHS = "paths unknown"
_CONTRADICTS = frozenset({Verdict.FAILED, Verdict.VACUOUS, Verdict.MASKED})
_NEVER_DECIDES = frozenset({Verdict.INTERRUPTED, Verdict.LOST})


def freshness(run: Run, today: Today, paths: Sequence[str] = ()) -> Freshness:
    """Tell whether *run* holds for today's tree, looking at *paths* only if any are given."""
    tree = run.tree
    if tree.id is None:
        return Freshness(False, reason=f"tree of {run.label} unknown: {tree.reason}")
    if today.tree is None:
        return Freshness(False, reason=f"tree unknown: {today.reason}")
    if run.started.ignore != today.ignore:
        return Freshness(False, reason="the ignore list changed")
    if tree.id == today.tree:
        return Freshness(True)
    changes = today.changes.get(tree.id, Changes(False))
    if not changes.known:
        return Freshness(False, reason=UNKNOWN_PATHS)
    changed = changes.paths
    if paths:
        changed = tuple(path for path in changes.paths if _concerns(path, paths))
    return Freshness(not changed, changed)


class Evidence:
    """The Runs of one Task, judged on today's tree. The one place that says what decides."""

    def __init__(self, capsule: Capsule, today: Today, outcomes: Outcomes | None = None) -> None:
        self.capsule = capsule
        self.today = today
        self._outcomes = outcomes or no_outcomes
        self._deciding = _deciding_runs(capsule.runs.values(), today)

    def deciding(self, check: Check) -> Run | None:
        """Return the one Run of *check* that counts today."""
        return self._deciding.get(check)

    def checks(self) -> list[Run]:
        """Return the deciding Run of every Check of the Task, in log order."""
        return sorted(self._deciding.values(), key=lambda run: run.seq)

    def trees_in_question(self) -> list[TreeState]:
        """Return the trees, not today's, whose changes decide or explain something.

        First those of the deciding Runs, the newest first. With an ignore list a Run on another
        tree may hold, so then every Run's tree is in question.
        """
        runs = sorted(self._deciding.values(), key=lambda run: -run.seq)
        if self.today.ignore:
            runs += sorted(self.capsule.runs.values(), key=lambda run: -run.seq)
        trees = (run.tree for run in runs)
        others = (tree for tree in trees if tree.id not in (None, self.today.tree))
        return list({tree.id: tree for tree in others}.values())

    def without_spooled_passes(self) -> Evidence:
        """Return the evidence for whom a spooled Run does not prove; one that fails still does."""
        kept = {
            label: run
            for label, run in self.capsule.runs.items()
            if not (run.spooled and run.verdict is Verdict.PASSED)
        }
        capsule = replace(self.capsule, runs=MappingProxyType(kept))
        return Evidence(capsule, self.today, self._outcomes)

    def fresh(self, run: Run) -> Freshness:
        """Tell whether *run* holds for today's tree."""
        return freshness(run, self.today)

    def prove(self, claim: Claim) -> Proof:
        """Return what stands behind *claim*."""
        if claim.withdrawn is not None:
            return Proof(ProofState.WITHDRAWN)
        runs = self.capsule.runs
        citations = [citation for citation in claim.evidence if citation.is_run]
        if not citations:
            return Proof(ProofState.ASSERTED)
        if any(citation.label not in runs for citation in citations):
            return Proof(ProofState.STALE, reason="a Run behind it was erased")
        proving = [citation for citation in citations if not citation.failed]
        if not proving:
            seen = tuple(Ground(runs[citation.label]) for citation in citations)
            return Proof(ProofState.OBSERVED, seen)
        return self._judge(claim, proving)

    def _judge(self, claim: Claim, proving: list[Citation]) -> Proof:
        found = [self._ground(citation) for citation in proving]
        grounds = tuple(dict.fromkeys(ground for ground in found if ground is not None))
        refuting = tuple(ground for ground in grounds if ground.contradicts)
        if refuting:
            return Proof(ProofState.REFUTED, refuting)
        for ground in grounds:
            if ground.run.verdict is Verdict.MOVED:
                return Proof(ProofState.STALE, (ground,), reason="it changed tracked files")
            fresh = freshness(ground.run, self.today, claim.paths)
            if not fresh.fresh:
                return Proof(ProofState.STALE, (ground,), fresh.paths, fresh.reason)
        if None in found:
            return Proof(ProofState.STALE, grounds, reason="no Run decides")
        return Proof(ProofState.PROVEN, grounds)

    def _ground(self, citation: Citation) -> Ground | None:
        if citation.test:
            return self._ground_of_test(citation.test)
        run = self._deciding.get(self.capsule.runs[citation.label].check)
        return None if run is None else Ground(run)

    def _ground_of_test(self, test: str) -> Ground | None:
        """Return the newest Run, those on today's tree first, in which *test* was not skipped."""
        runs = [r for r in in_order(self.capsule.runs.values()) if r.verdict not in _NEVER_DECIDES]
        runs.reverse()
        for run in sorted(runs, key=lambda r: not is_on(r, self.today)):
            outcome = self._outcomes(run).get(test, SKIPPED)
            if outcome != SKIPPED:
                return Ground(run, test, outcome, self._is_flaky(test, run))
        return None

    def _is_flaky(self, test: str, run: Run) -> bool:
        same = [r for r in self.capsule.runs.values() if r.tree.id and r.tree.id == run.tree.id]
        outcomes = {self._outcomes(r).get(test, SKIPPED) for r in same} - {SKIPPED}
        return PASSED in outcomes and len(outcomes) > 1


def judging_blobs(capsule: Capsule) -> list[str]:
    """Return the digests of what must be at hand to judge the Task's evidence on another day."""
    needed: dict[str, None] = {}
    for run in capsule.runs.values():
        outcomes = run.ended.outcomes if run.ended else None
        needed |= {digest: None for digest in (run.tree.snapshot, outcomes) if digest}
    return sorted(needed)


def no_outcomes(_: Run) -> Mapping[str, str]:
    """Return what is known of single tests where no report is at hand: nothing."""
    return MappingProxyType({})


def is_on(run: Run, today: Today) -> bool:
    """Tell whether *run* speaks of today's tree: of that one, or of one that differs in nothing.

    The same tree counts whatever the ignore list was: no list may hide that a Run failed on it.
    """
    same = run.tree.id is not None and run.tree.id == today.tree
    return same or freshness(run, today).fresh


def _deciding_runs(runs: Iterable[Run], today: Today) -> dict[Check, Run]:
    """Return the deciding Run by Check.

    Runs on today's tree come before others, then the latest in the log; interrupted and lost Runs
    never decide.
    """
    best: dict[Check, tuple[bool, Run]] = {}
    known: dict[tuple[str | None, tuple[str, ...]], bool] = {}  # many Runs are on few trees
    for run in in_order(runs):
        if run.verdict in _NEVER_DECIDES:
            continue
        check, on = run.check, (run.tree.id, run.started.ignore)
        if on not in known:
            known[on] = is_on(run, today)
        here = known[on]
        if check not in best or here >= best[check][0]:
            best[check] = (here, run)
    return {check: run for check, (_, run) in best.items()}


def _concerns(path: str, paths: Sequence[str]) -> bool:
    """Tell whether *path* is one of *paths* or below one of them."""
    return any(path == p or path.startswith(f"{p}/") for p in (p.strip("/") for p in paths))
