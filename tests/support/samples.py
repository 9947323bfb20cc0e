"""One event of every kind, with every field set to something that is not its default."""

from typing import Final

from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import LEAF_VERSION, Actor, Leaf, kind_of
from memprove.ledger.log.append import commitment

_ID: Final = "01990000-0000-7000-8000-00000000000"
_HEX: Final = "0123456789abcdef" * 4
_TREE: Final = e.TreeState(
    id=_HEX[:40], reason="r", base=_HEX[:40], branch="main", snapshot=_HEX, hidden=2
)
_STREAM: Final = e.StreamKept(
    length=12, sha256=_HEX, redacted=True, tail="line\n\x1b[0m “é”", blob=_HEX, cut=3
)
_PLACE: Final = {
    "root": "/home/a/p",
    "kind": "git",
    "device": "64769",
    "inode": "9223372036854775807",
}
_COUNTS: Final = e.TestCounts(
    runner="pytest", source="junit", passed=3, failed=1, errors=2, skipped=4
)

SAMPLES: Final[dict[str, e.Event]] = {
    "ledger.created": e.LedgerCreated(
        ledger=_ID + "1", origin=f"memprove.local/{_ID}1", key="memprove.local/x+0+AQ=="
    ),
    "token.issued": e.TokenIssued(
        token="a1b2", name="token", role="agent", scopes=("mcp-read", "x"), secret_hash=_HEX
    ),
    "token.revoked": e.TokenRevoked(token="a1b2"),
    "workspace.registered": e.WorkspaceRegistered(
        id=_ID + "2", name="p", root_commits=(_HEX[:40],), **_PLACE
    ),
    "workspace.attached": e.WorkspaceAttached(root_commits=(_HEX[:40],), **_PLACE),
    "task.created": e.TaskCreated(
        id=_ID + "3", title="Fix “nested” lists", description="d", state=e.TaskState.BACKLOG
    ),
    "task.moved": e.TaskMoved(
        source=e.TaskState.IN_PROGRESS,
        target=e.TaskState.COMPLETED,
        comment="done",
        completion=e.Completion(
            judged=(e.Judged(run="r1", verdict="passed", fresh=True, spooled=True),),
            tree=_HEX[:40],
            ignore=("*.md",),
            accept_stale="s",
            accept_untested="u",
        ),
    ),
    "session.started": e.SessionStarted(
        id=_ID + "4",
        agent="claude-code",
        role="r",
        parent=1,
        worktree="/home/a/p",
        spool_key=_HEX,
    ),
    "session.ended": e.SessionEnded(session=2, note="n", abandoned=True),
    "run.started": e.RunStarted(
        argv=("pytest", "-q", "ü"),
        cwd="sub",
        worktree="/home/a/p",
        kind=e.RunKind.TEST,
        tree=_TREE,
        ignore=("*.md",),
        outputs=("snap/**",),
        exact=False,
        junit="report.xml",
        rerun_of="r1",
    ),
    "run.ended": e.RunEnded(
        run="r2",
        kind=e.RunKind.TEST,
        exit=1,
        signal=15,
        duration_ms=800,
        stdout=_STREAM,
        stderr=_STREAM,
        tree=_TREE,
        timed_out=True,
        crashed=True,
        error="e",
        counts=_COUNTS,
        outcomes=_HEX,
        counts_needed=True,
        masked="m",
        moved=("a.py",),
        moved_count=1,
        products=("out.bin",),
        product_count=1,
        notes=("n",),
        spooled=3,
        spooled_at=1_790_000_000_000,
    ),
    "checkpoint.recorded": e.CheckpointRecorded(
        facts=(e.Fact(text="nested lists parse", evidence=("r2", "!r1"), paths=("a.py",)),),
        opened=("Windows",),
        closed=("o1",),
        reaffirmed=(e.Reaffirmed(claim="c1", evidence=("r2",)),),
        withdrawn=("c2",),
        next_action="go on",
    ),
    "decision.proposed": e.DecisionProposed(
        title="t",
        choice="c",
        rationale="r",
        alternatives=("a",),
        supersedes="d1",
        evidence=("r2",),
    ),
    "decision.decided": e.DecisionDecided(
        decision="d2", outcome=e.DecisionState.ACCEPTED, comment="yes"
    ),
}

LABELS: Final = {
    "workspace.registered": ("ws1",),
    "task.created": ("t3",),
    "session.started": ("s2",),
    "run.started": ("r2",),
    "checkpoint.recorded": ("c3", "o2"),
    "decision.proposed": ("d2",),
}
"""The labels that each sample's leaf assigns; none where a kind is not named."""

SALT: Final = bytes(range(16))


def leaf(kind: str, payload: bytes) -> Leaf:
    """Return a leaf for the sample of *kind*, whose *payload* is committed to under ``SALT``."""
    return Leaf(
        v=LEAF_VERSION,
        seq=7,
        kind=kind,
        kind_v=kind_of(SAMPLES[kind])[1],
        at=1_790_000_000_123,
        actor=Actor(
            installation=_ID + "5",
            token="a1b2",
            role="agent",
            face="cli",
            agent_env=True,
            session=2,
            client="c" * 16,
            request="d" * 32,
        ),
        labels=LABELS.get(kind, ()),
        workspace=_ID + "2",
        stream=f"task/{_ID}3",
        stream_seq=4,
        stream_prev=_HEX,
        payload=commitment(SALT, payload),
        prev=_HEX,
    )
