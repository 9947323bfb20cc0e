"""What Codex makes of our hooks. The hashes are those that Codex 0.171 gave for these files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.client_files import Desk, new_client_desk
from support.git_repository import isolate

from memprove.hooks.doctor.codex import codex, trusted_hash
from memprove.hooks.doctor.wiring import Wiring
from memprove.hooks.install import claude
from memprove.ledger.findings import Finding, State
from memprove.ledger.settings import Caller
from memprove.ledger.workspace.resolve import place_at


def hooks(event: str, matcher: str | None, **more: Any) -> bytes:
    handler = {"type": "command", "command": f"memprove hook {event}", **more}
    group = {"hooks": [handler]} if matcher is None else {"matcher": matcher, "hooks": [handler]}
    return json.dumps({"hooks": {event: [group]}}).encode()


START = hooks("SessionStart", "startup|resume", timeout=0, statusMessage="läuft")
START_HASH = "sha256:1bf79c51cef61823d44a684838a1974be6e8ae1bbf5eee6fb50e966ea817f558"
SAMPLES = {
    START: START_HASH,
    hooks("SessionStart", None): (
        "sha256:2acb3db7095c01f29da5600242786a2193392825ff427b6368fc3123f93fbbc5"
    ),
    hooks("SubagentStart", "x"): (
        "sha256:c257c266a4dce0f406f5f1bccd053284d8f646acac6c9ecbec55424076db6f6b"
    ),
    hooks("SessionEnd", "x", timeout=2): (
        "sha256:402262acb3796fa75be924c7e6ac1dc9e0f8eb1064af5a1687b80d2dad0d5d4b"
    ),
    hooks("PreCompact", "", timeout=7): (
        "sha256:ed46096e138d0eb17e5837dc45f7530f99a0e5555a55cd50ebf18403334dc2d7"
    ),
    hooks("PostToolUse", "*", timeout=10, **{"async": True}): (
        "sha256:5468a60999ebb802bfbc34d27913e63cfe29bef9cc553ea59bfb5e9edf88cc1e"
    ),
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return new_client_desk(tmp_path)


def looked_at(desk: Desk, home: Path) -> Finding:
    env = {"MEMPROVE_CONFIG_DIR": str(desk.config), "CODEX_HOME": str(home), "PATH": "/bin"}
    caller = Caller("cli", desk.folder, env)
    (found,) = codex(Wiring.look(caller, place_at(desk.folder), registered=True, own=Path("/x")))
    assert found.cure or found.state in (State.OK, State.SKIPPED)
    return found


@pytest.mark.parametrize(("data", "expected"), SAMPLES.items())
def test_the_hash_is_that_of_codex(data: bytes, expected: str) -> None:
    (handler,) = claude.our_handlers(data)
    assert trusted_hash(handler) == expected


def test_only_a_hook_that_is_trusted_as_it_is_now_is_run(desk: Desk, tmp_path: Path) -> None:
    home = tmp_path / "codex"
    home.mkdir()
    assert looked_at(desk, home).state is State.SKIPPED
    file = desk.write(".codex/hooks.json", START.decode())
    key = f'[hooks.state."{os.path.realpath(file)}:session_start:0:0"]\n'
    trusted = f'{key}trusted_hash = "{START_HASH}"\n'
    for config, state, said in (
        ("", State.FAULT, "it is not trusted"),
        (key, State.FAULT, "it is not trusted"),
        (trusted + "enabled = false\n", State.FAULT, "it is turned off"),
        (trusted.replace(":1bf7", ":0000"), State.FAULT, "it was changed since it was trusted"),
        (trusted.replace("sha256:", "sha512:"), State.WARNING, "a form that is not known here"),
        (trusted, State.OK, "Codex trusts the hook"),
        ("[", State.WARNING, "does not say whether"),
        ("hooks = 1", State.WARNING, "does not say whether"),
    ):
        (home / "config.toml").write_text(config)
        found = looked_at(desk, home)
        assert (found.state, said in found.what) == (state, True), config


def test_arguments_that_codex_would_leave_out_are_found(desk: Desk, tmp_path: Path) -> None:
    handler = {"type": "command", "command": "memprove", "args": ["hook", "SessionStart"]}
    written = {"hooks": {"SessionStart": [{"hooks": [handler]}]}}
    desk.write(".codex/hooks.json", json.dumps(written))
    assert "without its `args`" in looked_at(desk, tmp_path).what
