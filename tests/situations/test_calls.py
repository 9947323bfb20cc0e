"""Calls that are lost, repeated, deleted under, or talked over: what was done stays done, once."""

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from support.command_line import MEMPROVE, Desk, desk_with_ledger
from support.git_repository import git, isolate
from support.ledgers import Project
from support.texts import HOSTILE
from support.wire import EXECUTABLE, initialize, request, served


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


# Deleted under us


def test_whatever_can_be_deleted_during_a_run_is_no_lock(desk: Desk) -> None:
    desk.begin()
    wait = 'import sys; print("begun", flush=True); sys.stdin.readline()'
    running = subprocess.Popen(
        [*MEMPROVE, "run", "--", sys.executable, "-c", wait],
        cwd=desk.folder,
        env=desk.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"begun\n"
    files = [path for path in desk.base.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert not [path.name for path in files if path.suffix in (".lock", ".pid")]
    shutil.rmtree(desk.folder / ".memprove")
    shutil.rmtree(desk.base / "state")
    stated = desk.memprove("checkpoint", "--fact", "meanwhile")
    assert (stated.code, stated.out) == (0, "c1 recorded · c1 asserted: no Run cited\n"), stated
    _, told = running.communicate(b"\n")
    assert (running.returncode, told[:20]) == (0, b"memprove: r1 passed ")
    assert desk.memprove("verify").code == 0


# Sent again


@pytest.mark.parametrize(
    "words",
    [
        ("begin", "once"),
        ("checkpoint", "--fact", "once", "--open", "item"),
        ("decide", "once", "--choice", "this", "--rationale", "because"),
        ("end", "--note", "once"),
    ],
    ids=lambda words: words[0],
)
def test_a_write_whose_answer_nobody_read_is_done_once(desk: Desk, words: tuple[str, ...]) -> None:
    if words[0] != "begin":
        desk.begin()
    gone, unread = os.pipe()
    os.close(gone)
    lost = subprocess.run(
        [*MEMPROVE, *words], cwd=desk.folder, env=desk.env, stdout=unread, check=False
    )
    os.close(unread)
    ledger = Project(desk.folder, desk.config, desk.data, desk.env)
    size = ledger.size()
    again = desk.memprove(*words, "--json")
    assert (lost.returncode, again.code) == (0, 0)
    assert again.json["replayed"] is True
    assert ledger.size() == size


# Talked over


TALKER = """
import sys, warnings

class Talker:
    def find_spec(self, name, path=None, target=None):
        if name in ("mcp", "mcp_types", "pydantic", "anyio", "apsw", "msgspec"):
            print("loading", name)
            print("loading", name, file=sys.stderr)
            warnings.warn("old " + name, DeprecationWarning)
        return None

sys.meta_path.insert(0, Talker())
"""


def test_what_others_print_while_they_are_imported_is_no_message(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(TALKER)
    env = {
        "PYTHONPATH": str(tmp_path / "site"),
        "PYTHONWARNINGS": "always",
        "PYTHONVERBOSE": "1",
        "PYTHONDEVMODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MEMPROVE_CONFIG_DIR": str(tmp_path / "config"),
    }
    with served(tmp_path, EXECUTABLE, env) as wire:
        assert wire.ask(initialize())["result"]["serverInfo"]["name"] == "memprove"
        assert len(wire.ask(request(2, "tools/list"))["result"]["tools"]) == 10
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.process.stdout is not None
        assert wire.process.stdout.read() == b""


def test_tools_are_listed_although_there_is_no_store_and_no_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config")  # who opens it for reading waits for ever
    env = {
        "MEMPROVE_CONFIG_DIR": str(tmp_path / "config"),
        "MEMPROVE_DATA_DIR": str(tmp_path / "nowhere"),
        "MEMPROVE_STATE_DIR": "/dev/null",
    }
    with served(tmp_path, EXECUTABLE, env) as wire:
        wire.send(initialize(), request(2, "tools/list"))
        assert wire.read()["result"]["protocolVersion"] == "2025-11-25"
        assert len(wire.read()["result"]["tools"]) == 10
        refused = wire.ask(request(3, "tools/call", {"name": "tasks", "arguments": {}}))
        assert refused["result"]["isError"]
    assert not (tmp_path / "nowhere").exists()


def test_a_json_answer_is_one_document_whatever_is_said_beside_it(desk: Desk) -> None:
    desk.begin()
    (desk.folder / ".memprove" / "context" / "shell.json").write_text("{")
    env = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    done = desk.memprove("checkpoint", "--fact", "so", "--json", env=env)
    assert json.loads(done.stdout)["claims"] == ["c1"]
    assert "context_invalid" in done.err


# Text that wants to be more


def steers(text: str) -> list[str]:
    """Return the code points of *text* that a terminal obeys or a reader does not see."""
    kinds = {char: unicodedata.category(char) for char in set(text) - {"\n"}}
    joiner = "\u200d"  # within an emoji
    unseen = ("Cc", "Cf", "Zl", "Zp")
    return [char for char, kind in kinds.items() if kind in unseen and char != joiner]


def test_no_text_from_anywhere_steers_a_terminal(desk: Desk) -> None:
    escape = "".join(HOSTILE[8:11])
    branch = "b\u202eranch\u200b"
    name = "file\x1b]0;x\x07\r\x9b2J\u202e.txt"
    git(desk.folder, "checkout", "--quiet", "-b", branch)
    (desk.folder / name).write_text("x\n")
    hostile = {"MEMPROVE_AGENT_NAME": f"agent {escape}", "MEMPROVE_AGENT_ROLE": escape[:20]}
    assert desk.memprove("begin", f"title {escape}", env=hostile).code == 0
    ran = desk.memprove("run", "--", "printf", escape.encode(), f"word {escape}", env=hostile)
    assert ran.code == 0
    facts = ("--fact", f"fact {escape} [r1]", "--open", escape, "--next", escape)
    assert desk.memprove("checkpoint", *facts, env=hostile).code == 0
    (desk.folder / name).write_text("changed\n")
    verbs = (
        *("resume", "claims", "tasks", "log", "context", "show r1"),
        *("show c1", "log --json"),
    )
    for verb in verbs:
        done = desk.memprove(*verb.split(), env=hostile)
        lines = [line for line in done.err.splitlines() if line.startswith("memprove: ")]
        shown = "\n".join([done.out, *lines])
        assert shown
        assert steers(shown) == [], (verb, shown)
    for words in (("show", escape), ("tasks", "--status", escape)):
        refused = desk.memprove(*words, env=hostile)
        assert steers(refused.out + refused.err) == [], words
