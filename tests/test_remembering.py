"""What was seen of a ledger, from the one door: one that was put back or replaced is refused."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.log.trust import format_trust
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.keys import ReadHead, RotateKey
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask, ListTasks
from memprove.ledger.operations.tokens import IssueToken
from memprove.ledger.problems import Problem
from memprove.ledger.service import Ledger
from memprove.ledger.tlog.note import Signer, format_vkey

TRIED: list[Callable[[], Operation[Any]]] = [ListTasks, ReadHead, lambda: CreateTask("t")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def copy(project: Project, name: str) -> Path:
    """Copy the data directory while nothing writes to it."""
    place = project.data_dir.parent / name
    shutil.copytree(project.data_dir, place)
    return place


def put(project: Project, place: Path) -> None:
    """Put the copy in the place of the data directory."""
    shutil.rmtree(project.data_dir)
    shutil.copytree(place, project.data_dir)


def check_refused(project: Project, code: str) -> None:
    for make in TRIED:
        with problem(code):
            project.execute(make())
    report = project.verify()
    assert not report.ok
    assert code in [finding.code for finding in report.findings]


def test_a_ledger_put_back_to_an_older_copy_is_truncated(project: Project) -> None:
    project.execute(CreateTask("one"))
    older = copy(project, "older")
    project.execute(CreateTask("two"))
    newer = copy(project, "newer")
    put(project, older)
    check_refused(project, "ledger_truncated")
    put(project, newer)
    project.execute(CreateTask("three"))
    project.check_green()


def test_a_ledger_put_back_across_a_rotation_is_truncated(project: Project) -> None:
    older = copy(project, "older")
    project.execute(RotateKey())
    project.execute(CreateTask("two"))
    put(project, older)
    check_refused(project, "ledger_truncated")


def test_a_token_of_later_than_the_older_copy_gets_the_report_too(project: Project) -> None:
    older = copy(project, "older")
    token = project.execute(IssueToken(name="later")).token
    put(project, older)
    report = project.execute(VerifyLedger(), MEMPROVE_TOKEN=token)
    assert [finding.code for finding in report.findings] == ["ledger_truncated"]


def test_a_ledger_that_went_on_otherwise_from_an_older_copy_is_forked(project: Project) -> None:
    project.execute(CreateTask("one"))
    older = copy(project, "older")
    project.execute(CreateTask("two"))
    state = project.data_dir.parent / "state-kept"
    shutil.copytree(project.state_dir, state)
    put(project, older)
    project.forget()  # on another machine, so to say
    project.execute(CreateTask("other"))
    project.execute(CreateTask("and more"))
    shutil.rmtree(project.state_dir)
    shutil.copytree(state, project.state_dir)
    check_refused(project, "ledger_forked")
    assert list(project.state_dir.glob("evidence/ledger_forked-*.txt"))


def test_another_ledger_in_the_place_of_a_known_one_is_replaced(
    project: Project, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other")
    genuine = copy(project, "genuine")
    put(project, other.data_dir)
    check_refused(project, "ledger_replaced")
    trust = project.config_dir / "trust"
    trust.write_text(trust.read_text() + (other.config_dir / "trust").read_text())
    check_refused(project, "ledger_replaced")
    put(project, genuine)
    project.execute(CreateTask("t"))
    project.check_green()


def test_a_ledger_made_anew_by_its_owner_is_no_replacement(project: Project) -> None:
    shutil.rmtree(project.data_dir)
    shutil.rmtree(project.config_dir)
    project.set_up()
    project.execute(CreateTask("t"))
    project.check_green()


def test_a_commit_that_was_not_remembered_is_no_fault(project: Project) -> None:
    kept = project.data_dir.parent / "state-kept"
    shutil.copytree(project.state_dir, kept)
    for operation in (CreateTask("a"), RotateKey(), CreateTask("b")):
        project.execute(operation)  # type: ignore[misc]
    shutil.rmtree(project.state_dir)
    shutil.copytree(kept, project.state_dir)
    assert project.verify().remembered == project.size() - 3
    project.execute(CreateTask("c"))
    assert project.verify().remembered == project.size()


def test_without_a_memory_the_walk_begins_at_the_pin_and_a_write_remembers(
    project: Project,
) -> None:
    for _ in range(3):
        project.execute(RotateKey())
    project.forget()
    assert project.execute(ReadHead()).epoch == 3  # its last event ended that epoch
    assert "no head" in project.verify().unremembered
    project.execute(CreateTask("t"))
    assert project.verify().remembered == project.size()
    assert project.execute(ReadHead()).epoch == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_state_directory_without_permission_is_no_failure(project: Project) -> None:
    project.forget()
    project.state_dir.mkdir(mode=0o500)
    project.execute(CreateTask("t"))
    report = project.verify()
    assert (report.ok, report.remembered) == (True, None)


def test_a_state_directory_that_is_a_file_is_no_failure(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    state = {"MEMPROVE_STATE_DIR": str(tmp_path / "file")}
    project.execute(CreateTask("t"), **state)
    project.execute(ListTasks(), **state)
    report = project.execute(VerifyLedger(), **state)
    assert (report.ok, report.remembered) == (True, None)
    assert "Not a directory" in report.unremembered


def test_a_session_end_leaves_one_key_and_its_answer_is_replayed(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    first = project.execute(EndSession("done"))
    assert [path.name for path in project.keys] == ["2.key"]
    assert project.records()[-1].leaf.kind == "key.rotated"
    assert first.seq == project.size() - 1
    again = project.execute(EndSession("done"))
    assert (again.replayed, again.seq, project.size()) == (True, first.seq, first.seq + 1)


def test_an_agents_write_may_rotate_the_key_but_not_ask_for_it(project: Project) -> None:
    token = (project.config_dir / "token").read_text().strip()
    project.execute(BeginWork(new_task="t"), MEMPROVE_TOKEN=token)
    project.execute(EndSession(), MEMPROVE_TOKEN=token)
    assert project.records()[-1].leaf.actor.role == "agent"
    with problem("role_forbidden", "owner"):
        project.execute(RotateKey(), MEMPROVE_TOKEN=token)
    with problem("owner_in_agent_shell"):
        project.execute(RotateKey(), CLAUDECODE="1")


def test_a_ledger_without_its_key_is_read_and_verified(project: Project) -> None:
    project.execute(RotateKey())
    for key in project.keys:
        key.unlink()
    assert project.execute(ListTasks()).tasks == ()
    project.check_green()
    with problem("key_missing", "2.key") as _:
        project.execute(CreateTask("t"))
    with pytest.raises(Problem, match="memprove adopt"):
        project.execute(CreateTask("t"))
    assert project.keys == []


def test_the_pin_stays_that_of_the_first_key(project: Project) -> None:
    before = (project.config_dir / "trust").read_bytes()
    project.execute(RotateKey())
    project.execute(CreateTask("t"))
    assert (project.config_dir / "trust").read_bytes() == before
    project.forget()
    project.check_green()


# The copy of the pins in the Workspace


def notes_of_verify(project: Project) -> list[str]:
    ledger = Ledger(project.caller())
    ledger.execute(VerifyLedger())
    return ledger.notes


def test_a_copy_of_the_trust_file_is_compared_and_not_believed(project: Project) -> None:
    copied = project.folder / ".memprove" / "trust"
    copied.write_bytes((project.config_dir / "trust").read_bytes())
    assert notes_of_verify(project) == []
    origin = project.execute(ReadHead()).origin
    copied.write_text(format_trust(origin, format_vkey(Signer(origin, b"x" * 32).verifier)))
    assert notes_of_verify(project) == [f".memprove/trust pins another key than yours for {origin}"]
    project.check_green()
    pin = (project.config_dir / "trust").read_text().splitlines()[-1]
    copied.write_text(f"{pin} until 9 {'A' * 43}=\n")
    assert notes_of_verify(project) == [
        f".memprove/trust pins another range than yours for {origin}"
    ]
    copied.write_text("nonsense\n")
    assert "trust_invalid" in notes_of_verify(project)[0]
    copied.write_bytes(b"\xff")
    assert notes_of_verify(project) == [".memprove/trust is not UTF-8"]
    copied.write_text(
        format_trust(
            "memprove.local/x", format_vkey(Signer("memprove.local/x", b"y" * 32).verifier)
        )
    )
    assert notes_of_verify(project) == []
