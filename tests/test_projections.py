"""The small tables: each is what the log gives, however they came to be."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from support.expected import problem
from support.ledgers import new_project
from support.logs import WORKSPACE, Log, a_run, a_task, busy_log, histories, registered, written
from support.samples import SAMPLES, leaf

from memprove.ledger import projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Record, Unknown
from memprove.ledger.log.reading import read_events
from memprove.ledger.log.walk import TableRows
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import ListTasks
from memprove.ledger.projections import (
    LedgerRow,
    SessionRow,
    TaskRow,
    TokenRow,
    WorkspaceRow,
    counter_key,
    decode_row,
    numbered,
)


def rebuilt(log: Log) -> dict[str, dict[str, bytes]]:
    rows = TableRows()
    with log.store.read() as reader:
        for record in read_events(reader):
            projections.apply(rows, record)
    return {table: rows for table, rows in rows.tables.items() if rows}


@settings(deadline=None)
@given(histories)
def test_rebuilding_the_tables_from_the_log_gives_the_stored_rows(
    history: list[tuple[list[e.Event], str, bool]],
) -> None:
    log = written(history)
    assert rebuilt(log) == log.disk.state.rows


def test_the_tables_hold_what_the_events_said() -> None:
    log = busy_log()
    rows = log.disk.state.rows
    ledger = decode_row(LedgerRow, rows["ledger"]["this"])
    assert (ledger.origin, ledger.key) == (log.created.origin, log.created.key)
    assert decode_row(TokenRow, rows["token"]["a1b2"]).revoked
    workspace = decode_row(WorkspaceRow, rows["workspace"][WORKSPACE])
    assert (workspace.number, workspace.name, workspace.root) == (1, "w", "/home/a/p")
    task = decode_row(TaskRow, rows["task"][numbered(WORKSPACE, 1)])
    assert (task.id, task.number, task.sessions) == ("one", 1, 1)
    assert task.state is e.TaskState.COMPLETED
    session = decode_row(SessionRow, rows["session"][numbered(WORKSPACE, 1)])
    assert (session.agent, session.task, session.ended_at) == ("claude-code", 1, log.at - 2)
    assert "open" not in rows


def test_counters_follow_the_labels_of_the_leaves() -> None:
    log = Log().begin()
    log.append([registered(), a_task("one"), a_task("two"), a_run(), a_run()])
    log.append([a_run()], task="two")
    assert log.disk.state.rows["counter"] == {
        "ws": b"1",
        f"workspace/{WORKSPACE}/t": b"2",
        "task/one/r": b"2",
        "task/two/r": b"1",
    }


@pytest.mark.parametrize(
    ("letters", "key"),
    [
        *((letter, f"task/i/{letter}") for letter in "rcod"),
        *((letter, f"workspace/w/{letter}") for letter in "tsw"),
        ("ws", "ws"),
    ],
)
def test_a_label_is_counted_where_it_is_unique(letters: str, key: str) -> None:
    assert counter_key("task/i", "w", letters) == key


def test_keys_sort_as_people_count() -> None:
    keys = [numbered("w", number) for number in (1, 2, 9, 10, 99, 100, 999_999_999)]
    assert keys == sorted(keys)


def test_an_event_of_a_newer_program_still_takes_its_labels() -> None:
    rows = TableRows()
    projections.apply(rows, Record(leaf("run.started", b""), Unknown("run.started", 9)))
    assert list(rows.tables["counter"].values()) == [b"2"]


def test_an_event_about_what_is_not_there_changes_nothing() -> None:
    rows = TableRows()
    for kind in ("token.revoked", "task.moved", "session.ended", "workspace.attached"):
        projections.apply(rows, Record(leaf(kind, b""), SAMPLES[kind]))
    assert {table for table, kept in rows.tables.items() if kept} == {"client"}


def test_a_client_session_remembers_where_its_last_request_began() -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    log.append([a_run()])
    row = decode_row(projections.ClientRow, log.disk.state.rows["client"][f"{WORKSPACE}/client"])
    assert (row.seq, row.at) == (4, log.at)


def test_a_row_that_does_not_decode_is_damage() -> None:
    for value in (b"", b"{}", b"[]", b"\xff"):
        with problem("ledger_damaged", "TaskRow"):
            decode_row(TaskRow, value)


def test_tables_of_another_version_are_built_anew(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    project.execute(BeginWork(new_task="a task"))
    project.tamper(
        "UPDATE row SET value = x'30' WHERE tbl = 'format'", "DELETE FROM row WHERE tbl = 'task'"
    )
    assert project.execute(ListTasks()).tasks[0].title == "a task"
    project.check_green()
