"""The one door: token and scopes on every call, secrets cut before the log, all or nothing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from support.expected import problem
from support.ledgers import Project, new_project

from memprove.ledger.domain.events import DecisionState, Fact, TaskState
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.checkpoints import RecordCheckpoint
from memprove.ledger.operations.contexts import ReadContext
from memprove.ledger.operations.decisions import DecideDecision, ProposeDecision
from memprove.ledger.operations.ledgers import ReadLog, VerifyLedger
from memprove.ledger.operations.sessions import BeginWork, EndSession
from memprove.ledger.operations.tasks import CompleteTask, CreateTask, ListTasks, MoveTask
from memprove.ledger.operations.tokens import IssueToken, ListTokens, RevokeToken
from memprove.ledger.scopes import Role
from memprove.ledger.service import Ledger

OWNERS: list[Operation[Any]] = [
    IssueToken(name="x"),
    RevokeToken(id="x"),
    ListTokens(),
    DecideDecision("d1", DecisionState.ACCEPTED),
    CompleteTask(accept_stale="why"),
    CompleteTask(accept_untested="why"),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path)


def issue(project: Project, *scopes: str, role: Role = Role.AGENT) -> tuple[str, str]:
    """Return text and id of a new token."""
    issued = project.execute(IssueToken(name="extra", scopes=scopes, role=role))
    return issued.token, issued.id


# Tokens


def test_a_revoked_token_stops_the_next_call(project: Project) -> None:
    token, id = issue(project, "mcp-read")
    assert project.execute(ListTasks(), MEMPROVE_TOKEN=token).tasks == ()
    project.execute(RevokeToken(id))
    with problem("token_revoked", id):
        project.execute(ListTasks(), MEMPROVE_TOKEN=token)
    with problem("token_revoked", id):
        project.execute(RevokeToken(id))


def test_the_last_owner_token_cannot_be_revoked(project: Project) -> None:
    first = next(t for t in project.execute(ListTokens()).tokens if t.role == Role.OWNER)
    with problem("token_last", first.id):
        project.execute(RevokeToken(first.id))
    second = project.execute(IssueToken(name="second", role=Role.OWNER))
    project.execute(RevokeToken(first.id), MEMPROVE_TOKEN=second.token)
    with problem("token_last", second.id):
        project.execute(RevokeToken(second.id), MEMPROVE_TOKEN=second.token)


def test_only_the_command_line_opens_the_owners_token(project: Project) -> None:
    for face in ("mcp", "hook"):
        ledger = Ledger(structs.replace(project.caller(), face=face))
        with problem("role_forbidden", "owner"):
            ledger.execute(ListTokens())


@pytest.mark.parametrize("change", ["id", "secret"])
def test_a_token_that_the_ledger_does_not_know_is_refused(project: Project, change: str) -> None:
    _, id, secret = (project.config_dir / "token").read_text().strip().split("_", 2)
    token = f"mpv_{'0' * 16 if change == 'id' else id}_{secret if change == 'id' else 'x' * 43}"
    with problem("token_unknown"):
        project.execute(ListTasks(), MEMPROVE_TOKEN=token)


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        (("mcp-read", "mcp-write"), True, True),
        (("mcp:read", "mcp:write"), True, True),
        (("mcp-read",), True, False),
        (("mcp-write",), False, False),
        (("owner", "admin", "*"), False, False),
    ],
)
def test_scopes_decide_what_a_token_may_do(
    project: Project, scopes: tuple[str, ...], reads: bool, writes: bool
) -> None:
    token, _ = issue(project, *scopes)
    tried: list[tuple[bool, Operation[Any]]] = [
        (reads, ListTasks()),
        (writes, BeginWork(new_task="t")),
    ]
    for allowed, operation in tried:
        if allowed:
            project.execute(operation, MEMPROVE_TOKEN=token)
        else:
            with problem("role_forbidden", "mcp-"):
                project.execute(operation, MEMPROVE_TOKEN=token)


def test_scopes_that_are_not_known_are_kept(project: Project) -> None:
    issue(project, "memory:read", "mcp-read")
    told = project.execute(ListTokens()).tokens
    assert ("memory:read", "mcp-read") in [token.scopes for token in told]


def test_a_token_without_a_scope_is_not_issued(project: Project) -> None:
    for scopes in ((), ("",), (" ",), ("s" * 101,)):
        with problem("argument_invalid"):
            issue(project, *scopes)


def test_the_scope_is_checked_before_anything_else_is_said(project: Project) -> None:
    token, _ = issue(project, "mcp-read")
    tried: list[Operation[Any]] = [EndSession(session=99), MoveTask(99, TaskState.PENDING)]
    for operation in tried:
        with problem("role_forbidden"):
            project.execute(operation, MEMPROVE_TOKEN=token)


@pytest.mark.parametrize("operation", OWNERS, ids=lambda one: type(one).__name__)
def test_an_agents_token_does_nothing_of_the_owners(
    project: Project, operation: Operation[Any]
) -> None:
    project.execute(BeginWork(new_task="t"))
    size = project.size()
    token = (project.config_dir / "token").read_text().strip()
    with problem("role_forbidden", "owner"):
        project.execute(operation, MEMPROVE_TOKEN=token)
    assert project.size() == size


@pytest.mark.parametrize("operation", OWNERS, ids=lambda one: type(one).__name__)
def test_an_owners_operation_in_an_agents_shell_is_refused(
    project: Project, operation: Operation[Any]
) -> None:
    with problem("owner_in_agent_shell"):
        project.execute(operation, CLAUDECODE="1")


def test_what_the_owner_does_from_an_agents_shell_shows_for_ever(project: Project) -> None:
    caller = structs.replace(project.caller(CLAUDECODE="1"), from_agent=True)
    Ledger(caller).execute(IssueToken(name="x"))
    told = project.execute(ReadLog(limit=1)).events[0]
    assert (told.kind, told.role, told.agent_env) == ("token.issued", "owner", True)


def test_an_agents_own_writes_show_its_environment_too(project: Project) -> None:
    project.execute(BeginWork(new_task="t"), CLAUDECODE="1")
    assert project.execute(ReadLog(limit=1)).events[0].agent_env


def test_token_and_data_directory_are_read_on_every_call(project: Project, tmp_path: Path) -> None:
    ledger = project.ledger(MEMPROVE_DATA_DIR="")
    other = new_project(tmp_path / "other")
    ledger.execute(CreateTask("here"))
    other.execute(CreateTask("there"))
    kept = {name: (project.config_dir / name).read_bytes() for name in ("token", "data-dir")}
    (project.config_dir / "token").write_bytes(b"mpv_00_00")
    with problem("token_unknown"):
        ledger.execute(ListTasks())
    (project.config_dir / "token").write_bytes(kept["token"])
    assert [task.title for task in ledger.execute(ListTasks()).tasks] == ["here"]
    (project.config_dir / "data-dir").write_text(f"{other.data_dir}\n")
    with problem("token_unknown"):
        ledger.execute(ListTasks())
    (project.config_dir / "token").write_bytes((other.config_dir / "token").read_bytes())
    with problem("trust_missing"):
        ledger.execute(ListTasks())
    for name, data in kept.items():
        (project.config_dir / name).write_bytes(data)
    assert [task.title for task in ledger.execute(ListTasks()).tasks] == ["here"]


def test_an_owners_operation_reads_the_owners_file(project: Project) -> None:
    (project.config_dir / "token").unlink()
    assert issue(project, "mcp-read")
    with problem("token_missing"):
        project.execute(ListTasks())
    (project.config_dir / "owner-token").unlink()
    with problem("token_missing"):
        issue(project, "mcp-read")


def test_no_token_stands_in_the_ledger_or_in_the_workspace(project: Project) -> None:
    issued, _ = issue(project, "mcp-read")
    project.execute(BeginWork(new_task=f"t {issued}"))
    stored = project.everything_stored()
    for token in (issued, *(f.read_text() for f in project.config_dir.glob("*token"))):
        assert token.strip().split("_", 2)[2].encode() not in stored


def test_context_needs_no_token_and_no_ledger(tmp_path: Path, project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    env = {"MEMPROVE_CONFIG_DIR": str(tmp_path / "none"), "MEMPROVE_TOKEN": "nonsense"}
    told = Ledger(structs.replace(project.caller(), env=env)).look(ReadContext())
    assert told.client == "shell"
    assert told.context is not None
    assert told.context.session_number == 1
    assert not (tmp_path / "none").exists()


# What is stored


SECRET = "ghp_0123456789abcdefABCDEF0123456789abcd"
CUT = "[REDACTED:"


def test_a_secret_in_any_text_is_cut_before_the_log_sees_it(project: Project) -> None:
    variable = "correct-horse-battery"
    text = f"see {SECRET} and {variable}"

    def execute(operation: Operation[Any]) -> None:
        project.execute(operation, DB_PASSWORD=variable)

    execute(BeginWork(new_task=text, description=text, agent=text, role=text))
    execute(
        RecordCheckpoint(
            facts=(Fact(text=text, paths=(text,)),), open_items=(text,), next_action=text
        )
    )
    execute(ProposeDecision(text, text, text, (text,)))
    execute(DecideDecision("d1", DecisionState.ACCEPTED, text))
    execute(CreateTask(text, text))
    execute(MoveTask(2, TaskState.CANCELED, text))
    execute(EndSession(text))
    stored = project.everything_stored()
    assert SECRET.encode() not in stored
    assert variable.encode() not in stored
    assert CUT.encode() in stored
    project.check_green()


def test_a_secret_in_the_variables_of_an_agent_is_cut_too(project: Project) -> None:
    begun = project.execute(BeginWork(new_task="t"), MEMPROVE_AGENT_NAME=f"agent {SECRET}")
    assert begun.agent.startswith(f"agent {CUT}")
    assert SECRET.encode() not in project.everything_stored()


def test_a_text_that_is_not_unicode_is_refused_and_nothing_recorded(project: Project) -> None:
    size = project.size()
    with problem("text_invalid"):
        project.execute(BeginWork(new_task="\udc80"))
    assert project.size() == size


# Whole or not at all


def test_a_problem_in_the_middle_keeps_nothing(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    size = project.size()
    with problem("label_unknown"):
        project.execute(RecordCheckpoint(facts=(Fact(text="f"), Fact(text="g", evidence=("r1",)))))
    with problem("text_too_long"):
        project.execute(BeginWork(new_task="t" * 201))
    assert project.size() == size
    project.check_green()


def test_a_missing_or_unsafe_key_leaves_the_ledger_readable(project: Project) -> None:
    key = next(project.config_dir.glob("keys/*/1.key"))
    key.chmod(0o644)
    with problem("key_unsafe"):
        project.execute(CreateTask("t"))
    key.unlink()
    with problem("key_missing"):
        project.execute(CreateTask("t"))
    assert project.execute(ListTasks()).tasks == ()
    project.check_green()


def test_a_ledger_whose_head_does_not_hold_is_neither_read_nor_written(project: Project) -> None:
    project.tamper("UPDATE head SET note = x'00'")
    tried: list[Operation[Any]] = [ListTasks(), CreateTask("t")]
    for operation in tried:
        with problem("ledger_damaged"):
            project.execute(operation)
    report = project.verify()
    assert not report.ok


def test_a_ledger_without_its_first_row_is_damaged(project: Project) -> None:
    project.tamper("DELETE FROM row WHERE tbl = 'ledger'")
    tried: list[Operation[Any]] = [ListTasks(), CreateTask("t")]
    for operation in tried:
        with problem("ledger_damaged"):
            project.execute(operation)


def test_an_event_that_was_emptied_stops_what_rests_on_it(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    project.run(failed=1, exit=1)
    seq = project.size()
    project.tamper(f"UPDATE event SET payload = NULL, salt = NULL WHERE seq = {seq}")
    with problem("ledger_damaged", f"event {seq}"):
        project.execute(CompleteTask())
    found = project.verify().findings[0]
    assert (found.check, found.seq) == ("payloads", seq)


def test_the_progress_of_verify_is_told(project: Project) -> None:
    told: list[tuple[int, int]] = []
    report = project.execute(VerifyLedger(lambda done, of: told.append((done, of))))
    assert report.ok


# Time and other processes


def test_a_clock_that_steps_back_keeps_order_and_verifies(project: Project) -> None:
    project.execute(BeginWork(new_task="t"))
    for back in (-3_600_000, -1, 7_200_000, -86_400_000):
        project.clock.turn(back)
        project.execute(RecordCheckpoint(next_action=f"after {back}"))
    records = project.records()
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [r.leaf.at for r in records] != sorted(r.leaf.at for r in records)
    project.check_green()


APPEND = """
import sys
from pathlib import Path
from typing import Any
from memprove.ledger.operations.tasks import CreateTask
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
env = dict(pair.split("=", 1) for pair in sys.argv[2:])
ledger = Ledger(Caller("cli", Path(sys.argv[1]), env))
for number in range(25):
    print(ledger.execute(CreateTask(f"task {number}")).task)
"""


def test_four_processes_share_no_number_and_the_log_is_whole(project: Project) -> None:
    pairs = [f"{name}={value}" for name, value in project.env.items()]
    command = [sys.executable, "-c", APPEND, str(project.folder), *pairs]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * 4
    numbers = [int(line) for output in outputs for line in output.split()]
    assert sorted(numbers) == list(range(1, 101))
    assert all(
        list(map(int, output.split())) == sorted(map(int, output.split())) for output in outputs
    )
    project.check_green()
