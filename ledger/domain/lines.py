"""One line for each kind of thing in a Task, alike in the Pack, ``claims``, ``show`` and receipts.

Labels and our words come first, stored text last: between “ and ” what was said, between backticks
commands and paths. No line ends with a line feed, none holds one. Times are stored ones; the only
thing of today in a line is what today's tree makes of the evidence.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from memprove.ledger.domain import printing
from memprove.ledger.domain.capsule import Claim, Decision, OpenItem, Session, Stated
from memprove.ledger.domain.events import RunKind, TaskState, TreeState
from memprove.ledger.domain.evidence import Evidence, Ground, Proof, ProofState
from memprove.ledger.domain.labels import Citation
from memprove.ledger.domain.run import Check, Run, Verdict

PATHS_NAMED: Final = 3
"""How many changed paths a line names before it counts the rest."""
RUNS_NAMED: Final = 5
"""How many Runs behind a claim a cut line names before it counts the rest."""

_UNCUT: Final = 1 << 30
_PATH_LIMIT: Final = 60
_LEAST_COMMAND: Final = 24
_REASON_LIMIT: Final = 80
_PLAIN_REASON: Final = re.compile(r"[A-Za-z0-9 .,:;/_()+-]+")


class Lines:
    """The lines of one Task.

    *limit*: the most UTF-16 units that the stored text of one line takes between its “ and ”, in
    all; 3 or more. None: nothing is cut.
    """

    def __init__(self, evidence: Evidence, limit: int | None = None) -> None:
        self._evidence = evidence
        self._capsule = evidence.capsule
        self._limit = limit

    @cached_property
    def _earlier(self) -> dict[str, tuple[str, int]]:
        return _earlier_passes(self._capsule.runs.values())

    def task(self) -> str:
        """Return the Task: its state and why, what was accepted without proof, today's doubts."""
        capsule, today = self._capsule, self._evidence.today
        parts = [f"Task {capsule.number}", self._state(), *self._accepted()]
        if today.ignore:
            parts.append(f"ignoring {counted(len(today.ignore), 'pattern')}")
        if today.tree is None:
            parts.append(f"tree unknown: {_reason(today.reason, self._limit)}")
        return " · ".join([*parts, self._quoted(capsule.title)])

    def description(self) -> str:
        """Return what the Task is about; empty if nobody said."""
        said = self._capsule.description
        return f"About: {self._quoted(said)}" if said.strip() else ""

    def _state(self) -> str:
        """Return the Task's state: of a blocked one why, of a completed one on what gaps."""
        capsule = self._capsule
        last = capsule.moves[-1] if capsule.moves else None
        if last is None:
            return capsule.state.value
        if last.comment and capsule.state in (TaskState.BLOCKED, TaskState.CANCELED):
            return f"{capsule.state.value} {self._quoted(last.comment)}"
        gaps = [
            f"{printing.name(judged.run)} {printing.name(judged.verdict)}"
            for judged in (last.completion.judged if last.completion else ())
            if judged.verdict != Verdict.PASSED
        ]
        return f"{capsule.state.value} with {', '.join(gaps)}" if gaps else capsule.state.value

    def _accepted(self) -> list[str]:
        """Return what an owner accepted in place of proof, the newest reason of each kind."""
        accepted: dict[str, str] = {}
        for move in self._capsule.moves:
            by = " by an agent" if move.stated.by_agent else ""
            for word, reason in (
                ("stale", move.completion.accept_stale if move.completion else ""),
                ("untested", move.completion.accept_untested if move.completion else ""),
            ):
                if reason:
                    accepted[word] = f"accepted {word}{by} {self._quoted(reason)}"
        return [accepted[word] for word in ("stale", "untested") if word in accepted]

    def next_action(self) -> str:
        """Return what the last Session said comes next; empty if none did."""
        following = self._capsule.next_action
        if following is None:
            return ""
        who = [printing.name(following.agent)] if following.agent else []
        if following.stated.session is not None:
            who.append(f"Session {following.stated.session}")
        named = f" ({', '.join(who)})" if who else ""
        return f"Next{named}: {self._quoted(following.text)}"

    def item(self, item: OpenItem) -> str:
        """Return an open item."""
        return f"{item.label} {self._quoted(item.text)}"

    def claim(self, claim: Claim, proof: Proof | None = None) -> str:
        """Return a claim and what stands behind it today; *proof* saves deriving it again."""
        proof = proof or self._evidence.prove(claim)
        parts = self._behind(proof)
        if cited := [str(citation) for citation in claim.evidence if not citation.is_run]:
            parts.append(" ".join(cited))
        if claim.paths:
            parts.append(f"paths {self._paths(claim.paths)}")
        return f"{claim.label} {' · '.join([*parts, self._quoted(claim.text)])}"

    def claim_history(self, claim: Claim) -> list[str]:
        """Return the lines to follow an uncut claim: proof, citations, who said it and when."""
        proof = self._evidence.prove(claim)
        heard = " (spooled)" if proof.spooled else ""
        lines = [f"proof {proof.state}{heard}", f"stated {self._when(claim.stated)}"]
        if claim.evidence:
            lines.append(f"cites {' '.join(map(_cited, claim.evidence))}")
        lines += [f"reaffirmed {self._when(again)}" for again in claim.reaffirmed]
        if claim.withdrawn is not None:
            lines.append(f"withdrawn {self._when(claim.withdrawn)}")
        return [f"  {line}" for line in lines]

    def decision(self, decision: Decision) -> str:
        """Return a Decision; its title only where it is not the choice; uncut, the alternatives."""
        titled = decision.title != decision.choice
        texts = 3 if titled else 2
        title = f"{self._quoted(decision.title, texts)}: " if titled else ""
        choice, why = (self._quoted(text, texts) for text in (decision.choice, decision.rationale))
        line = f"{decision.label} {decision.state} · {title}{choice} because {why}"
        if self._limit is None and decision.alternatives:
            line += f", not {', '.join(map(printing.quoted, decision.alternatives))}"
        return line

    def run(self, run: Run) -> str:
        """Return a Run: how it ended, what it counted, how long it took, on which tree."""
        words = [run.label, run.verdict.value, self._counts(run)]
        if run.spooled:
            words.insert(2, "(spooled)")
        if run.ended is not None:
            words.append(f"{run.ended.duration_ms / 1000:.1f} s")
        words.append(_tree(run.tree, self._limit) + self._age(run))
        if run.ended is not None and run.ended.moved:
            count = max(run.ended.moved_count, len(run.ended.moved))
            words.append(f"changed {self._paths(run.ended.moved, count)}")
        return f"{' '.join(words)} {self._command(run)}"

    def ground(self, run: Run) -> str:
        """Return a Run as what something rests on: its command, what it showed, what changed."""
        fresh = self._evidence.fresh(run)
        behind = self._behind(Proof(ProofState.STALE, (Ground(run),), fresh.paths, fresh.reason))
        return behind[0]

    def _age(self, run: Run) -> str:
        """Return whether today's tree is another one than that of *run*."""
        known = run.tree.id is not None and self._evidence.today.tree is not None
        return ", stale" if known and not self._evidence.fresh(run).fresh else ""

    def session(self, session: Session) -> str:
        """Return a Session: who, as what, whether it is open, and its note."""
        role = f" ({printing.name(session.role)})" if session.role else ""
        state = "open" if session.ended is None else "abandoned" if session.abandoned else "ended"
        under = "" if session.parent is None else f", under Session {session.parent}"
        note = f" · {self._quoted(session.note)}" if session.note else ""
        return f"Session {session.number} {printing.name(session.agent)}{role} {state}{under}{note}"

    def _behind(self, proof: Proof) -> list[str]:
        """Return the grounds of *proof*, and why they prove nothing today: no part or one."""
        most = len(proof.grounds) if self._limit is None else RUNS_NAMED
        mark = "!" if proof.state is ProofState.OBSERVED else ""
        share = min(most, len(proof.grounds))
        parts = [
            f"{mark}{ground.run.label} {self._command(ground.run, share)} {self._shown(ground)}"
            for ground in proof.grounds[:most]
        ]
        if len(proof.grounds) > most:
            parts.append(counted(len(proof.grounds) - most, "more Run"))
        if proof.paths:
            parts.append(f"then {self._paths(proof.paths)} changed{_made_by(proof)}")
        if proof.reason:
            parts.append(_reason(proof.reason, self._limit))
        return [", ".join(parts)] if parts else []

    def _shown(self, ground: Ground) -> str:
        """Return what the Run showed, or the one test in it that was cited."""
        heard = " (spooled)" if ground.run.spooled else ""
        if not ground.test:
            return f"{self._outcome(ground.run)}{heard}"
        flaky = ", flaky on this tree" if ground.flaky else ""
        return f"test {self._path(ground.test)} {printing.name(ground.outcome)}{flaky}{heard}"

    def _outcome(self, run: Run) -> str:
        """Return kind and counts, and the verdict where they do not tell it."""
        counts = run.ended.counts if run.ended else None
        broken = run.kind is RunKind.TEST and counts is not None and counts.passed < counts.ran
        told = run.verdict is Verdict.PASSED or (run.verdict is Verdict.FAILED and broken)
        return self._counts(run) if told else f"{self._counts(run)} {run.verdict}"

    def _counts(self, run: Run) -> str:
        counts = run.ended.counts if run.ended else None
        if run.kind is not RunKind.TEST or counts is None:
            return run.kind.value
        text = f"{run.kind} {counts.passed}/{counts.ran}"
        if counts.skipped:
            text += f", {counts.skipped} skipped"
        label, before = self._earlier.get(run.label, ("", 0))
        if counts.ran < before:
            text += f", {counted(counts.ran, 'test')} ({before} in {label})"
        return text

    def _command(self, run: Run, shares: int = 1) -> str:
        limit = _UNCUT
        if self._limit is not None:
            limit = max(min(printing.COMMAND_LIMIT, self._limit) // shares, _LEAST_COMMAND)
        command = printing.command(run.started.argv, limit=limit)
        inside = run.started.cwd not in ("", ".")
        return f"{command} in {self._path(run.started.cwd)}" if inside else command

    def _paths(self, paths: Sequence[str], count: int = 0) -> str:
        """Return the first of *paths*, and how many more of *count* there are."""
        named = ", ".join(self._path(path) for path in paths[:PATHS_NAMED])
        more = max(count, len(paths)) - len(paths[:PATHS_NAMED])
        return f"{named} and {more} more" if more else named

    def _path(self, path: str) -> str:
        return printing.code(path, limit=None if self._limit is None else _PATH_LIMIT)

    def _quoted(self, text: str, texts: int = 1) -> str:
        limit = None if self._limit is None else max(self._limit // texts, 3)
        return printing.quoted(text, limit=limit)

    def _when(self, stated: Stated) -> str:
        session = self._capsule.sessions.get(stated.session) if stated.session else None
        agent = f" by {printing.name(session.agent)}" if session else ""
        where = f" in Session {stated.session}" if stated.session else ""
        return f"{utc(stated.at)}{agent}{where}, event {stated.seq}"


def utc(milliseconds: int) -> str:
    """Return a moment in UTC, to the second, RFC 3339."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(count: int, noun: str) -> str:
    """Return *count* of *noun*, in the plural unless it is one."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _earlier_passes(runs: Iterable[Run]) -> dict[str, tuple[str, int]]:
    """Return by a Run's label its Check's newest earlier pass: label, and tests with a result."""
    newest: dict[Check, tuple[str, int]] = {}
    earlier: dict[str, tuple[str, int]] = {}
    for run in runs:
        check, ended = run.check, run.ended
        if check in newest:
            earlier[run.label] = newest[check]
        if ended is not None and ended.counts is not None and run.verdict is Verdict.PASSED:
            newest[check] = (run.label, ended.counts.ran)
    return earlier


def _cited(citation: Citation) -> str:
    test = f":{printing.code(citation.test)}" if citation.test else ""
    return f"{'!' if citation.failed else ''}{citation.label}{test}"


def _made_by(proof: Proof) -> str:
    """Return what to do where nothing but a Run's own products changed since."""
    run = proof.runs[0]
    made = run.ended.products if run.ended else ()
    own = set(proof.paths) <= set(made)
    return f", which {run.label} itself made: name it in [evidence] ignore" if own else ""


def _tree(tree: TreeState, limit: int | None) -> str:
    """Return the tree of a Run, and how many files of it git's local excludes hide."""
    hidden = f" hidden: {tree.hidden}" if tree.hidden else ""
    if tree.id is None:
        return f"tree unknown: {_reason(tree.reason, limit)}{hidden}"
    return f"tree {printing.name(tree.id[:7])}{hidden}"


def _reason(reason: str, limit: int | None) -> str:
    """Return why something is unknown: plain where it can be mistaken for nothing else."""
    most = _REASON_LIMIT if limit is None else min(limit, _REASON_LIMIT)
    if len(reason) <= most and _PLAIN_REASON.fullmatch(reason):
        return reason
    return printing.code(reason, limit=most)
