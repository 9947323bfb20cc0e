"""Read what the next agent resumes from: the Pack, the opening statement, claims in full."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from memprove.ledger.domain import pack
from memprove.ledger.domain.capsule import Capsule
from memprove.ledger.domain.evidence import Evidence, ProofState
from memprove.ledger.domain.labels import parse_label
from memprove.ledger.operations.base import Answer, Operation, Work, about
from memprove.ledger.problems import LABEL_UNKNOWN
from memprove.ledger.projections import SessionRow

DEFAULT_BUDGET = 6_000


class PackTold(Answer, frozen=True, kw_only=True):
    """A Pack, and the opening statement that may precede it."""

    opening: str
    pack: str


class ReadPack(Operation[PackTold], msgspec.Struct, frozen=True):
    """Read the Pack of Task *task*, else of the current one, for the tree as it is now."""

    sends: ClassVar = ("getTaskCapsule", "listTasks")

    task: int | None = None
    query: str = ""
    budget: int = DEFAULT_BUDGET

    def run(self, work: Work) -> PackTold:
        """Fold, judge and render."""
        task, session = work.current_task(self.task)
        evidence = work.task_evidence(task.id)
        return PackTold(
            **about(task, session),
            opening=opening(work, evidence.capsule, session),
            pack=pack.render(evidence, query=self.query, budget=self.budget),
        )


def opening(
    work: Work, capsule: Capsule, session: SessionRow | None, also: Sequence[str] = ()
) -> str:
    """Return the opening statement to the caller, who is in *session* if that is not None."""
    agent = work.variable("MEMPROVE_AGENT_NAME") or (session.agent if session else "unnamed")
    number = session.number if session else None
    return pack.opening(capsule, now_ms=work.now, agent=agent, session=number, also=also)


class ClaimTold(msgspec.Struct, frozen=True, kw_only=True):
    """One claim in full, and what stands behind it on today's tree."""

    claim: str
    text: str
    proof: ProofState
    evidence: tuple[str, ...]
    paths: tuple[str, ...]
    decided_by: tuple[str, ...]
    changed: tuple[str, ...]
    reason: str
    session: int | None
    reaffirmed: int
    withdrawn: bool
    spooled: bool = False


class ClaimList(Answer, frozen=True, kw_only=True):
    """Claims by number."""

    claims: tuple[ClaimTold, ...]


class Claims(msgspec.Struct, frozen=True):
    """Claims with what is needed to print them; ``told`` is the same for programs."""

    told: ClaimList
    capsule: Capsule
    evidence: Evidence


class ReadClaims(Operation[Claims], msgspec.Struct, frozen=True):
    """Read claims in full: those in *claims* (numbers or labels), else all in *states*."""

    sends: ClassVar = ("getTaskCapsule", "listTasks")

    claims: tuple[str, ...] = ()
    states: tuple[ProofState, ...] = ()
    task: int | None = None

    def run(self, work: Work) -> Claims:
        """Fold and judge."""
        task, session = work.current_task(self.task)
        evidence = work.task_evidence(task.id)
        capsule = evidence.capsule
        labels = [parse_label(claim, "c") for claim in self.claims] or list(capsule.claims)
        for label in labels:
            if label not in capsule.claims:
                raise LABEL_UNKNOWN(label)
        told = [_told(evidence, label) for label in dict.fromkeys(labels)]
        if not self.claims:
            shown = self.states or tuple(s for s in ProofState if s is not ProofState.WITHDRAWN)
            told = [claim for claim in told if claim.proof in shown]
        return Claims(ClaimList(**about(task, session), claims=tuple(told)), capsule, evidence)


def _told(evidence: Evidence, label: str) -> ClaimTold:
    claim = evidence.capsule.claims[label]
    proof = evidence.prove(claim)
    return ClaimTold(
        claim=label,
        text=claim.text,
        proof=proof.state,
        evidence=tuple(map(str, claim.evidence)),
        paths=claim.paths,
        decided_by=tuple(run.label for run in proof.runs),
        changed=proof.paths,
        reason=proof.reason,
        session=claim.stated.session,
        reaffirmed=len(claim.reaffirmed),
        withdrawn=claim.withdrawn is not None,
        spooled=proof.spooled,
    )
