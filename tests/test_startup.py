"""What starting up costs: held by what is imported, for times differ between machines."""

import sys
from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate

NEVER = {
    *("mcp", "pydantic", "pydantic_core", "rich", "pygments", "markdown_it", "click"),
    *("asyncio", "http", "email", "sqlite3", "argparse", "logging", "socket", "ssl"),
    *("tomllib", "unittest", "multiprocessing", "xml", "pathspec", "importlib.metadata"),
}
PROGRAM = """
import os, sys
from memprove.cli.main import main
os._exit = lambda code: print("\\n" + " ".join(sys.modules))
main()
"""
HOOK = """
import os, sys
from memprove.cli.main import main
from memprove.hooks import guard
told = lambda: " ".join(sys.modules)
guard.answer = lambda work, until, at_most: print(work(), told(), sep="\\n", flush=True)
main()
"""
SERVER = """
import os, sys
from memprove.cli import main
main._leave = lambda code: os._exit(os.write(kept, " ".join(sys.modules).encode()) and code)
kept = os.dup(2)
main.main()
"""
OTHERS = ("packs", "claims", "tasks", "verification", "tokens", "workspaces", "setup", "logs")
NOT_FOR_RUNS = ("capsule", "evidence", "decide", "completion", "pack", "lines")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    desk.begin()
    return desk


def imported(desk: Desk, *arguments: str) -> set[str]:
    """Return the names of the modules that the command has imported when it ends."""
    done = desk.memprove(*arguments, command=(sys.executable, "-P", "-c", PROGRAM))
    *_, names = done.out.splitlines()
    modules = set(names.split())
    return modules | {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("verb", ["run -- true", "checkpoint --fact so", "--version", "resume"])
def test_a_verb_imports_nothing_that_is_not_its_own(desk: Desk, verb: str) -> None:
    names = imported(desk, *verb.split())
    assert "memprove.cli.app" in names, "the command was imported at all"
    assert not names & NEVER


def test_a_hook_imports_no_command_line(desk: Desk) -> None:
    document = b'{"session_id":"x","hook_event_name":"SessionStart"}'
    done = desk.memprove(
        "hook", "SessionStart", stdin=document, command=(sys.executable, "-P", "-c", HOOK)
    )
    answer, modules = done.out.splitlines()
    names = set(modules.split())
    assert "Task 1" in answer
    assert {"memprove.hooks.starting", "memprove.ledger.domain.pack", "apsw"} <= names
    assert not names & (
        NEVER | {"typer", "memprove.cli.app", "memprove.mcp_facade", "platformdirs"}
    )
    assert not names & {"memprove.ledger.capture", "memprove.ledger.recording"}
    assert not names & {"memprove.ledger.domain.redaction", "memprove.ledger.operations.decisions"}
    assert not names & {"dataclasses", "inspect", "typing_extensions"}, "each costs a tenth"


def test_the_server_imports_no_command_line(desk: Desk) -> None:
    entry = ("mcp", "serve", "--config-dir", desk.env["MEMPROVE_CONFIG_DIR"])
    done = desk.memprove(*entry, command=(sys.executable, "-P", "-c", SERVER))
    names = set(done.err.split())
    assert {"mcp", "memprove.mcp_facade.loop", "memprove.ledger.service"} <= names
    assert not names & {"typer", "memprove.cli.app"}
    assert "Usage" in desk.memprove("mcp", "serve", "--help").out


def test_run_imports_no_other_verb(desk: Desk) -> None:
    names = imported(desk, "run", "--", "true")
    assert "memprove.cli.commands.runs" in names
    assert not names & {f"memprove.cli.commands.{other}" for other in OTHERS}
    assert not names & {f"memprove.ledger.domain.{module}" for module in NOT_FOR_RUNS}


def test_the_version_needs_no_ledger(desk: Desk) -> None:
    names = imported(desk, "--version")
    assert not names & {"apsw", "cryptography", "memprove.ledger.service"}


def test_the_check_sees_what_is_imported(desk: Desk) -> None:
    assert "memprove.cli.commands.claims" in imported(desk, "claims")
