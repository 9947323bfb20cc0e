"""Record Runs: in a Session, outside one, never ended; and find them again."""

from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import NOTHING, Project, new_project

from memprove.ledger.domain import events as e
from memprove.ledger.domain.events import Fact
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.ledgers import Show
from memprove.ledger.operations.runs import EndRun, FindRuns
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import ReadTask


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path, repository=True)


def test_a_run_in_a_session_is_numbered_in_its_task(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    told = project.run("pytest")
    assert (told.run, told.task, told.session) == ("r1", 1, 1)
    project.execute(BeginWork(new_task="u"))
    assert project.run("pytest").run == "r1"
    assert project.run("pytest", session=1).run == "r2"
    assert [run.verdict for run in project.execute(ReadTask(1)).runs.values()] == ["passed"] * 2


def test_a_run_without_a_session_is_numbered_in_the_workspace(project: Project) -> None:
    told = project.run("pytest")
    assert (told.run, told.task, told.session) == ("w1", None, None)
    project.execute(BeginWork(new_task="t"))
    project.execute(EndSession())
    assert project.run("make").run == "w2"
    assert [run.label for run in project.execute(FindRuns("w2")).runs] == ["w2"]
    assert project.execute(Show("w1")).capsule.runs["w1"].verdict == "passed"
    with problem("label_unknown", "w3"):
        project.execute(FindRuns("w3"))


def test_a_session_that_is_named_must_be_open(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.execute(EndSession())
    with problem("session_ended", "1"):
        project.run(session=1)
    with problem("session_unknown", "9"):
        project.run(session=9)


def test_a_run_that_never_ended_is_lost(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.run(ended=False)
    assert project.execute(ReadTask()).runs["r1"].verdict == "lost"
    with problem("run_lost", "r1"):
        project.execute(RecordCheckpoint(facts=(Fact(text="f", evidence=("r1",)),)))


def test_a_run_may_end_after_its_session(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    started = project.run(ended=False)
    project.execute(EndSession())
    end = e.RunEnded(
        run=started.run,
        kind=e.RunKind.BUILD,
        exit=0,
        signal=None,
        duration_ms=1,
        stdout=NOTHING,
        stderr=NOTHING,
        tree=e.TreeState(id=None, reason="timeout"),
    )
    told = project.execute(EndRun(started, end))
    assert (told.run, told.task, told.session) == ("r1", 1, 1)
    assert project.execute(ReadTask()).runs["r1"].verdict == "passed"
    project.check_green()


def test_the_difference_from_the_base_commit_is_kept_as_a_blob(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.write("new.txt", "new\n")
    project.run()
    digest = project.execute(ReadTask()).runs["r1"].tree.snapshot
    assert digest is not None
    project.check_green()
    project.tamper("UPDATE blob SET data = x'00' WHERE digest = ?", bindings=(digest,))
    found = project.verify().findings[0]
    assert (found.check, found.what) == ("blobs", f"blob {digest} is another one")


def test_commands_behind_claims_are_found_each_check_once(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.run("pytest")
    project.run("pytest")
    project.run("make", failed=1, exit=1)
    facts = (
        Fact(text="a", evidence=("r1",)),
        Fact(text="b", evidence=("r2", "!r3")),
        Fact(text="c"),
    )
    project.execute(RecordCheckpoint(facts=facts))
    assert project.execute(FindRuns(stale=True)).runs == ()
    assert [run.label for run in project.execute(FindRuns("c2")).runs] == ["r2", "r3"]
    assert project.execute(FindRuns("c3")).runs == ()
    project.write("a.txt", "changed\n")
    assert [run.started.argv for run in project.execute(FindRuns(stale=True)).runs] == [("pytest",)]
