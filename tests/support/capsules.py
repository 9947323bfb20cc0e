"""Tasks for tests: real Records, built event by event, folded into real Capsules."""

import shlex
from collections.abc import Mapping, Sequence

from memprove.ledger.domain import events as e
from memprove.ledger.domain import record
from memprove.ledger.domain.capsule import Capsule, fold
from memprove.ledger.domain.evidence import Changes, Evidence, Today
from memprove.ledger.domain.record import Record
from memprove.ledger.domain.run import Verdict

TREE = "9c1e2ab" + "0" * 33
"""Today's tree, unless a test says otherwise."""
OLD = "01dbeef" + "0" * 33
"""Another tree."""
START = 1_790_000_000_000
"""When the first event was written, in milliseconds; each further one a second later."""

NO_OUTPUT = e.StreamKept(
    length=0, sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
)


def counts(passed: int, failed: int = 0, errors: int = 0, skipped: int = 0) -> e.TestCounts:
    """Return counts as pytest's summary gives them."""
    return e.TestCounts(
        runner="pytest", passed=passed, failed=failed, errors=errors, skipped=skipped
    )


class Story:
    """The Records of one Task. Labels are numbered as the append numbers them."""

    def __init__(self, title: str = "Fix nested list parsing", *, raw: bool = False) -> None:
        """Begin with the Task. *raw*: keep events as they are, also what no ledger would store."""
        self.records: list[Record] = []
        self._raw = raw
        self._last: dict[str, int] = {"s": 5}
        self.add(e.TaskCreated(id="0198c0de", title=title), labels=("t3",))
        self.move(e.TaskState.PENDING, e.TaskState.IN_PROGRESS)

    def add(
        self, event: e.Event, *, labels: Sequence[str] = (), session: int | None = None
    ) -> None:
        """Append *event*."""
        kind, version = record.kind_of(event)
        seq = len(self.records) + 1
        leaf = record.Leaf(
            v=record.LEAF_VERSION,
            seq=seq,
            kind=kind,
            kind_v=version,
            at=START + 1000 * seq,
            actor=record.Actor(
                installation="i", token="t", role="agent", face="cli", session=session
            ),
            stream="task",
            stream_seq=seq,
            payload="00",
            workspace="w",
            labels=tuple(labels),
        )
        stored = Record(leaf, event) if self._raw else record.decode(leaf, record.encode(event))
        self.records.append(stored)

    def move(
        self,
        source: e.TaskState,
        target: e.TaskState,
        completion: e.Completion | None = None,
    ) -> None:
        """Move the Task."""
        self.add(e.TaskMoved(source=source, target=target, completion=completion))

    def session(self, agent: str = "claude-code", role: str = "", parent: int | None = None) -> int:
        """Begin a Session and return its number: 6, 7, …"""
        label = self._next("s")
        number = int(label[1:])
        event = e.SessionStarted(id=f"id{number}", agent=agent, role=role, parent=parent)
        self.add(event, labels=(label,), session=number)
        return number

    def end(self, session: int, note: str = "", *, abandoned: bool = False) -> None:
        """End a Session."""
        self.add(e.SessionEnded(session=session, note=note, abandoned=abandoned), session=session)

    def start(
        self,
        command: str | Sequence[str],
        *,
        kind: e.RunKind = e.RunKind.TEST,
        tree: str | None = TREE,
        ignore: tuple[str, ...] = (),
        cwd: str = "",
    ) -> str:
        """Start a Run that never ends, and return its label."""
        argv = tuple(shlex.split(command) if isinstance(command, str) else command)
        label = self._next("r")
        state = e.TreeState(id=tree, reason="" if tree else "timeout")
        event = e.RunStarted(
            argv=argv, cwd=cwd, worktree="main", kind=kind, tree=state, ignore=ignore
        )
        self.add(event, labels=(label,), session=self._last["s"])
        return label

    def run(
        self,
        command: str | Sequence[str],
        tests: e.TestCounts | None = None,
        *,
        exit: int | None = None,
        signal: int | None = None,
        crashed: bool = False,
        tree: str | None = TREE,
        reason: str = "timeout",
        hidden: int = 0,
        kind: e.RunKind = e.RunKind.TEST,
        ms: int = 1_900,
        ignore: tuple[str, ...] = (),
        cwd: str = "",
        masked: str = "",
        moved: tuple[str, ...] = (),
        products: tuple[str, ...] = (),
        counts_needed: bool | None = None,
    ) -> str:
        """Run a command, which fails if tests failed, and return its label."""
        label = self.start(command, kind=kind, tree=tree, ignore=ignore, cwd=cwd)
        if exit is None and signal is None:
            exit = 1 if tests and tests.failed + tests.errors else 0
        needed = kind is e.RunKind.TEST if counts_needed is None else counts_needed
        event = e.RunEnded(
            run=label,
            kind=kind,
            exit=exit,
            signal=signal,
            crashed=crashed,
            duration_ms=ms,
            stdout=NO_OUTPUT,
            stderr=NO_OUTPUT,
            tree=e.TreeState(id=tree, reason="" if tree else reason, hidden=hidden),
            counts=tests,
            counts_needed=needed,
            masked=masked,
            moved=moved,
            moved_count=len(moved),
            products=products,
            product_count=len(products),
        )
        self.add(event, session=self._last["s"])
        return label

    def fact(
        self, text: str, *evidence: str, paths: tuple[str, ...] = (), next_action: str = ""
    ) -> str:
        """State one fact in a checkpoint of the last Session and return its label."""
        label = self._next("c")
        fact = e.Fact(text=text, evidence=evidence, paths=paths)
        event = e.CheckpointRecorded(facts=(fact,), next_action=next_action)
        self.add(event, labels=(label,), session=self._last["s"])
        return label

    def open(self, text: str) -> str:
        """Open an item and return its label."""
        label = self._next("o")
        self.say(e.CheckpointRecorded(opened=(text,)), label)
        return label

    def say(self, checkpoint: e.CheckpointRecorded, *labels: str) -> None:
        """Record *checkpoint* in the last Session."""
        self.add(checkpoint, labels=labels, session=self._last["s"])

    def propose(
        self,
        choice: str,
        rationale: str,
        *,
        title: str = "",
        alternatives: tuple[str, ...] = (),
        supersedes: str = "",
    ) -> str:
        """Propose a Decision and return its label."""
        label = self._next("d")
        event = e.DecisionProposed(
            title=title or choice,
            choice=choice,
            rationale=rationale,
            alternatives=alternatives,
            supersedes=supersedes,
        )
        self.add(event, labels=(label,), session=self._last["s"])
        return label

    def decide(self, label: str, outcome: e.DecisionState = e.DecisionState.ACCEPTED) -> None:
        """Decide a Decision."""
        self.add(e.DecisionDecided(decision=label, outcome=outcome))

    def capsule(self) -> Capsule:
        """Return the Capsule of all of it."""
        return fold(self.records)

    def evidence(self, today: Today | None = None) -> Evidence:
        """Return the Capsule with its Runs judged on *today*."""
        return Evidence(self.capsule(), today or Today(TREE))

    def _next(self, letter: str) -> str:
        self._last[letter] = self._last.get(letter, 0) + 1
        return f"{letter}{self._last[letter]}"


