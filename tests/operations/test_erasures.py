"""The owner erases what should never have been recorded."""

import zlib
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from support.expected import problem
from support.ledgers import NO_TREE, Project, new_project, run_ended, run_started

from memprove.ledger.domain import events as e
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.decisions import ProposeDecision
from memprove.ledger.operations.erasures import ErasedTold, RedactEvent
from memprove.ledger.operations.ledgers import ReadLog, Show
from memprove.ledger.operations.packs import ReadPack
from memprove.ledger.operations.runs import EndRun, FindRuns, RunTold, StartRun
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import ListTasks, ReadTask

GONE = "[erased: a leak]"
SECRET = b"correct horse battery"
TEXT = SECRET.decode()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task=f"Task {TEXT}"))
    return project


def erase(project: Project, target: str, *fields: str, reason: str = "a leak") -> ErasedTold:
    return project.execute(RedactEvent(target, reason, fields))


def check_gone(project: Project) -> None:
    """Check that the secret is in no file, as it is or compressed, and that all verifies."""
    stored = project.everything_stored()
    assert SECRET not in stored
    assert zlib.compress(SECRET)[2:-4] not in stored
    project.check_green()


def a_run(project: Project, output: bytes = SECRET, *argv: str, exit: int = 0) -> RunTold:
    """Record a Run whose output, kept compressed, is *output*."""
    data = zlib.compress(output)
    told = project.execute(StartRun(run_started(*(argv or ("pytest",)), tree=NO_TREE)))
    kept = e.StreamKept(
        length=len(output),
        sha256=sha256(output).hexdigest(),
        tail=output.decode()[-200:],
        blob=sha256(data).hexdigest(),
    )
    counts = e.TestCounts(runner="pytest", passed=3)
    ended = run_ended(told.run, exit=exit, counts=counts)
    project.execute(EndRun(told, msgspec.structs.replace(ended, stdout=kept), (data,)))
    return told


def test_a_title_goes_from_the_log_and_from_the_tables(project: Project) -> None:
    told = erase(project, "t1")
    assert [(one.kind, one.fields) for one in told.erased] == [("task.created", ("title",))]
    assert project.execute(ReadTask()).title == GONE
    assert [task.title for task in project.execute(ListTasks()).tasks] == [GONE]
    check_gone(project)


def test_an_output_goes_with_its_blob(project: Project) -> None:
    a_run(project)
    erase(project, "t1")
    erase(project, "r1", "stdout")
    run = project.execute(ReadTask()).runs["r1"]
    assert run.verdict == "passed"
    assert run.ended is not None
    assert run.ended.stdout == e.StreamKept(length=len(SECRET), sha256="", tail=GONE)
    assert project.execute(Show("r1", output=True)).output == b""
    check_gone(project)


def test_a_blob_that_another_run_names_stays_until_that_is_erased_too(project: Project) -> None:
    erase(project, "t1")
    a_run(project)
    a_run(project)
    erase(project, "r1", "stdout")
    assert project.execute(Show("r2", output=True)).output == SECRET
    project.check_green()
    erase(project, "r2", "stdout")
    check_gone(project)


def test_a_failed_run_stays_failed_and_its_command_becomes_a_name(project: Project) -> None:
    a_run(project, b"out", "pytest", TEXT, exit=1)
    a_run(project, b"out", "pytest", TEXT)
    told = erase(project, "r1")
    assert [(one.kind, one.labels) for one in told.erased] == [
        ("run.started", ("r1",)),
        ("run.started", ("r2",)),
        ("run.ended", ()),
    ]
    erase(project, "t1")
    runs = project.execute(ReadTask()).runs
    assert [run.verdict for run in runs.values()] == ["failed", "passed"]
    assert runs["r1"].check == runs["r2"].check == ((), "r1")
    assert runs["r2"].ended is not None
    assert runs["r2"].ended.stdout.tail == "out"
    assert not project.execute(FindRuns("r2")).runs[0].started.exact
    check_gone(project)


