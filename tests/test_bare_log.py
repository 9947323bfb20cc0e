"""The log without its tables: which key and which tokens, when the tables cannot say."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.expected import problem
from support.ledgers import Project, new_project
from support.logs import Log

from memprove.ledger.log.trust import format_trust
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ListTasks
from memprove.ledger.operations.tokens import IssueToken, RevokeToken
from memprove.ledger.tlog.note import format_vkey

UNKNOWN = "mpv_0000000000000000_c2VjcmV0"
OUTDATED = "UPDATE row SET value = x'30' WHERE tbl = 'format'"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path)
    project.execute(BeginWork(new_task="t"))
    return project


def pin_another(project: Project) -> None:
    """Add a line for another log to the trust file."""
    other = Log().signer.verifier
    trust = project.config_dir / "trust"
    trust.write_text(trust.read_text() + format_trust(other.name, format_vkey(other)))


def tables(project: Project) -> list[tuple[str, str, bytes]]:
    """Return every row of the tables beside the log."""
    with closing(sqlite3.connect(project.database)) as connection:
        return connection.execute("SELECT tbl, key, value FROM row").fetchall()


def issue(project: Project, *scopes: str) -> tuple[str, str]:
    issued = project.execute(IssueToken(name="extra", scopes=scopes))
    return issued.token, issued.id


def test_of_several_keys_that_of_the_first_event_counts(project: Project) -> None:
    pin_another(project)
    project.check_green()
    project.tamper("DELETE FROM row WHERE tbl = 'ledger'")
    report = project.verify()
    assert [finding.check for finding in report.findings] == ["projections"]
    assert report.signed == report.size == project.size()


def test_without_a_first_event_several_keys_verify_nothing(project: Project) -> None:
    pin_another(project)
    project.tamper("UPDATE event SET payload = x'7b7d' WHERE seq = 1")
    (found,) = project.verify().findings
    assert (found.check, found.what) == ("store", "event 1 is not as it was written")


def test_another_ledger_does_not_verify_under_the_one_key(project: Project, tmp_path: Path) -> None:
    other = new_project(tmp_path / "other")
    report = project.execute(VerifyLedger(), MEMPROVE_DATA_DIR=str(other.data_dir))
    assert "head" in [check.check for check in report.checks if not check.ok]


def test_a_token_is_looked_for_in_the_log_itself(project: Project) -> None:
    token, _ = issue(project, "mcp-read")
    without, _ = issue(project, "mcp-write")
    project.tamper("DELETE FROM row WHERE tbl = 'token'")
    assert not project.execute(VerifyLedger(), MEMPROVE_TOKEN=token).ok
    with problem("role_forbidden", "mcp-read"):
        project.execute(VerifyLedger(), MEMPROVE_TOKEN=without)
    with problem("token_unknown"):
        project.execute(VerifyLedger(), MEMPROVE_TOKEN=UNKNOWN)


def test_a_token_that_the_log_revoked_stays_so_whatever_the_tables_say(project: Project) -> None:
    token, id = issue(project, "mcp-read")
    project.execute(RevokeToken(id))
    project.tamper("DELETE FROM row WHERE tbl = 'token'")
    with problem("token_revoked"):
        project.execute(VerifyLedger(), MEMPROVE_TOKEN=token)


def test_a_token_whose_issue_was_taken_out_of_the_log_still_finds_that(project: Project) -> None:
    token, _ = issue(project, "mcp-read")
    seq = project.size()
    project.execute(BeginWork(new_task="later"))
    project.tamper(f"DELETE FROM event WHERE seq = {seq}")
    report = project.execute(VerifyLedger(), MEMPROVE_TOKEN=token)
    assert (report.ok, report.findings[0].seq) == (False, seq + 1)


def test_tables_of_another_version_are_not_built_anew_for_a_stranger(project: Project) -> None:
    project.tamper(OUTDATED, "DELETE FROM row WHERE tbl = 'task'")
    stored = tables(project)
    with problem("token_unknown"):
        project.execute(ListTasks(), MEMPROVE_TOKEN=UNKNOWN)
    assert tables(project) == stored
    assert [task.title for task in project.execute(ListTasks()).tasks] == ["t"]
    project.check_green()


def test_tables_are_not_built_anew_from_a_log_that_does_not_hold(project: Project) -> None:
    project.tamper(OUTDATED, "UPDATE head SET note = x'00'")
    stored = tables(project)
    with problem("ledger_damaged"):
        project.execute(ListTasks())
    assert tables(project) == stored


def test_an_inspection_builds_nothing_anew(project: Project) -> None:
    project.tamper(OUTDATED)
    stored = tables(project)
    (found,) = project.verify().findings
    assert (found.check, found.what) == (
        "projections",
        "row format/this is not what the events give",
    )
    assert tables(project) == stored


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM row",
        "DELETE FROM row WHERE tbl = 'format'",
        "UPDATE row SET value = x'ff' WHERE tbl = 'format'",
        "UPDATE row SET value = x'' WHERE tbl = 'format'",
    ],
)
def test_tables_that_say_no_version_are_damaged_not_outdated(project: Project, change: str) -> None:
    project.tamper(change)
    stored = tables(project)
    with problem("ledger_damaged", "of which version"):
        project.execute(ListTasks())
    assert tables(project) == stored
