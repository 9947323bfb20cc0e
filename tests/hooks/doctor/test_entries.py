"""What doctor sees in files of clients: twice, gone again, personal."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.client_files import LOCAL, SERVER, SHARED, Desk, new_client_desk
from support.git_repository import git, isolate

from memprove.hooks.doctor import child, entries, trial
from memprove.hooks.doctor.codex import codex
from memprove.hooks.doctor.wiring import Wiring
from memprove.ledger.findings import Finding, State
from memprove.ledger.settings import Caller
from memprove.ledger.workspace.resolve import place_at

OWN = Path("/opt/bin/memprove")
HOOK = {"type": "command", "command": "memprove", "args": ["hook", "SessionStart"]}
HOOKS = json.dumps({"hooks": {"SessionStart": [{"hooks": [HOOK]}]}})
PLUGIN = '{"enabledPlugins":{"memprove@memprove-example":true}}'


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_client_desk(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memprove").write_text("#!/bin/sh\n")
        (tmp_path / name / "memprove").chmod(0o755)
    return desk


def wiring(desk: Desk, path: str = os.environ["PATH"], **env: str) -> Wiring:
    config = {"MEMPROVE_CONFIG_DIR": str(desk.config)}
    caller = Caller("cli", desk.folder, {"PATH": path, **config, **env})
    return Wiring.look(caller, place_at(desk.folder), registered=True, own=OWN)


def faults(
    check: Callable[[Wiring], Iterator[Finding]], looked: Wiring, state: State = State.FAULT
) -> str:
    found = [one for one in check(looked) if one.state is state]
    assert all(one.cure for one in found)
    return "\n".join(one.what for one in found)


def test_what_init_wrote_is_in_order(desk: Desk) -> None:
    desk.install(instructions=True)
    looked = wiring(desk)
    for check in (entries.duplicates, entries.dropped, entries.tracked, codex):
        assert {one.state for one in check(looked)} <= {State.OK, State.SKIPPED}


def test_a_server_beside_that_of_the_plugin_is_there_twice(desk: Desk) -> None:
    desk.install()
    desk.write(SHARED, PLUGIN)
    found = faults(entries.duplicates, wiring(desk))
    assert "each tool is there twice" in found
    assert "SessionStart runs 2 hooks of memprove: .claude/settings.local.json, the plugin" in found


def test_different_hooks_in_two_files_run_twice_and_equal_ones_once(desk: Desk) -> None:
    desk.write(LOCAL, HOOKS)
    desk.write(SHARED, HOOKS)
    assert faults(entries.duplicates, wiring(desk)) == ""
    desk.write(LOCAL, HOOKS.replace('"memprove"', '"/opt/bin/memprove"'))
    assert f"{LOCAL}, {SHARED}" in faults(entries.duplicates, wiring(desk))


def test_a_hook_of_the_user_counts_too(desk: Desk, tmp_path: Path) -> None:
    desk.install()
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "settings.json").write_text(HOOKS)
    looked = wiring(desk, CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    assert "the settings of your user" in faults(entries.duplicates, looked)


def test_a_server_of_another_scope_is_a_warning(desk: Desk, tmp_path: Path) -> None:
    desk.install()
    known = {"projects": {str(desk.folder): {"mcpServers": {"memprove": {"command": "x"}}}}}
    (tmp_path / ".claude.json").write_text(json.dumps(known))
    looked = wiring(desk, CLAUDE_CONFIG_DIR=str(tmp_path))
    assert "of local scope" in faults(entries.duplicates, looked, State.WARNING)


def test_a_pipe_in_place_of_the_users_file_is_not_waited_for(desk: Desk, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".claude.json")
    desk.install()
    assert wiring(desk, CLAUDE_CONFIG_DIR=str(tmp_path)).own_entries() == []


def test_several_programs_on_the_path_are_a_warning(desk: Desk, tmp_path: Path) -> None:
    a, b = (str(tmp_path / name) for name in "ab")
    found = faults(entries.duplicates, wiring(desk, f"{b}:{a}:{b}"), State.WARNING)
    assert found == f"2 programs memprove are on the PATH: {b}/memprove, {a}/memprove"


@pytest.mark.parametrize(("name", "data"), [(LOCAL, "{}"), (SERVER, '{"mcpServers":{}}')])
def test_an_entry_that_a_client_dropped_is_found(desk: Desk, name: str, data: str) -> None:
    desk.install()
    desk.write(name, data)
    assert faults(entries.dropped, wiring(desk)).startswith(f"init wrote to {name}, where nothing")


def test_a_file_that_is_gone_or_is_not_loaded_is_found(desk: Desk) -> None:
    desk.install()
    (desk.folder / SERVER).unlink()
    desk.write(LOCAL, "{} // mine")
    found = faults(entries.dropped, wiring(desk))
    assert f"init wrote to {SERVER}" in found
    assert f"Claude Code does not load {LOCAL}: " in found


def test_a_personal_path_that_git_tracks_is_found(desk: Desk) -> None:
    desk.install()
    assert faults(entries.tracked, wiring(desk)) == ""
    git(desk.folder, "add", "--force", SERVER, LOCAL)
    found = faults(entries.tracked, wiring(desk))
    assert f"git tracks {SERVER}, " in found
    assert f"git tracks {LOCAL}, " in found
    desk.install()
    assert faults(entries.tracked, wiring(desk)) == ""


def shipped(desk: Desk, command: str, **env: str) -> None:
    server = {"command": command, "args": ["mcp", "serve"], "env": env}
    desk.write(SERVER, json.dumps({"mcpServers": {"memprove": server}}))


@pytest.mark.parametrize("command", ["./bin/memprove", "bin/memprove"])
def test_a_program_that_came_with_the_workspace_is_not_started(desk: Desk, command: str) -> None:
    program = desk.write("bin/memprove", "#!/bin/sh\ntouch started\n")
    program.chmod(0o755)
    shipped(desk, command)
    hook = {**HOOK, "command": str(program)}
    desk.write(LOCAL, json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
    looked = wiring(desk)
    for check in (trial.server, trial.hook):
        assert "which lies in this Workspace: it was not started" in faults(check, looked)
    assert not (desk.folder / "started").exists()


def test_a_line_for_a_shell_is_never_given_to_one(desk: Desk) -> None:
    hook = {"type": "command", "command": "memprove hook SessionStart$(touch started)"}
    desk.write(LOCAL, json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
    faults(trial.hook, wiring(desk))
    assert not (desk.folder / "started").exists()


def test_a_foreign_variable_of_an_entry_is_not_handed_on(desk: Desk, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "a" / "memprove"
    program.write_text(f"#!/bin/sh\nenv > {seen}\n")
    shipped(desk, str(program), LD_PRELOAD="evil", MEMPROVE_CONFIG_DIR="${NONE:-}")
    looked = wiring(desk, SECRET="x", HOME=str(tmp_path))
    assert "sets LD_PRELOAD" in faults(trial.server, looked, State.WARNING)
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert names - {"PWD", "SHLVL", "_"} == {
        *("PATH", "HOME", "CLAUDE_PROJECT_DIR", "MEMPROVE_CONFIG_DIR")
    }
    assert "PATH=/usr/bin:/bin\n" in seen.read_text()


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("exit 0", "it ended without an answer"),
        ("echo hello", "something that is no message of the protocol"),
        ('echo \'{"id":"discover","result":{}}\'', "it ended without an answer"),
    ],
)
def test_a_server_that_does_not_answer_is_a_fault(
    desk: Desk, tmp_path: Path, does: str, said: str
) -> None:
    program = tmp_path / "a" / "memprove"
    program.write_text(f"#!/bin/sh\n{does}\n")
    shipped(desk, str(program))
    assert said in faults(trial.server, wiring(desk))


def test_a_program_that_is_gone_is_a_fault(desk: Desk) -> None:
    desk.install()
    for check in (trial.server, trial.hook):
        assert "starts /opt/bin/memprove, which is not there" in faults(check, wiring(desk))


def test_a_program_that_only_your_path_has_is_a_warning(desk: Desk, tmp_path: Path) -> None:
    shipped(desk, "${MEMPROVE_BIN:-memprove}")
    path = os.pathsep.join((str(tmp_path / "a"), os.environ["PATH"]))
    found = faults(trial.server, wiring(desk, path), State.WARNING)
    assert "a client from a desktop may not find" in found
    named = wiring(desk, MEMPROVE_BIN=str(tmp_path / "a" / "memprove"))
    assert "desktop" not in faults(trial.server, named, State.WARNING)


def test_agents_on_another_ledger_are_a_warning(desk: Desk, tmp_path: Path) -> None:
    shipped(desk, str(tmp_path / "a" / "memprove"), MEMPROVE_CONFIG_DIR="/elsewhere")
    assert "the configuration in /elsewhere" in faults(trial.server, wiring(desk), State.WARNING)


def test_nothing_is_left_running(desk: Desk, tmp_path: Path) -> None:
    program = tmp_path / "a" / "memprove"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 600\n")
    command = child.Command((str(program),), {"PATH": "/usr/bin:/bin"}, tmp_path, 2.0)
    with pytest.raises(child.Silent, match="no answer in time"):
        child.ask(command, trial.messages())
    with pytest.raises(child.Silent, match="no end in 2 s"):
        child.finished(command, b"")
    pid = (tmp_path / "pid").read_text().strip()
    assert subprocess.run(["kill", "-0", pid], capture_output=True, check=False).returncode != 0
