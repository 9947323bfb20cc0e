"""``memprove init`` as people call it: what it says, what it writes, what it refuses."""

import json
import os
import stat
from pathlib import Path

import pytest
from support.command_line import Desk, Inside, new_desk, without_root_rights
from support.git_repository import git, isolate

SERVER = ".mcp.json"
LOCAL = ".claude/settings.local.json"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A project where nothing was set up."""
    isolate(monkeypatch, tmp_path / "home")
    return new_desk(tmp_path)


def everything(base: Path) -> dict[str, tuple[int, int]]:
    """Return the kind and time of everything below *base*."""
    return {
        str(path): (stat.S_IFMT(path.lstat().st_mode), path.lstat().st_mtime_ns)
        for path in base.rglob("*")
    }


def test_init_says_what_it_did_and_what_comes_next(desk: Desk, inside: Inside) -> None:
    done = inside("init")
    root = desk.folder
    assert done.out.splitlines() == [
        f"ledger made in `{desk.data}`",
        f"configuration, keys and tokens in `{desk.config}`",
        f"Workspace 1 registered: `{root}`",
        f"`{root}/.git/info/exclude` changed: git does not show {SERVER} and {LOCAL}",
        f"`{root}/{SERVER}` made: server memprove",
        f"`{root}/{LOCAL}` made: hook SessionStart",
        "next: start Claude Code anew here, and approve its server memprove when it asks",
    ]
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""


def test_a_second_init_writes_nothing(desk: Desk, inside: Inside) -> None:
    inside("init")
    before = everything(desk.folder) | everything(desk.config)
    again = inside("init")
    assert again.out.splitlines()[-1] == "Claude Code's files are as they should be"
    assert everything(desk.folder) | everything(desk.config) == before
    assert (inside("init", "--check").code, inside("init", "--dry-run").out) == (0, "")


def test_the_entries_name_what_runs_and_where_it_is_configured(desk: Desk, inside: Inside) -> None:
    inside("init")
    entry = json.loads((desk.folder / SERVER).read_text())["mcpServers"]["memprove"]
    groups = json.loads((desk.folder / LOCAL).read_text())["hooks"]["SessionStart"]
    (handler,) = groups[0]["hooks"]
    assert Path(entry["command"]).name == "memprove"
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"] == ["mcp", "serve", "--config-dir", str(desk.config)]
    assert entry["env"] == {"MEMPROVE_CONFIG_DIR": str(desk.config)}
    assert handler["command"] == entry["command"]
    assert handler["args"] == ["hook", "SessionStart", "--config-dir", str(desk.config)]


def test_a_link_that_it_was_started_by_is_what_is_written(desk: Desk, tmp_path: Path) -> None:
    from_venv = desk.memprove("init", "--dry-run").out
    program = Path(json.loads(from_venv.split('"command": ')[1].split(",")[0]))
    shim = tmp_path / "bin" / "memprove"
    shim.parent.mkdir()
    shim.symlink_to(program)
    desk.memprove("init", command=(str(shim),))
    assert f'"command": "{shim}"' in (desk.folder / SERVER).read_text()


def test_no_token_is_in_any_file_of_the_project(desk: Desk, inside: Inside) -> None:
    inside("init", "--instructions", "--hooks", "SessionEnd")
    texts = [path.read_bytes() for path in desk.folder.rglob("*") if path.is_file()]
    tokens = [(desk.config / name).read_bytes().strip() for name in ("token", "owner-token")]
    assert not [text for text in texts for token in tokens if token in text or b"mpv_" in text]


def test_a_dry_run_prints_a_diff_and_makes_nothing(desk: Desk, inside: Inside) -> None:
    (desk.folder / SERVER).write_text('{\n\t"mcpServers": {}\n}')
    before = everything(desk.base)
    done = inside("init", "--dry-run", "--instructions")
    assert everything(desk.base) == before
    assert done.code == 0
    assert done.err.splitlines() == [
        f"memprove: would make a ledger in {desk.data}",
        f"memprove: would make a Workspace at {desk.folder}",
    ]
    named = [line for line in done.out.splitlines() if line.startswith(("--- ", "+++ "))]
    assert named[2:] == [
        *(f"--- a/{SERVER}", f"+++ b/{SERVER}", "--- /dev/null", f"+++ b/{LOCAL}"),
        *("--- /dev/null", "+++ b/AGENTS.md"),
    ]
    assert '-\t"mcpServers": {}\n' in done.out
    assert "\\ No newline at end of file\n" in done.out


def test_the_diff_of_a_dry_run_is_what_init_does(desk: Desk, inside: Inside) -> None:
    (desk.folder / SERVER).write_text('{"mcpServers": {}}')
    patch = inside("init", "--dry-run", "--instructions").stdout
    inside("init", "--instructions")
    names = (SERVER, LOCAL, "AGENTS.md", ".git/info/exclude")
    installed = {name: (desk.folder / name).read_bytes() for name in names}
    inside("init", "--uninstall")
    git(desk.folder, "apply", "--unsafe-paths", "--exclude=.git/*", stdin=patch)
    assert {name: (desk.folder / name).read_bytes() for name in names[:3]} == {
        name: installed[name] for name in names[:3]
    }


def test_a_dry_run_shows_no_secret_and_nothing_that_steers_a_terminal(
    desk: Desk, inside: Inside
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    (desk.folder / SERVER).write_text(f'{{\n"x\x7f": "{token}",\n"mcpServers": {{}}\n}}')
    out = inside("init", "--dry-run").out
    assert "mcpServers" in out
    assert token not in out
    assert "\x7f" not in out


def test_check_says_what_would_change_by_its_exit_code(desk: Desk, inside: Inside) -> None:
    fresh = inside("init", "--check")
    inside("init")
    (desk.folder / SERVER).unlink()
    gone = inside("init", "--check", "--json")
    assert fresh.code == 1
    assert "would be made: " in fresh.out
    assert (gone.code, [file["did"] for file in gone.json["files"]]) == (1, ["made"])
    assert not (desk.folder / SERVER).exists()


def test_uninstall_takes_out_what_init_put_in(desk: Desk, inside: Inside) -> None:
    (desk.folder / SERVER).write_bytes(b'{"mcpServers": {"a": {}}}')
    exclude = (desk.folder / ".git/info/exclude").read_bytes()
    inside("init", "--instructions")
    assert inside("init", "--uninstall", "--check").code == 1
    done = inside("init", "--uninstall")
    assert [line.rpartition(" ")[0] for line in done.out.splitlines()[:-1]] == [
        f"`{desk.folder}/AGENTS.md` removed: as",
        f"`{desk.folder}/{LOCAL}` removed: as",
        f"`{desk.folder}/{SERVER}` changed: as",
        f"`{desk.folder}/.git/info/exclude` changed: as",
    ]
    assert (desk.folder / SERVER).read_bytes() == b'{"mcpServers": {"a": {}}}'
    assert (desk.folder / ".git/info/exclude").read_bytes() == exclude
    assert not (desk.folder / ".claude").exists()
    assert inside("tasks").code == 0
    nothing = inside("init", "--uninstall")
    assert nothing.out.startswith("nothing of memprove was in the files\n")
    assert inside("init", "--uninstall", "--check").code == 0


# What is refused


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"mcpServers": {},}', "client_file_invalid"),
        ('{"mcpServers": {"memprove": {"command": "x"}}}', "client_entry_foreign"),
    ],
)
def test_a_file_that_refuses_stops_all_of_it(
    desk: Desk, inside: Inside, text: str, code: str
) -> None:
    (desk.folder / SERVER).write_text(text)
    before = everything(desk.base)
    assert inside("init").problem == code
    assert inside("init", "--dry-run").problem == code
    assert everything(desk.base) == before


def test_an_event_that_memprove_has_no_hook_for_is_wrong_usage(desk: Desk, inside: Inside) -> None:
    done = inside("init", "--hooks", "Stop")
    assert (done.code, "SubagentStart" in done.err) == (2, True)
    assert (inside("init", "SessionEnd").code, desk.config.exists()) == (2, False)
    several = inside("init", "--dry-run", "--hooks", "SubagentStart,PreCompact", "SessionEnd").out
    assert all(
        f'"{event}": [' in several for event in ("SubagentStart", "PreCompact", "SessionEnd")
    )
    assert not desk.config.exists()


def test_an_agent_may_look_and_not_write(
    desk: Desk, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert inside("init", "--dry-run").code == 0
    assert inside("init").problem == "owner_in_agent_shell"
    assert inside("init", "--uninstall").problem == "owner_in_agent_shell"
    assert not (desk.folder / SERVER).exists()
    assert inside("init", "--from-agent").code == 0


def test_where_files_are_read_only_the_hint_is_told_and_no_ledger_made(desk: Desk) -> None:
    before = without_root_rights()
    (desk.folder / ".claude").mkdir()
    (desk.folder / ".claude").chmod(0o500)
    done = desk.memprove("init", "--from-agent", env={"CLAUDECODE": "1"}, before=before)
    (desk.folder / ".claude").chmod(0o700)
    assert done.problem == "client_file_unwritable"
    assert "`memprove mcp print-config`" in done.err
    assert not desk.config.exists()
    assert not (desk.folder / SERVER).exists()


def test_init_touches_nothing_in_the_home_folder(
    desk: Desk, inside: Inside, tmp_path: Path
) -> None:
    before = everything(tmp_path / "home")
    inside("init", "--instructions")
    assert everything(tmp_path / "home") == before