def today(
    tree: str | None = TREE,
    changes: Mapping[str, Sequence[str]] | None = None,
    *,
    reason: str = "",
    ignore: tuple[str, ...] = (),
) -> Today:
    """Return today's tree; *changes*: the paths that changed since a Run's tree."""
    known = {old: Changes(True, tuple(paths)) for old, paths in (changes or {}).items()}
    return Today(tree, reason, ignore, known)


def example() -> Story:
    """Return the Task whose Pack, cut to 900 units, is the example of the design."""
    story = Story()
    session = story.session("claude-code")
    story.fact("the grammar file is generated")
    story.run("pytest -q", counts(209, 1), tree=OLD)
    story.fact("a list in a list in a list was cut off at the second level of it", "!r1")
    story.run("pytest -q tests/errors", counts(14), tree=OLD)
    story.fact("an unclosed bracket raises ParseError", "r2")
    story.run("pytest -q", counts(210, 2), tree=OLD)
    story.fact("an empty list in a list made the parser return None at its end", "!r3")
    for _ in range(4):
        story.run("pytest -q tests/depth", counts(8, 1), tree=OLD)
    story.run("pytest -q tests/depth", counts(9), tree=OLD)
    story.fact("depth 64 works", "r8")
    story.run("pytest -q tests/errors", counts(13, 1))
    story.run("pytest -q", counts(212, 2), tree=OLD)
    story.fact("a comment between two lists made the parser lose the second one", "!r10")
    story.run("pytest -q", counts(213, 1))
    story.run("pytest -q", counts(214), ms=12_300)
    story.fact("nested lists parse", "r12")
    story.open("a test for the empty list")
    story.open("error text for an unclosed bracket")
    story.open("name the level in the error")
    story.open("Windows line ends not tried")
    story.decide(story.propose("hand-written lexer", "error positions matter"))
    following = "run the fuzz corpus again after the lexer change"
    story.say(e.CheckpointRecorded(closed=("o1", "o3"), next_action=following))
    story.end(session)
    return story


def every_verdict() -> Story:
    """Return a Task with a Session and a Run of every verdict, ``r1`` to ``r7`` (``VERDICTS``)."""
    story = Story()
    story.session()
    story.run("pytest", counts(3))
    story.run("pytest", counts(2, 1))
    story.run("pytest", counts(0))
    story.run("pytest", counts(3), masked="a pipe")
    story.run("pytest", counts(3), moved=("a.py",))
    story.run("pytest", signal=9)
    story.start("pytest")
    return story


VERDICTS = {
    "r1": Verdict.PASSED,
    "r2": Verdict.FAILED,
    "r3": Verdict.VACUOUS,
    "r4": Verdict.MASKED,
    "r5": Verdict.MOVED,
    "r6": Verdict.INTERRUPTED,
    "r7": Verdict.LOST,
}
"""How each Run of ``every_verdict`` ended."""
