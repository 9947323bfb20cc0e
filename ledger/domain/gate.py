"""The gate of CI: whether what a Task claims holds on the tree that is checked out.

``fresh`` asks that nothing claimed is stale or refuted today, that no Check fails here, and that
something is proven: a Task that claims nothing would be green on every tree. What rests on spooled
Runs, recorded by hearsay, passes only where they are allowed; one that fails always counts.
``complete`` asks that the Task's newest state is completed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memprove.ledger.domain.capsule import Claim
from memprove.ledger.domain.events import COUNTING, TaskState
from memprove.ledger.domain.evidence import Evidence, Proof, ProofState, is_on
from memprove.ledger.domain.lines import Lines
from memprove.ledger.domain.run import Run, Verdict

_FAILS: Final = (ProofState.REFUTED, ProofState.STALE)
_CONTRADICTS: Final = (Verdict.FAILED, Verdict.VACUOUS, Verdict.MASKED)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What the gate misses: *label* names what, *line* says which command and what changed.

    *paths* are those whose change brought it about, as git names them.
    """

    label: str
    state: str
    line: str
    paths: tuple[str, ...] = ()


def shortfalls(
    evidence: Evidence, *, fresh: bool, complete: bool, spooled: bool = False
) -> tuple[Shortfall, ...]:
    """Return what the Task misses of what is demanded, the gravest first; nothing: it passes.

    *spooled*: Runs from the spool prove, too.
    """
    found = list(_unfresh(evidence, spooled)) if fresh else []
    if complete and evidence.capsule.state is not TaskState.COMPLETED:
        found.append(_incomplete(evidence))
    return tuple(found)


def proofs(evidence: Evidence) -> list[tuple[Claim, Proof]]:
    """Return what stands behind each claim that was not withdrawn, the worst first."""
    judged = [(claim, evidence.prove(claim)) for claim in evidence.capsule.claims.values()]
    order = (*_FAILS, ProofState.PROVEN, ProofState.OBSERVED, ProofState.ASSERTED)
    live = [pair for pair in judged if pair[1].state in order]
    return sorted(live, key=lambda pair: order.index(pair[1].state))


def _unfresh(evidence: Evidence, spooled: bool) -> Iterator[Shortfall]:
    lines = Lines(evidence)
    if evidence.today.tree is None:
        yield Shortfall("tree", "unknown", lines.task())
        return
    judged = proofs(evidence)
    for claim, proof in judged:
        if proof.state in _FAILS:
            yield Shortfall(claim.label, proof.state, lines.claim(claim, proof), proof.paths)
        elif proof.spooled and not spooled and proof.state is ProofState.PROVEN:
            yield Shortfall(claim.label, "spooled", lines.claim(claim, proof))
    heard = evidence if spooled else evidence.without_spooled_passes()
    runs = [run for run in heard.checks() if run.kind in COUNTING]
    for run in runs:
        if run.verdict in _CONTRADICTS and is_on(run, evidence.today):
            yield Shortfall(run.label, run.verdict, lines.run(run))
    if not any(proof.state in (*_FAILS, ProofState.PROVEN) for _, proof in judged):
        yield from _nothing_proven(evidence, runs)


def _nothing_proven(evidence: Evidence, runs: list[Run]) -> Iterator[Shortfall]:
    """Yield that a Task without a claim to judge has no Check that passed on today's tree."""
    passed = [run for run in runs if run.verdict is Verdict.PASSED]
    if any(evidence.fresh(run).fresh for run in passed):
        return
    if not passed:
        what = "no Run of tests, build or lint passed, and no claim is proven"
        yield Shortfall(f"Task {evidence.capsule.number}", "unproven", what)
        return
    run = passed[-1]
    line = Lines(evidence).ground(run)
    yield Shortfall(run.label, ProofState.STALE, line, evidence.fresh(run).paths)


def _incomplete(evidence: Evidence) -> Shortfall:
    capsule = evidence.capsule
    return Shortfall(f"Task {capsule.number}", capsule.state, Lines(evidence).task())
