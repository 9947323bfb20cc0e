"""Strategies for whole Tasks: events in any order that rules allow, with any text in them."""

from hypothesis import strategies as st
from support.capsules import OLD, TREE, Story, counts, today
from support.texts import hostile

from memprove.ledger.domain import events as e
from memprove.ledger.domain.evidence import Today
from memprove.ledger.domain.run import Verdict

STEPS = ("session", "end", "run", "fact", "open", "state", "decision", "complete", "lost")
TREES = st.sampled_from([TREE, OLD, None])
EXITS = st.sampled_from([0, 0, 1])
COUNTS = st.sampled_from([None, counts(3), counts(2, 1), counts(0), counts(2, skipped=4)])
KINDS = st.sampled_from(list(e.RunKind))
FEW = st.lists(hostile, max_size=5).map(tuple)


@st.composite
def stories(draw: st.DrawFn, most: int = 20) -> Story:
    """Return a Task of up to *most* steps after its first Session began."""
    story = Story(draw(hostile), raw=True)
    story.session(draw(hostile), draw(hostile))
    for step in draw(st.lists(st.sampled_from(STEPS), max_size=most)):
        _take(draw, story, step)
    return story


@st.composite
def todays(draw: st.DrawFn) -> Today:
    """Return any tree of today: that of Runs, or unknown; with any changes since theirs."""
    changes = {OLD: draw(FEW)} if draw(st.booleans()) else {}
    tree = draw(st.sampled_from([TREE, TREE, None]))
    return today(tree, changes, reason=draw(hostile), ignore=draw(st.sampled_from([(), ("*.md",)])))


def _take(draw: st.DrawFn, story: Story, step: str) -> None:
    match step:
        case "session":
            story.session(draw(hostile), draw(hostile), draw(st.sampled_from([None, 6])))
        case "end":
            story.end(draw(st.integers(6, 9)), draw(hostile), abandoned=draw(st.booleans()))
        case "run" | "lost":
            _run(draw, story, ended=step == "run")
        case "fact":
            runs = story.capsule().runs.values()
            marks = {Verdict.PASSED: "", Verdict.FAILED: "!"}
            cites = [f"{marks[r.verdict]}{r.label}" for r in runs if r.verdict in marks]
            cited = draw(st.lists(st.sampled_from(cites), max_size=7)) if cites else []
            story.fact(draw(hostile), *cited, paths=draw(FEW), next_action=draw(hostile))
        case "open":
            story.open(draw(hostile))
        case "state":
            _state(draw, story)
        case "decision":
            older = draw(st.sampled_from(["", *story.capsule().decisions]))
            label = story.propose(draw(hostile), draw(hostile), title="t", supersedes=older)
            story.decide(label, draw(st.sampled_from(list(e.DecisionState))))
        case _:
            done = e.Completion(accept_stale=draw(hostile), accept_untested=draw(hostile))
            story.move(e.TaskState.IN_PROGRESS, e.TaskState.COMPLETED, done)


def _run(draw: st.DrawFn, story: Story, *, ended: bool) -> None:
    command = draw(st.sampled_from([("pytest", "-q"), ("make",), tuple(draw(FEW)) or ("x",)]))
    if not ended:
        story.start(command, tree=draw(TREES))
        return
    story.run(
        command,
        draw(COUNTS),
        exit=draw(EXITS),
        tree=draw(TREES),
        reason=draw(hostile),
        hidden=draw(st.integers(0, 2)),
        kind=draw(KINDS),
        cwd=draw(st.sampled_from(["", "sub", draw(hostile)])),
        masked=draw(st.sampled_from(["", "a pipe"])),
        moved=draw(st.sampled_from([(), draw(FEW)])),
        products=draw(FEW),
    )


def _state(draw: st.DrawFn, story: Story) -> None:
    capsule = story.capsule()
    live = [item.label for item in capsule.live_items()]
    claims = list(capsule.claims)
    withdrawn = draw(st.lists(st.sampled_from(claims), max_size=2)) if claims else []
    again = draw(st.lists(st.sampled_from(claims), max_size=2)) if claims else []
    closed = draw(st.lists(st.sampled_from(live), max_size=2)) if live else []
    story.say(
        e.CheckpointRecorded(
            closed=tuple(closed),
            withdrawn=tuple(withdrawn),
            reaffirmed=tuple(e.Reaffirmed(claim=label) for label in again),
            next_action=draw(hostile),
        )
    )
