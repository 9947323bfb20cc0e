"""``memprove mcp print-config``: each client's own format, and nothing read or written."""

import json
import os
import stat
import tomllib
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
from support.command_line import Desk, new_desk, without_root_rights
from support.git_repository import fingerprint, isolate
from support.snapshots import snapshot

from memprove.cli.commands import mcp
from memprove.mcp_facade.clients import CLIENTS, Scope, Start
from memprove.mcp_facade.print_config import _shown, printed

ADA = Start("/home/ada/.local/bin/memprove", "/home/ada/.config/memprove", "/home/ada/lists")
EVERY = [(name, scope) for name, client in CLIENTS.items() for scope in client.places]
NONE = [(name, s) for name, client in CLIENTS.items() for s in Scope if s not in client.places]
ENDINGS = {"codex": "toml", "continue": "yaml"}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository without a ledger."""
    isolate(monkeypatch, tmp_path / "home")
    return new_desk(tmp_path)


def servers(document: Any) -> dict[str, Any]:
    """Return the entry of our server, wherever a client keeps it."""
    while "memprove" not in document:
        document = next(value for value in document.values() if isinstance(value, dict))
    entry: dict[str, Any] = document["memprove"]
    return entry


def parsed(name: str, text: str) -> dict[str, Any]:
    """Return the entry in *text*; YAML is read as far as we write it."""
    if name == "codex":
        return servers(tomllib.loads(text))
    if name != "continue":
        return servers(json.loads(text))
    values = [line.split(": ", 1) for line in text.splitlines() if ': "' in line]
    found: dict[str, Any] = {key.strip(): json.loads(value) for key, value in values}
    args = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith('- "')]
    env = {"MEMPROVE_CONFIG_DIR": found["MEMPROVE_CONFIG_DIR"]}
    return {"command": found["command"], "args": list(map(json.loads, args)), "env": env}


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_an_entry_is_as_it_was(name: str, scope: Scope) -> None:
    told = printed(name, scope, ADA)
    ending = ENDINGS.get(name, "json")
    assert told.entry == snapshot(f"print-config/{name}-{scope}.{ending}", told.entry)
    notes = "".join(f"{note}\n" for note in told.notes)
    assert notes == snapshot(f"print-config/{name}-{scope}.txt", notes)


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_an_entry_names_program_arguments_and_configuration_and_nothing_secret(
    name: str, scope: Scope
) -> None:
    text = printed(name, scope, ADA).entry
    entry = parsed(name, text)
    command = entry["command"]
    words = command if isinstance(command, list) else [command, *entry["args"]]
    assert words == [ADA.command, "mcp", "serve", "--config-dir", ADA.config_dir]
    env: dict[str, str] = entry.get("env") or entry["environment"]
    assert env["MEMPROVE_CONFIG_DIR"] == ADA.config_dir
    assert all(isinstance(value, str) for value in env.values())
    assert "DATA_DIR" not in text
    assert "TOKEN" not in text.upper()


@pytest.mark.parametrize(("name", "scope"), EVERY)
def test_odd_paths_survive_in_every_format(name: str, scope: Scope) -> None:
    odd = '/home/a da/"q" \\ \x7f \t é 😀 \u202e # : {x}'.replace("\\", "/")
    entry = parsed(
        name,
        printed(name, scope, Start(f"{odd}/memprove", odd, odd))
        .entry.replace("\\U0001f600", "\\ud83d\\ude00")
        .replace("\\U0000", "\\u"),
    )
    command = entry["command"]
    assert (command[0] if isinstance(command, list) else command) == f"{odd}/memprove"


@pytest.mark.parametrize(("name", "scope"), NONE)
def test_a_scope_that_a_client_has_not_is_wrong_usage_that_names_what_it_has(
    bare: Desk, name: str, scope: Scope
) -> None:
    done = bare.memprove("mcp", "print-config", "--client", name, "--scope", scope)
    assert (done.code, done.stdout) == (2, b"")
    assert f"it has: {', '.join(CLIENTS[name].places)};" in done.err


def test_an_unknown_client_is_wrong_usage(bare: Desk) -> None:
    done = bare.memprove("mcp", "print-config", "--client", "emacs")
    assert (done.code, done.stdout) == (2, b"")


def test_the_command_knows_all_clients_and_scopes() -> None:
    assert [client.value for client in mcp.Client] == list(CLIENTS)
    assert [scope.value for scope in mcp.Scope] == list(Scope)


def test_the_entry_goes_to_stdout_and_where_it_belongs_to_stderr(bare: Desk) -> None:
    done = bare.memprove("mcp", "print-config")
    entry = servers(done.json)
    assert os.path.isabs(entry["command"])
    assert entry["args"][-1] == entry["env"]["MEMPROVE_CONFIG_DIR"] == str(bare.config)
    assert f"project scope: this belongs in {bare.folder}/.mcp.json\n" in done.err


def test_the_named_configuration_is_the_one_that_is_asked_for(bare: Desk) -> None:
    done = bare.memprove("--config-dir", "elsewhere", "mcp", "print-config")
    assert servers(done.json)["args"][-1] == str(bare.folder / "elsewhere")


def test_the_workspace_is_looked_for_upwards(bare: Desk) -> None:
    local = bare.memprove("mcp", "print-config", "--scope", "local", cwd=bare.folder / "dir")
    assert list(local.json["projects"]) == [str(bare.folder)]


def test_no_ledger_is_read_and_nothing_is_written_with_a_home_that_cannot_be_written(
    bare: Desk,
) -> None:
    home = Path(os.environ["HOME"])
    home.chmod(stat.S_IRUSR | stat.S_IXUSR)
    bare.base.joinpath("data").mkdir()
    (bare.data / "ledger.db").write_bytes(b"no ledger")
    before = fingerprint(bare.base)
    env = {"MEMPROVE_CONFIG_DIR": "", "MEMPROVE_DATA_DIR": str(bare.data)}
    for name, scope in EVERY:
        done = bare.memprove(
            *("mcp", "print-config", "--client", name, "--scope", scope),
            env=env,
            before=without_root_rights(),
        )
        assert done.code == 0, done.err
    assert fingerprint(bare.base) == before


def test_a_path_of_windows_is_printed_with_forward_slashes() -> None:
    assert _shown(PureWindowsPath(r"C:\Users\Ada L\memprove.exe")) == (
        "C:/Users/Ada L/memprove.exe"
    )
