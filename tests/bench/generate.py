"""Big ledgers, quickly and truly: real events through the real Appender, many in one commit.

``python tests/bench/generate.py FOLDER --events 1000000`` leaves one to look at: the Workspace in
FOLDER/project, its ledger in FOLDER/data, the keys and tokens in FOLDER/config.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # started as a script: tests/ is where modules are looked for
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from support.ledgers import Project, new_project

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.labels import TASK_LETTERS
from memprove.ledger.domain.record import Actor, Leaf, Record, kind_of
from memprove.ledger.ids import uuid7
from memprove.ledger.log.append import Appender
from memprove.ledger.log.keys import FIRST_EPOCH, Keys
from memprove.ledger.projections import LEDGER_KEY, LedgerRow, WorkspaceRow, decode_row
from memprove.ledger.storage.interface import Reader
from memprove.ledger.storage.registry import open_store
from memprove.ledger.tlog.note import Signer, format_vkey

TASK_EVENTS: Final = 1_000
BATCH: Final = 2_000
ACTOR: Final = Actor(installation="bench", token="bench", role="agent", face="cli")
_BEGAN: Final = 1_790_000_000_000
_SESSION_EVENTS: Final = 100
_TREE: Final = e.TreeState(id="4b825dc642cb6eb9a060e54bf8d69288fbee4904", branch="main")
_TAIL: Final = "".join(f"tests/test_module_{n}.py ........ [{n}%]\n" for n in range(10, 20))
_OUT: Final = e.StreamKept(length=len(_TAIL), sha256="5" * 64, tail=_TAIL)
_NOTHING: Final = e.StreamKept(length=0, sha256="0" * 64)


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a Task, with the letters of the labels it assigns and its Session."""

    event: e.Event
    letters: tuple[str, ...] = ()
    session: int | None = None