def test_one_fact_goes_and_then_all_of_the_checkpoint(project: Project) -> None:
    stated = RecordCheckpoint(
        facts=(e.Fact(text=f"fact {TEXT}"), e.Fact(text="harmless")),
        open_items=("a harmless item",),
        next_action="a harmless step",
    )
    seq = project.execute(stated).seq
    erase(project, "t1")
    first = erase(project, "c1")
    capsule = project.execute(ReadTask())
    assert [claim.text for claim in capsule.claims.values()] == [GONE, "harmless"]
    check_gone(project)
    second = erase(project, str(seq), reason="more of it")
    capsule = project.execute(ReadTask())
    assert [claim.text for claim in capsule.claims.values()] == [GONE, "[erased: more of it]"]
    assert capsule.open_items["o1"].text == "[erased: more of it]"
    assert project.records()[first.seq - 1].leaf.kind == "payload.erased"
    assert b"harmless" not in project.everything_stored()
    shown = project.execute(Show(str(first.seq))).event
    assert shown is not None
    assert (shown.payload, shown.erased_by) == (None, second.seq)
    project.check_green()


@pytest.mark.parametrize("label", ["d1", "s1", "o1"])
def test_each_label_names_all_that_was_said_under_it(project: Project, label: str) -> None:
    project.execute(ProposeDecision(TEXT, f"choice {TEXT}", TEXT, (TEXT,)))
    project.execute(RecordCheckpoint(open_items=(TEXT,)))
    project.execute(EndSession(note=f"note {TEXT}"))
    for target in ("t1", "d1", "s1", "o1"):
        if target != label:
            erase(project, target)
    assert SECRET in project.everything_stored()
    erase(project, label)
    check_gone(project)


def test_the_same_again_is_no_change_and_another_reason_neither(project: Project) -> None:
    first = erase(project, "t1")
    for reason in ("a leak", "another"):
        again = erase(project, "t1", reason=reason)
        assert again.replayed
        assert (again.seq, again.erased) == (first.seq, first.erased)
    assert project.size() == first.seq


def test_everything_that_is_read_says_so(project: Project) -> None:
    project.execute(RecordCheckpoint(facts=(e.Fact(text=TEXT),), next_action=TEXT))
    seq = project.size()
    erase(project, str(seq))
    erase(project, "t1")
    assert GONE in project.execute(ReadPack()).pack
    assert TEXT not in project.execute(ReadPack()).pack
    told = {event.seq: event for event in project.execute(ReadLog()).events}
    assert told[seq].payload == {"facts": ({"text": GONE},), "next_action": GONE}
    assert told[seq].erased_by == seq + 1


def test_a_reason_goes_through_the_redactor(project: Project) -> None:
    token = "ghp_" + "a1B2" * 9
    erase(project, "t1", reason=f"it held {token}")
    assert token not in project.everything_stored().decode("latin-1")
    project.check_green()


@pytest.mark.parametrize(
    ("target", "fields", "code"),
    [
        ("1", (), "not_redactable"),
        ("2", ("secret_hash",), "not_redactable"),
        ("r1", ("exit",), "not_redactable"),
        ("r1", ("exit_code",), "field_unknown"),
        ("r9", (), "label_unknown"),
        ("99", (), "label_unknown"),
        ("0", (), "label_unknown"),
        ("x", (), "label_invalid"),
        ("ws1", (), "label_invalid"),
        ("7", (), "nothing_to_erase"),
    ],
)
def test_what_cannot_be_erased_is_refused(
    project: Project, target: str, fields: tuple[str, ...], code: str
) -> None:
    a_run(project)
    size = project.size()
    with problem(code):
        erase(project, target, *fields)
    assert project.size() == size


def test_a_tombstone_stays(project: Project) -> None:
    told = erase(project, "t1")
    with problem("not_redactable", "payload.erased"):
        erase(project, str(told.seq))


def test_only_the_owner_erases(project: Project) -> None:
    with problem("role_forbidden"):
        token = (project.config_dir / "token").read_text().strip()
        project.execute(RedactEvent("t1", "r"), MEMPROVE_TOKEN=token)
    with problem("argument_missing"):
        erase(project, "t1", reason=" ")


def test_a_token_that_lost_its_name_still_opens_the_door(project: Project) -> None:
    erase(project, "2")
    erase(project, "3")
    project.execute(BeginWork(new_task="two"))
    project.check_green()
