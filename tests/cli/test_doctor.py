"""`memprove doctor` in a real Workspace: what it tries and says, and that it changes nothing."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Desk, Done, desk_with_ledger, new_desk
from support.git_repository import isolate

MEMPROVE = (str(Path(sys.executable).with_name("memprove")),)
SHUT_IN = {"MEMPROVE_CONFIG_DIR": "/nonexistent", "MEMPROVE_DATA_DIR": ""}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    desk.env["MEMPROVE_HOOK_SECONDS"] = "10"
    return desk


def wired(desk: Desk) -> Desk:
    assert desk.memprove("init", command=MEMPROVE).code == 0
    desk.begin()
    return desk


def states(done: Done) -> dict[str, str]:
    worst = ("ok", "skipped", "warning", "fault")
    found: dict[str, str] = {}
    for one in done.json["findings"]:
        before = found.get(one["check"], "ok")
        found[one["check"]] = max(before, one["state"], key=worst.index)
    return found


def fault(desk: Desk, check: str, **env: str) -> dict[str, Any]:
    """Return the one fault of *check*."""
    done = desk.memprove("doctor", "--json", env=env)
    assert (done.code, done.json["ok"]) == (1, False), done
    (found,) = (
        one for one in done.json["findings"] if (one["check"], one["state"]) == (check, "fault")
    )
    assert found["cure"]
    assert "\n" not in found["cure"]
    return dict(found)


def test_a_new_workspace_is_as_it_should_be_and_stays_so(desk: Desk) -> None:
    wired(desk)
    desk.memprove("run", "--", "true", env=SHUT_IN)
    before = desk.memprove("head").out, sorted(desk.folder.rglob("*"))
    done = desk.memprove("doctor", "--json")
    found = states(done)
    assert found.pop("spool") == "warning"
    assert found.pop("codex") == "skipped"
    assert set(found.values()) == {"ok"}, done.out
    assert (done.code, done.json["ok"], done.stderr) == (0, True, b"")
    assert (desk.memprove("head").out, sorted(desk.folder.rglob("*"))) == before


def test_people_get_a_table_and_what_to_do(desk: Desk) -> None:
    (desk.config / "token").chmod(0o644)
    done = desk.memprove("doctor")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0].split() == ["CHECK", "STATE", "WHAT"]
    assert f"fault: permissions: chmod 600 {desk.config}/token, as its owner" in lines
    assert "warning: server: run `memprove init`, if you use Claude Code" in lines


def test_without_a_ledger_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(monkeypatch, tmp_path / "home")
    bare = new_desk(tmp_path)
    del bare.env["MEMPROVE_DATA_DIR"]
    for folder in (bare.folder, tmp_path):
        done = bare.memprove("doctor", "--json", cwd=folder)
        assert (done.code, states(done)["ledger"]) == (0, "warning")
        assert states(done)["server"] == "skipped"
    assert not (tmp_path / "config").exists()


def test_outside_a_workspace_the_ledger_is_looked_at(desk: Desk) -> None:
    done = desk.memprove("doctor", "--json", cwd=desk.base)
    found = states(done)
    assert (done.code, found["ledger"], found["workspace"]) == (0, "ok", "skipped")


def test_a_missing_key_and_an_open_one_are_faults(desk: Desk) -> None:
    (key,) = desk.config.glob("keys/*/1.key")
    key.chmod(0o640)
    assert "key_unsafe" in fault(desk, "signing key")["what"]
    key.unlink()
    assert "key_missing" in fault(desk, "signing key")["what"]


def test_a_ledger_that_was_cut_short_is_a_fault(desk: Desk) -> None:
    names = ("ledger.db", "ledger.db-wal", "ledger.db-shm")
    older = {name: (desk.data / name).read_bytes() for name in names}
    desk.begin()
    for name, data in older.items():
        (desk.data / name).write_bytes(data)
    assert "ledger_truncated" in fault(desk, "ledger")["what"]


def test_no_secret_is_told(desk: Desk) -> None:
    wired(desk)
    secret = "sk-ant-" + "a1B2" * 10
    done = desk.memprove("doctor", env={"ANTHROPIC_API_KEY": secret, "PATH": f"/{secret}:/bin"})
    texts = done.out + done.err
    assert secret not in texts
    for name in ("token", "owner-token"):
        assert (desk.config / name).read_text().strip() not in texts
    assert os.environ["PATH"]


def test_a_dropped_hook_is_a_fault_that_init_cures(desk: Desk) -> None:
    wired(desk)
    (desk.folder / ".claude" / "settings.local.json").write_text("{}\n")
    assert "nothing of memprove is any more" in fault(desk, "dropped entries")["what"]
    assert desk.memprove("init", command=MEMPROVE).code == 0
    assert desk.memprove("doctor").code == 0
