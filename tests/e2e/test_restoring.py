"""A ledger goes on under a new origin: from a backup, or without its key."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.children import exit_code_of
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger import durable, projections, restoring
from memprove.ledger.domain.events import LedgerRestored
from memprove.ledger.log.report import Report
from memprove.ledger.log.trust import read_pins
from memprove.ledger.operations.erasures import RedactEvent
from memprove.ledger.operations.keys import ReadHead
from memprove.ledger.operations.ledgers import BackUpLedger, VerifyLedger
from memprove.ledger.operations.restores import Restored
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CreateTask, ListTasks
from memprove.ledger.restoring import Restoring
from memprove.ledger.service import Ledger

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path)
    project = replace(project, env={**project.env, "MEMPROVE_STATE_DIR": str(tmp_path / "state")})
    project.execute(BeginWork(new_task="kept"))
    project.execute(EndSession())
    return project


@pytest.fixture
def backup(project: Project, tmp_path: Path) -> Path:
    """A backup, after which a Task was recorded that is not in it."""
    file = tmp_path / "backup.db"
    project.execute(BackUpLedger(str(file)))
    project.execute(CreateTask("lost"))
    return file


def restore(project: Project, backup: Path) -> Restored:
    return Restoring(project.caller()).restore(backup)


def demanded(project: Project, note: bytes, *, full: bool = True) -> Report:
    return project.ledger().execute(VerifyLedger(full=full, required=note))


def titles(project: Project) -> list[str]:
    return [task.title for task in project.execute(ListTasks()).tasks]


def holder(project: Project, folder: Path) -> Project:
    """Return somebody else who reads the same ledger: what they pinned and saw is as it is now."""
    shutil.copytree(project.config_dir, folder / "config")
    shutil.copytree(project.env["MEMPROVE_STATE_DIR"], folder / "state")
    env = {
        "MEMPROVE_CONFIG_DIR": str(folder / "config"),
        "MEMPROVE_STATE_DIR": str(folder / "state"),
    }
    return replace(project, config_dir=folder / "config", env={**project.env, **env})


def test_a_restored_ledger_says_what_was_lost_and_goes_on(project: Project, backup: Path) -> None:
    newest = project.size()
    before = project.database.read_bytes()
    told = restore(project, backup)
    assert titles(project) == ["kept"]
    event = project.records()[-1].event
    assert isinstance(event, LedgerRestored)
    assert (event.why, event.before, event.origin) == ("restore", told.before, told.origin)
    assert told.lost == event.lost == (told.seq, newest)
    assert event.head.startswith(f"{told.before}\n{told.seq - 1}\n")
    assert event.newest.startswith(f"{told.before}\n{newest}\n")
    assert Path(told.aside).stat().st_size >= len(before)
    project.check_green()
    for _ in range(2):  # keys are rotated as ever
        project.execute(BeginWork(new_task="more"))
        project.execute(EndSession())
    project.check_green()
    assert project.verify().erased == 0


def test_what_was_erased_since_the_backup_and_is_back_is_named(
    project: Project, tmp_path: Path
) -> None:
    project.execute(BeginWork(new_task="it is SECRET"))
    file = tmp_path / "early.db"
    project.execute(BackUpLedger(str(file)))
    erased = project.execute(RedactEvent(target="t2", reason="leak"))
    told = restore(project, file)
    assert told.revived == tuple(event.event for event in erased.erased)
    assert titles(project) == ["kept", "it is SECRET"]
    for number in told.revived:
        project.execute(RedactEvent(target=str(number), reason="leak"))
    assert titles(project) == ["kept", "[erased: leak]"]
    project.check_green()


def test_a_head_of_the_origin_before_is_continued_up_to_its_end(
    project: Project, backup: Path, tmp_path: Path
) -> None:
    before = project.execute(ReadHead()).note.encode()
    told = restore(project, backup)
    (lost,) = demanded(project, before).findings
    assert (lost.check, lost.code) == ("required", "restored")
    assert f"{told.before} ended at {told.seq - 1} events" in lost.what
    records = project.records()
    event = records[told.seq - 1].event
    assert isinstance(event, LedgerRestored)
    for full in (True, False):
        report = demanded(project, event.head.encode(), full=full)
        assert report.ok, report.findings


def test_both_origins_are_pinned_the_old_one_up_to_its_end(project: Project, backup: Path) -> None:
    told = restore(project, backup)
    old, new = read_pins(project.config_dir).values()
    assert (old.verifier.name, new.verifier.name) == (told.before, told.origin)
    assert old.until is not None
    assert (old.first, old.until[0], new.first, new.until) == (1, told.seq - 1, told.seq, None)
    assert (project.config_dir / "trust").read_text().startswith("# ")


def test_the_database_that_was_there_is_kept(
    project: Project, backup: Path, tmp_path: Path
) -> None:
    told = restore(project, backup)
    data = tmp_path / "aside"
    data.mkdir()
    shutil.copy(told.aside, data / "ledger.db")
    there = replace(project, data_dir=data)
    assert there.size() == told.lost[1]


def test_no_key_of_the_old_origin_stays_in_use(project: Project, backup: Path) -> None:
    told = restore(project, backup)
    project.execute(CreateTask("more"))
    (keys,) = (project.config_dir / "keys").iterdir()
    event = project.records()[told.seq - 1].event
    assert isinstance(event, LedgerRestored)
    assert [file.name for file in keys.iterdir()] == [f"{event.epoch}.key"]


def test_who_saw_more_is_told_so_until_they_pin_the_new_origin(
    project: Project, backup: Path, tmp_path: Path
) -> None:
    other = holder(project, tmp_path / "other")
    told = restore(project, backup)
    with problem("restored", told.origin):
        other.execute(ListTasks())
    with problem("restored", told.origin):
        other.execute(CreateTask("x"))
    with problem("restored", told.origin):
        other.verify()
    with (other.config_dir / "trust").open("a") as trust:
        trust.write(f"{told.origin} {told.key} from {told.seq}\n")
    other.check_green()
    assert titles(other) == ["kept"]


def test_a_backup_of_another_ledger_or_an_edited_one_is_refused(
    project: Project, backup: Path, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other")
    theirs = tmp_path / "theirs.db"
    other.execute(BackUpLedger(str(theirs)))
    edited = tmp_path / "edited.db"
    edited.write_bytes(backup.read_bytes().replace(b'"title":"kept"', b'"title":"kxpt"'))
    for file in (theirs, edited, project.config_dir / "trust", tmp_path / "none", tmp_path):
        with problem("backup_unfit"):
            restore(project, file)
    assert titles(project) == ["kept", "lost"]
    project.check_green()
    assert sorted(os.listdir(project.data_dir)) == ["ledger.db", "ledger.db-shm", "ledger.db-wal"]


def test_a_damaged_ledger_is_restored_and_kept_as_it_was(project: Project, backup: Path) -> None:
    project.database.write_bytes(b"no database" * 1000)
    Path(f"{project.database}-wal").unlink()
    told = restore(project, backup)
    project.check_green()
    assert Path(told.aside).read_bytes() == b"no database" * 1000
    assert told.lost  # what was seen of it is remembered


def test_an_older_copy_put_in_its_place_is_found(project: Project, backup: Path) -> None:
    shutil.copy(backup, project.database)
    for ending in ("-wal", "-shm"):
        Path(f"{project.database}{ending}").unlink()
    assert [finding.code for finding in project.verify().findings] == ["ledger_truncated"]
    with problem("ledger_truncated"):
        project.execute(ListTasks())
    told = restore(project, backup)
    assert told.lost
    project.check_green()


def test_without_its_key_a_ledger_is_read_until_it_is_adopted(project: Project) -> None:
    shutil.rmtree(project.config_dir / "keys")
    size = project.size()
    with problem("key_missing"):
        project.execute(CreateTask("x"))
    project.check_green()
    told = Restoring(project.caller()).adopt(copied=False)
    assert (told.seq, told.lost) == (size + 1, ())
    project.execute(CreateTask("x"))
    project.check_green()
    assert titles(project) == ["kept", "x"]


def test_a_copy_is_adopted_only_if_it_is_said_to_be_one(project: Project, tmp_path: Path) -> None:
    with problem("key_here"):
        Restoring(project.caller()).adopt(copied=False)
    data = tmp_path / "copy"
    shutil.copytree(project.data_dir, data)
    copy = holder(replace(project, data_dir=data), tmp_path / "there")
    copy = replace(copy, env={**copy.env, "MEMPROVE_DATA_DIR": str(data)})
    Restoring(copy.caller()).adopt(copied=True)
    copy.execute(CreateTask("there"))
    project.execute(CreateTask("here"))
    copy.check_green()
    project.check_green()


def test_tables_of_another_version_are_no_damage_of_a_ledger_or_its_backup(
    project: Project, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projections, "VERSION", projections.VERSION + 1)
    report = project.verify()
    assert report.ok, report.findings
    assert "projections" not in [check.check for check in report.checks]
    again = backup.with_name("again.db")
    project.execute(BackUpLedger(str(again)))
    restore(project, again)
    assert titles(project) == ["kept", "lost"]
    report = project.verify()
    assert report.ok, report.findings
    assert "projections" in [check.check for check in report.checks]


def test_only_the_owner_begins_an_origin(project: Project, backup: Path) -> None:
    agent = (project.config_dir / "token").read_text().strip()
    caller = project.caller(MEMPROVE_TOKEN=agent)
    with problem("role_forbidden"):
        Restoring(caller).restore(backup)
    with problem("role_forbidden"):
        Restoring(caller).adopt(copied=True)
    with problem("owner_in_agent_shell"):
        Restoring(project.caller(CLAUDECODE="1"))
    project.check_green()


@needs_fork
@pytest.mark.parametrize("what", ["restore", "adopt"])
@pytest.mark.parametrize("step", range(1, 58))
def test_killed_at_any_step_it_is_the_old_ledger_or_the_new_one(
    project: Project, backup: Path, what: str, step: int
) -> None:
    """Each call of the module and of what it calls there is one step."""

    def work() -> None:
        _die_at(step)
        if what == "restore":
            restore(project, backup)
        else:
            Restoring(project.caller()).adopt(copied=True)

    assert exit_code_of(work) in (0, 9)
    restored = [r for r in project.records() if isinstance(r.event, LedgerRestored)]
    had = ["kept", "lost"] if what == "adopt" or not restored else ["kept"]
    assert titles(project) == had
    project.check_green()
    Ledger(project.caller()).execute(CreateTask("after"))
    project.check_green()
    restore(project, backup)
    project.check_green()


def _die_at(step: int) -> None:
    """End this process at its *step*th call of what puts something on disk."""
    left = step

    def wrapped(function: Callable[..., object]) -> Callable[..., object]:
        def called(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(9)
            return function(*arguments, **options)

        return called

    for name in ("replace", "link", "fsync", "open", "mkdir", "unlink"):
        setattr(os, name, wrapped(getattr(os, name)))
    for module, name in ((restoring, "settle"), (restoring, "open_file"), (durable, "sync_folder")):
        setattr(module, name, wrapped(getattr(module, name)))
