"""Create, list, move and complete Tasks, with real trees behind the gate."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import RunKind, TaskState
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.runs import FindRuns
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.operations.tasks import (
    CompleteTask,
    CreateTask,
    ListTasks,
    MoveTask,
    ReadTask,
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


@pytest.fixture
def working(tmp_path: Path) -> Project:
    project = new_project(tmp_path, repository=True)
    project.execute(BeginWork(new_task="t"))
    return project


COMPLETING: list[Operation[Any]] = [CompleteTask(), MoveTask(1, TaskState.COMPLETED)]

# The list


def test_a_task_is_created_without_beginning_it(project: Project) -> None:
    told = project.execute(CreateTask("t", "d", TaskState.BACKLOG))
    assert (told.task, told.title, told.state) == (1, "t", "backlog")
    assert project.execute(ReadTask(1)).description == "d"
    for state in set(TaskState) - {TaskState.BACKLOG, TaskState.PENDING}:
        with problem("argument_invalid", state):
            project.execute(CreateTask("t", state=state))


def test_tasks_are_listed_in_pages_by_number_and_by_state(project: Project) -> None:
    for number in range(1, 26):
        project.execute(CreateTask(f"task {number}"))
    project.execute(MoveTask(3, TaskState.CANCELED))
    first = project.execute(ListTasks())
    assert ([task.number for task in first.tasks], first.next) == (list(range(1, 21)), 20)
    rest = project.execute(ListTasks(after=20))
    assert ([task.number for task in rest.tasks], rest.next) == (list(range(21, 26)), None)
    exact = project.execute(ListTasks(limit=25))
    assert (len(exact.tasks), exact.next) == (25, None)
    canceled = project.execute(ListTasks(states=(TaskState.CANCELED,)))
    assert [task.number for task in canceled.tasks] == [3]
    assert project.execute(ListTasks(after=10**30)).tasks == ()
    assert len(project.execute(ListTasks(after=-5)).tasks) == 20
    for limit in (0, -1, 101):
        with problem("argument_invalid", "limit"):
            project.execute(ListTasks(limit=limit))


def test_a_move_is_told_with_its_comment(project: Project) -> None:
    project.execute(CreateTask("t"))
    assert project.execute(MoveTask(1, TaskState.BACKLOG, "later")).state == "backlog"
    assert project.execute(ReadTask(1)).moves[-1].comment == "later"
    with problem("transition_forbidden"):
        project.execute(MoveTask(1, TaskState.BLOCKED))
    with problem("task_unknown", "9"):
        project.execute(MoveTask(9, TaskState.PENDING))


# The gate


def test_red_fix_green_completes(working: Project) -> None:
    working.run(failed=1, exit=1)
    with problem("run_failed", "r1"):
        working.execute(CompleteTask())
    working.write("a.txt", "fixed\n")
    with problem("run_failed"):
        working.execute(CompleteTask())
    working.run()
    done = working.execute(CompleteTask())
    assert [(one.run, one.verdict, one.fresh) for one in done.judged] == [("r2", "passed", True)]
    assert (done.state, done.session) == (TaskState.COMPLETED, 1)
    working.check_green()


def test_an_edit_after_the_run_names_the_path(working: Project) -> None:
    working.run()
    working.write("dir/c.txt", "changed\n")
    with problem("evidence_stale", "r1: dir/c.txt changed"):
        working.execute(CompleteTask())
    working.write("dir/c.txt", "c\n")
    assert working.execute(CompleteTask()).judged


def test_green_then_red_does_not_complete(working: Project) -> None:
    working.run()
    working.run(failed=1, exit=1)
    with problem("run_failed", "r2"):
        working.execute(CompleteTask())


@pytest.mark.parametrize(
    ("code", "run"),
    [
        ("run_vacuous", {"passed": 0}),
        ("run_vacuous", {"passed": None}),
        ("run_masked", {"masked": "a pipe"}),
        ("evidence_stale", {"moved": ("a.txt",)}),
        ("no_passed_run", {"kind": RunKind.OTHER}),
        ("no_passed_run", {"exit": None, "signal": 2}),
        ("no_passed_run", {"ended": False}),
    ],
)
def test_a_run_that_proves_nothing_completes_nothing(
    working: Project, code: str, run: dict[str, object]
) -> None:
    working.run(**run)  # type: ignore[arg-type]
    size = working.size()
    for operation in COMPLETING:
        with problem(code):
            working.execute(operation)
    assert working.size() == size


def test_setting_the_state_meets_the_same_gate(working: Project) -> None:
    working.run()
    told = working.execute(MoveTask(1, TaskState.COMPLETED, "by hand"))
    assert told.state == "completed"
    completion = working.execute(ReadTask(1)).moves[-1].completion
    assert completion is not None
    assert [one.run for one in completion.judged] == ["r1"]


def test_a_run_of_another_task_is_not_judged(working: Project) -> None:
    working.run()
    working.execute(BeginWork(new_task="another"))
    with problem("no_passed_run"):
        working.execute(CompleteTask())
    with problem("label_unknown", "r1"):
        working.execute(CompleteTask(runs=("r1",)))


def test_only_one_completes_and_the_other_is_told_who(working: Project) -> None:
    working.run()
    working.execute(BeginWork(task=1), MEMPROVE_CONTEXT="b")
    working.execute(CompleteTask())
    size = working.size()
    for operation in COMPLETING:
        with problem("task_completed", "by Session 1"):
            working.execute(operation, MEMPROVE_CONTEXT="b")
    assert working.size() == size


COMPLETE = """
import sys
from pathlib import Path
from memprove.ledger.operations.tasks import CompleteTask
from memprove.ledger.problems import Problem
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
env = dict(pair.split("=", 1) for pair in sys.argv[2:])
sys.stdin.readline()
try:
    print(Ledger(Caller("cli", Path(sys.argv[1]), env)).execute(CompleteTask()).state)
