"""`memprove init --here`: ledger and keys in the Workspace, found by what names them alone."""

import json
import sys
from pathlib import Path

import pytest
from support.command_line import Desk, new_desk
from support.git_repository import git, isolate

from memprove.ledger.workspace.tree import read_tree

MEMPROVE = (str(Path(sys.executable).with_name("memprove")),)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_desk(tmp_path)
    desk.env["HOME"] = str(tmp_path / "home")
    for name in ("CONFIG", "DATA", "STATE"):
        del desk.env[f"MEMPROVE_{name}_DIR"]
    return desk


def make(desk: Desk, *options: str) -> dict[str, str]:
    """Make a ledger here; return what init tells the shell to export."""
    done = desk.memprove("init", "--here", *options, command=MEMPROVE)
    assert done.code == 0, done
    name, value = done.out.splitlines()[-1].removeprefix("export ").split("=")
    return {name: value}


def test_all_of_it_is_in_the_workspace_and_works(desk: Desk) -> None:
    tree = read_tree(desk.folder, deadline_s=30)
    home = sorted((desk.base / "home").rglob("*"))
    exported = make(desk)
    assert desk.memprove("begin", "try it", env=exported).code == 0
    assert desk.memprove("run", "--", "true", env=exported).code == 0
    assert desk.memprove("verify", "--full", env=exported).code == 0
    assert "remembered 1–" in desk.memprove("verify", env=exported).out
    assert sorted((desk.base / "home").rglob("*")) == home
    assert sorted(one.name for one in desk.base.iterdir()) == ["home", "project"]
    assert git(desk.folder, "status", "--porcelain", "--untracked-files=all") == ""
    assert read_tree(desk.folder, deadline_s=30) == tree


def test_it_is_never_looked_for(desk: Desk) -> None:
    make(desk)
    assert desk.memprove("tasks").problem == "data_dir_missing"


def test_the_written_entries_reach_it(desk: Desk) -> None:
    exported = make(desk)
    assert desk.memprove("begin", "try it", env=exported).code == 0
    patient = {"MEMPROVE_HOOK_SECONDS": "10", **exported}
    done = desk.memprove("doctor", "--json", env=patient)
    assert done.code == 0, done.out
    config = str(desk.folder / ".memprove/here/config")
    settings = json.loads((desk.folder / ".claude/settings.local.json").read_text())
    (hook,) = settings["hooks"]["SessionStart"][0]["hooks"]
    assert hook["args"] == ["hook", "SessionStart", "--config-dir", config]


def test_a_second_time_nothing_is_made_anew(desk: Desk) -> None:
    exported = make(desk)
    before = desk.memprove("head", env=exported).out
    assert make(desk) == exported
    assert desk.memprove("head", env=exported).out == before
    assert desk.memprove("init", "--here", "--check", command=MEMPROVE).code == 0


def test_what_is_shared_names_no_place(desk: Desk) -> None:
    make(desk, "--shared")
    for name in (".mcp.json", ".claude/settings.json"):
        assert str(desk.base) not in (desk.folder / name).read_text()


def test_other_places_in_the_environment_do_not_count(desk: Desk) -> None:
    other = {f"MEMPROVE_{name}_DIR": str(desk.base / name) for name in ("DATA", "STATE", "CONFIG")}
    assert desk.memprove("init", "--here", env=other, command=MEMPROVE).code == 0
    assert not any(Path(path).exists() for path in other.values())
    assert desk.memprove("--config-dir", "x", "init", "--here").code == 2


@pytest.mark.parametrize("link", ["here", "here/config", "here/data"])
def test_a_link_is_refused(desk: Desk, link: str) -> None:
    outside = desk.base / "outside"
    outside.mkdir()
    path = desk.folder / ".memprove" / link
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    assert desk.memprove("init", "--here").problem == "path_unsafe"
    assert not any(outside.iterdir())


def test_a_linked_work_tree_uses_that_of_the_main_one(desk: Desk) -> None:
    exported = make(desk)
    git(desk.folder, "worktree", "add", "-q", str(desk.base / "linked"))
    done = desk.memprove("init", "--here", cwd=desk.base / "linked", command=MEMPROVE)
    assert f"MEMPROVE_CONFIG_DIR={exported['MEMPROVE_CONFIG_DIR']}" in done.out
    assert not (desk.base / "linked" / ".memprove" / "here").exists()