def steps(id: str, title: str, sessions: Iterator[int]) -> Iterator[Step]:
    """Yield the story of Task *id* without end: Runs, checkpoints, Decisions, Session by Session.

    *sessions* gives the numbers of its Sessions. Two Tasks differ in their ids and titles only.
    """
    yield Step(e.TaskCreated(id=id, title=title, state=e.TaskState.IN_PROGRESS), ("t",))
    runs, checkpoints = count(1), count(1)
    for session in sessions:
        started = e.SessionStarted(id=f"{id}/{session}", agent="bench", worktree="")
        yield Step(started, ("s",), session)
        for _ in range((_SESSION_EVENTS - 2) // 7):
            yield from _stretch(next(runs), next(runs), next(runs), next(checkpoints), session)
        yield Step(e.SessionEnded(session=session, note="handed over"), (), session)


def _stretch(one: int, two: int, three: int, checkpoint: int, session: int) -> Iterator[Step]:
    """Yield seven events: three Runs and what is stated of them."""
    for number, passed in ((one, 40), (two, 41), (three, 42)):
        yield Step(_run_started(number), ("r",), session)
        yield Step(_run_ended(number, passed), (), session)
    if checkpoint % 10 == 0:
        proposed = e.DecisionProposed(
            title=f"choose way {checkpoint}", choice="the plain one", rationale="less to go wrong"
        )
        yield Step(proposed, ("d",), session)
        return
    facts = (
        e.Fact(text=f"module {checkpoint} parses what it prints", evidence=(f"r{three}",)),
        e.Fact(text=f"its edge {checkpoint} was not tried on Windows"),
    )
    yield Step(
        e.CheckpointRecorded(
            facts=facts, opened=(f"try edge {checkpoint}",), next_action=f"do part {checkpoint}"
        ),
        ("c", "c", "o"),
        session,
    )


def _run_started(number: int) -> e.RunStarted:
    return e.RunStarted(
        argv=("pytest", "-q", f"tests/test_module_{number % 9}.py"),
        cwd="",
        worktree="",
        kind=e.RunKind.TEST,
        tree=_TREE,
    )


def _run_ended(number: int, passed: int) -> e.RunEnded:
    failed = int(number % 5 == 0)
    return e.RunEnded(
        run=f"r{number}",
        kind=e.RunKind.TEST,
        exit=failed,
        signal=None,
        duration_ms=900 + number,
        stdout=_OUT,
        stderr=_NOTHING,
        tree=_TREE,
        counts=e.TestCounts(runner="pytest", passed=passed, failed=failed),
        counts_needed=True,
    )


def task_records(number: int) -> list[Record]:
    """Return the first *number* records of one Task, as the fold takes them, without any store."""
    taken: Counter[str] = Counter()
    return [
        Record(_leaf(seq, step, _labels(taken, "task/one", step.letters)), step.event)
        for seq, step in enumerate(islice(steps("one", "alone", count(1)), number), 1)
    ]


def _leaf(seq: int, step: Step, labels: list[str]) -> Leaf:
    kind, version = kind_of(step.event)
    return Leaf(
        v=1,
        seq=seq,
        kind=kind,
        kind_v=version,
        at=_BEGAN + seq,
        actor=Actor(installation="i", token="t", role="agent", face="cli", session=step.session),
        stream="task/one",
        stream_seq=seq,
        payload="0" * 64,
        labels=tuple(labels),
    )


def _labels(taken: Counter[str], stream: str, letters: tuple[str, ...]) -> list[str]:
    """Return the next labels; those of a Task are counted by its *stream*."""
    labels = []
    for letter in letters:
        key = f"{stream}/{letter}" if letter in TASK_LETTERS else letter
        taken[key] += 1
        labels.append(f"{letter}{taken[key]}")
    return labels


def generate(
    base: Path, events: int, *, task_events: int = TASK_EVENTS, rotating: bool = False
) -> Project:
    """Return a new ledger below *base* of about *events* events, in Tasks of *task_events* each.

    Its Workspace is a plain folder: what is measured on it measures no git. *rotating*: each batch
    ends a key epoch; such a ledger is for reading, the keys are nowhere kept.
    """
    base.mkdir(parents=True, exist_ok=True)
    project = new_project(base)
    store = open_store(project.data_dir)
    try:
        with store.read() as reader:
            signer, workspace = signer_of(project, reader), _workspace(reader)
            left = events - reader.size()
        taken: Counter[str] = Counter()
        story = _story(task_events)
        for start in range(0, left, BATCH):
            batch = islice(story, min(BATCH, left - start))
            with store.write() as writer:
                appender = Appender(
                    writer,
                    actor=ACTOR,
                    at=_BEGAN + start,
                    random=os.urandom,
                    project=projections.apply,
                )
                for stream, step in batch:
                    appender.append(
                        step.event,
                        stream=stream,
                        workspace=workspace,
                        labels=_labels(taken, stream, step.letters),
                        session=step.session,
                    )
                signer = _sealed(appender, signer, 2 + start // BATCH if rotating else 0)
    finally:
        store.close()
    return project


def _sealed(appender: Appender, signer: Signer, epoch: int) -> Signer:
    """Seal the batch, after a rotation if *epoch* begins behind it; return who signs the next."""
    if not epoch:
        appender.seal(signer)
        return signer
    following = Signer(signer.verifier.name, os.urandom(32))
    rotated = e.KeyRotated(epoch=epoch, key=format_vkey(following.verifier))
    appender.append(rotated, stream="ledger")
    appender.seal(signer)
    return following


def _story(task_events: int) -> Iterator[tuple[str, Step]]:
    """Yield the events of Task after Task, with their streams."""
    sessions = count(1)
    for number in count(1):
        id = uuid7(_BEGAN + number, os.urandom)
        story = steps(id, f"the work of Task {number}", sessions)
        for step in islice(story, task_events):
            yield f"task/{id}", step


def signer_of(project: Project, reader: Reader) -> Signer:
    """Return what signs the ledger's heads."""
    value = reader.row("ledger", LEDGER_KEY)
    assert value is not None
    row = decode_row(LedgerRow, value)
    return Keys(project.config_dir, row.ledger).signer(FIRST_EPOCH, row.origin)


def _workspace(reader: Reader) -> str:
    return next(decode_row(WorkspaceRow, value).id for _, value in reader.rows("workspace"))


def main() -> None:
    """Generate one as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=100_000)
    arguments = parser.parse_args()
    generate(arguments.folder.absolute(), arguments.events)


if __name__ == "__main__":
    main()