except Problem as problem:
    print(problem.code)
"""


def test_of_two_completions_at_once_one_wins(working: Project) -> None:
    working.run()
    running = []
    for client in ("a", "b"):
        working.execute(BeginWork(task=1), MEMPROVE_CONTEXT=client)
        env = {**working.env, "MEMPROVE_CONTEXT": client}
        pairs = [f"{name}={value}" for name, value in env.items()]
        command = [sys.executable, "-c", COMPLETE, str(working.folder), *pairs]
        running.append(Popen(command, stdin=PIPE, stdout=PIPE, text=True))
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0].strip() for process in running]
    assert sorted(outputs) == ["completed", "task_completed"]
    moves = [move.target for move in working.execute(ReadTask(1)).moves]
    assert moves.count(TaskState.COMPLETED) == 1
    working.check_green()


def test_a_completed_task_reopens_by_begin_or_by_setting_it(working: Project) -> None:
    working.run()
    working.execute(CompleteTask())
    assert working.execute(BeginWork(task=1)).state == "in_progress"
    working.execute(CompleteTask())
    assert working.execute(MoveTask(1, TaskState.PENDING)).state == "pending"
    with problem("transition_forbidden", "pending to completed"):
        working.execute(CompleteTask())


def test_a_child_session_records_and_proposes_but_does_not_complete(working: Project) -> None:
    working.execute(BeginWork(task=1, parent=1))
    assert working.run(session=2).run == "r1"
    for operation in (CompleteTask(session=2), CompleteTask()):
        with problem("role_forbidden", "Session 2 has a parent"):
            working.execute(operation, MEMPROVE_SESSION="2")
    assert working.execute(CompleteTask()).session == 1


def test_the_owner_accepts_less_and_it_shows(working: Project) -> None:
    done = working.execute(CompleteTask(accept_untested="documents only"))
    assert done.judged == ()
    completion = working.execute(ReadTask()).moves[-1].completion
    assert completion is not None
    assert completion.accept_untested == "documents only"
    assert working.records()[-1].leaf.actor.role == "owner"


def test_the_owner_tightens_what_completes(working: Project) -> None:
    working.run("ruff", kind=RunKind.LINT)
    (working.config_dir / "config.toml").write_text('[complete]\nkinds = ["test"]\n')
    with problem("no_passed_run"):
        working.execute(CompleteTask())
    with problem("no_passed_run"):
        working.execute(MoveTask(1, TaskState.COMPLETED))
    (working.config_dir / "config.toml").write_text('[complete]\nkinds = ["lint"]\n')
    assert working.execute(CompleteTask()).judged


def test_a_head_that_a_completion_names_is_kept(working: Project) -> None:
    working.run()
    seq = working.execute(CompleteTask()).seq
    working.execute(CreateTask("after"))
    working.execute(CreateTask("and after"))
    report = working.verify()
    assert report.ok
    working.tamper(f"UPDATE head SET note = x'00' WHERE size = {seq}")
    assert [check.check for check in working.verify().checks if not check.ok] == ["heads"]


def test_runs_are_found_by_label_and_behind_stale_claims(working: Project) -> None:
    working.run("pytest", "-q")
    assert [run.label for run in working.execute(FindRuns("r1")).runs] == ["r1"]
    for label, code in (("r9", "label_unknown"), ("c1", "label_unknown"), ("x", "label_invalid")):
        with problem(code):
            working.execute(FindRuns(label))
