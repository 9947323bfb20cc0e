"""Broken, missing, unreadable, too new: each is one Problem, nothing recorded, nothing lost."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support.command_line import Desk, Inside, new_desk, without_root_rights
from support.git_repository import git, isolate
from support.ledgers import Project

from memprove.ledger.storage.registry import FILE_NAME

AGENT = {"CLAUDECODE": "1"}


def signing_key(desk: Desk) -> Path:
    """Return the file of the one signing key."""
    (key,) = (path for path in (desk.config / "keys").rglob("*") if path.is_file())
    return key


def no_config(desk: Desk) -> None:
    (desk.folder / ".memprove" / "config.toml").write_text("[evidence\n")


def unknown_config_key(desk: Desk) -> None:
    (desk.folder / ".memprove" / "config.toml").write_text('[evidence]\n"\x1brun" = 1\n')


def broken_owner_policy(desk: Desk) -> None:
    (desk.config / "config.toml").write_text("[complete]\nkinds = ['other']\n")


def no_key(desk: Desk) -> None:
    signing_key(desk).unlink()


def key_for_everybody(desk: Desk) -> None:
    signing_key(desk).chmod(0o644)


def newer_ledger(desk: Desk) -> None:
    connection = apsw.Connection(str(desk.data / FILE_NAME))
    connection.pragma("user_version", 999)
    connection.execute("UPDATE format SET min_writer = 999")
    connection.close()


def other_file_in_its_place(desk: Desk) -> None:
    no_ledger_file(desk)  # with its write-ahead log, from which SQLite would read on
    (desk.data / FILE_NAME).write_bytes(b"no database" * 500)


def no_ledger_file(desk: Desk) -> None:
    for file in desk.data.iterdir():
        file.unlink()


def no_data_dir(desk: Desk) -> None:
    desk.data.rename(desk.base / "elsewhere")


def empty_token(desk: Desk) -> None:
    (desk.config / "token").write_text("\n")


def token_of_something_else(desk: Desk) -> None:
    (desk.config / "token").write_text("ghp_abc\n")


def unknown_token(desk: Desk) -> None:
    (desk.config / "token").write_text("mpv_0000000000000000_c2VjcmV0\n")


def token_is_a_folder(desk: Desk) -> None:
    (desk.config / "token").unlink()
    (desk.config / "token").mkdir()


def no_token(desk: Desk) -> None:
    (desk.config / "token").unlink()


def broken_trust(desk: Desk) -> None:
    (desk.config / "trust").write_text("nonsense\n")


def no_trust(desk: Desk) -> None:
    (desk.config / "trust").unlink()


@pytest.mark.parametrize(
    ("damage", "verb", "problem"),
    [
        (no_config, "claims", "workspace_config_invalid"),
        (unknown_config_key, "claims", "workspace_config_invalid"),
        (broken_owner_policy, "complete", "config_invalid"),
        (no_key, "checkpoint --fact so", "key_missing"),
        (key_for_everybody, "checkpoint --fact so", "key_unsafe"),
        (newer_ledger, "checkpoint --fact so", "ledger_newer"),
        (other_file_in_its_place, "tasks", "ledger_damaged"),
        (no_ledger_file, "tasks", "data_dir_unreadable"),
        (no_data_dir, "tasks", "data_dir_unreadable"),
        (no_data_dir, "init", "data_dir_unreadable"),
        (empty_token, "tasks", "token_unreadable"),
        (token_of_something_else, "tasks", "token_unreadable"),
        (unknown_token, "tasks", "token_unknown"),
        (token_is_a_folder, "tasks", "token_unreadable"),
        (no_token, "tasks", "token_missing"),
        (broken_trust, "tasks", "trust_invalid"),
        (no_trust, "checkpoint --fact so", "trust_missing"),
    ],
)
def test_what_is_damaged_is_told(
    desk: Desk, inside: Inside, damage: Callable[[Desk], None], verb: str, problem: str
) -> None:
    inside("begin", "try it")
    damage(desk)
    done = inside(*verb.split())
    assert done.problem == problem
    assert "\x1b" not in done.err


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"MEMPROVE_DATA_DIR": "relative"}, "data_dir_unreadable"),
        ({"MEMPROVE_DATA_DIR": "/nowhere\n/x"}, "data_dir_unreadable"),
        ({"MEMPROVE_TOKEN": "mpv_x"}, "token_unreadable"),
        ({"MEMPROVE_TOKEN_FILE": "/nowhere"}, "token_unreadable"),
        ({"MEMPROVE_SESSION": "one"}, "argument_invalid"),
        ({"MEMPROVE_SESSION": "99"}, "session_unknown"),
        ({"MEMPROVE_DATA_DIR": "", "MEMPROVE_CONFIG_DIR": "/nowhere"}, "data_dir_missing"),
        ({"MEMPROVE_CONFIG_DIR": "/nowhere"}, "token_missing"),
    ],
)
def test_a_variable_that_leads_nowhere_is_told(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], problem: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert inside("claims").problem == problem


def test_a_variable_that_was_not_expanded_counts_as_unset(desk: Desk) -> None:
    env = {
        "MEMPROVE_TOKEN": "${MEMPROVE_TOKEN}",
        "MEMPROVE_TOKEN_FILE": "${TOKEN_FILE:-}",
        "MEMPROVE_DATA_DIR": "${MEMPROVE_DATA_DIR}",
        "MEMPROVE_SESSION": "",
        "MEMPROVE_CONTEXT": "${MEMPROVE_CONTEXT}",
    }
    assert desk.memprove("begin", "try it", env=env).code == 0


def test_a_context_that_is_broken_is_moved_aside_and_said(desk: Desk, inside: Inside) -> None:
    inside("begin", "try it")
    context = desk.folder / ".memprove" / "context" / "shell.json"
    context.write_text('{"session": "mine"}')
    done = inside("checkpoint", "--fact", "so")
    assert (done.code, done.out) == (0, "c1 recorded · c1 asserted: no Run cited\n")
    assert done.err.startswith("memprove: context_invalid: ")
    assert done.err.count("\n") == 1


def test_a_context_of_another_ledgers_session_is_refused(desk: Desk, inside: Inside) -> None:
    inside("begin", "one")
    context = desk.folder / ".memprove" / "context" / "shell.json"
    text = context.read_text()
    task = inside("begin", "two", "--json").json["task_id"]
    first = text.split('"task":"')[1][:36]
    context.write_text(text.replace(first, task))
    assert inside("checkpoint", "--fact", "so").problem == "context_invalid"


@pytest.mark.parametrize(
    "verb",
    [
        ("init",),
        ("decisions", "accept", "d1"),
        ("complete", "--accept-untested", "because"),
        ("complete", "--accept-stale", "because"),
        ("token", "issue", "more"),
        ("token", "rotate", "0123456789abcdef"),
        ("token", "revoke", "0123456789abcdef"),
        ("token", "list"),
        ("workspace", "attach", "1"),
    ],
)
def test_an_owners_verb_is_refused_in_an_agents_shell(
    desk: Desk, inside: Inside, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    inside("begin", "try it")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert inside(*verb).problem == "owner_in_agent_shell"
    assert "owner_in_agent_shell" not in inside(*verb, "--from-agent").err


def test_what_an_owner_does_from_an_agents_shell_shows(desk: Desk) -> None:
    desk.begin()
    desk.memprove("decide", "t", "--choice", "c", "--rationale", "r")
    assert desk.memprove("decisions", "accept", "d1", "--from-agent", env=AGENT).code == 0
    assert "owner in an agent shell (cli)" in desk.memprove("log").out


def test_an_agents_token_does_no_owners_work(desk: Desk) -> None:
    token = (desk.config / "token").read_text().strip()
    refused = desk.memprove("token", "list", env={"MEMPROVE_TOKEN": token})
    assert refused.problem == "role_forbidden"
    assert token not in refused.err


def test_init_refuses_files_of_memprove_that_git_tracks(desk: Desk, inside: Inside) -> None:
    git(desk.folder, "add", "--force", ".memprove/workspace")
    assert inside("init").problem == "memprove_files_tracked"


def read_only(*folders: Path) -> None:
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)


def writable(*folders: Path) -> None:
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_data_directory_that_cannot_be_written(desk: Desk) -> None:
    before = without_root_rights()
    desk.begin()
    read_only(desk.data)
    done = desk.memprove("checkpoint", "--fact", "so", before=before)
    writable(desk.data)
    assert done.problem == "ledger_unwritable"
    assert desk.memprove("claims").out == "no such claims\n"
    assert desk.memprove("verify").code == 0


def test_a_data_directory_that_cannot_be_read(desk: Desk) -> None:
    before = without_root_rights()
    desk.data.chmod(0)
    done = desk.memprove("tasks", before=before)
    desk.data.chmod(0o700)
    assert done.problem in ("data_dir_unreadable", "ledger_unwritable")


def test_a_workspace_folder_that_cannot_be_written_loses_nothing(desk: Desk) -> None:
    before = without_root_rights()
    read_only(desk.folder / ".memprove")
    done = desk.memprove("begin", "try it", before=before)
    writable(desk.folder / ".memprove")
    assert (done.code, done.out) == (0, "Session 1 begun by unnamed · new Task 1 “try it”\n")
    assert done.err.startswith("memprove: the context was not written: ")
    assert desk.memprove("checkpoint", "--fact", "so").out.startswith("c1 recorded")


def test_a_config_directory_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_desk(tmp_path)
    before = without_root_rights()
    tmp_path.chmod(0o500)
    done = desk.memprove("init", before=before)
    tmp_path.chmod(0o700)
    assert done.problem == "config_unreadable"


def test_a_token_that_only_others_may_read(desk: Desk) -> None:
    before = without_root_rights()
    (desk.config / "token").chmod(0)
    assert desk.memprove("tasks", before=before).problem == "token_unreadable"


def test_a_trust_file_that_only_others_may_read(desk: Desk) -> None:
    before = without_root_rights()
    (desk.config / "trust").chmod(0)
    for verb in ("tasks", "verify"):
        refused = desk.memprove(verb, before=before)
        assert (refused.problem, "/trust: " in refused.err) == ("config_unreadable", True)


def test_what_helps_where_nothing_can_be_written_is_told(desk: Desk) -> None:
    before = without_root_rights()
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (desk.data / name).unlink()
    read_only(desk.data)
    done = desk.memprove("tasks", before=before)
    writable(desk.data)
    assert done.problem == "data_dir_unreadable"
    assert "run a command once where it can be written" in done.err


def test_a_refused_write_leaves_a_ledger_that_verifies(desk: Desk, inside: Inside) -> None:
    inside("begin", "try it")
    no_key(desk)
    assert inside("checkpoint", "--fact", "so").problem == "key_missing"
    Project(desk.folder, desk.config, desk.data, desk.env).check_green()
