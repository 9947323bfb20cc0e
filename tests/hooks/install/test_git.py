"""What git tracks or shows decides what may be written, and where."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.client_files import LOCAL, PROGRAM, SERVER, SHARED, Desk, new_client_desk
from support.git_repository import commit_all, git, isolate

from memprove.ledger.workspace.tree import read_tree

EXCLUDE = ".git/info/exclude"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return new_client_desk(tmp_path)


def test_git_shows_nothing_and_the_tree_stays_the_same(desk: Desk) -> None:
    before = read_tree(desk.folder, deadline_s=30)
    desk.install()
    assert git(desk.folder, "status", "--porcelain", "--untracked-files=all") == ""
    after = read_tree(desk.folder, deadline_s=30)
    assert after == before
    assert desk.text(EXCLUDE).endswith("\n/.mcp.json\n/.claude/settings.local.json\n")


def test_other_hidden_files_are_still_counted(desk: Desk) -> None:
    desk.install()
    desk.write(EXCLUDE, desk.text(EXCLUDE) + "/secret*\n")
    desk.write("secret1", "")
    desk.write("secret2", "")
    assert read_tree(desk.folder, deadline_s=30).hidden == 2


def test_without_the_list_our_files_are_part_of_the_tree(desk: Desk) -> None:
    before = read_tree(desk.folder, deadline_s=30)
    desk.install()
    desk.write(EXCLUDE, "")
    after = read_tree(desk.folder, deadline_s=30)
    assert after.id != before.id
    assert after.hidden == 0
    desk.install()
    assert desk.text(EXCLUDE) == "", "who took the lines out wants to see the files"


def test_a_file_that_was_there_stays_visible(desk: Desk) -> None:
    desk.write(SERVER, "{}")
    desk.install()
    assert git(desk.folder, "status", "--porcelain") == f"?? {SERVER}"


def test_what_is_ignored_already_needs_no_line(desk: Desk) -> None:
    desk.write(".gitignore", ".mcp.json\n.claude/\n")
    exclude = desk.text(EXCLUDE)
    desk.install()
    assert desk.text(EXCLUDE) == exclude


def test_a_list_without_a_last_line_end_or_a_folder_is_as_it_was_again(desk: Desk) -> None:
    desk.write(EXCLUDE, "*.log")
    desk.install()
    assert desk.text(EXCLUDE).startswith("*.log\n# memprove init")
    desk.uninstall()
    assert desk.text(EXCLUDE) == "*.log"
    shutil.rmtree(desk.folder / ".git" / "info")
    desk.install()
    assert git(desk.folder, "status", "--porcelain") == ""
    desk.uninstall()
    assert not (desk.folder / ".git" / "info").exists()


def test_a_file_that_git_tracks_gets_nothing_personal(desk: Desk) -> None:
    desk.write(SERVER, '{"mcpServers": {}}\n')
    desk.write(LOCAL, "{}\n")
    commit_all(desk.folder, "shared")
    desk.install()
    assert "${MEMPROVE_BIN:-memprove}" in desk.text(SERVER)
    assert "/opt" not in desk.text(SERVER) + desk.text(LOCAL)
    assert "/home" not in desk.text(SERVER) + desk.text(LOCAL)
    assert '"command": "memprove"' in desk.text(LOCAL)


def test_shared_files_hold_nothing_personal_and_are_shown(desk: Desk) -> None:
    desk.install(shared=True)
    shown = git(desk.folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert shown == [f"?? {SHARED}", f"?? {SERVER}"]
    assert "/opt" not in desk.text(SERVER) + desk.text(SHARED)
    state = desk.state()
    desk.install(shared=True)
    notes = desk.install()
    assert desk.state() == state, "one's own settings would call the hook once more"
    assert notes == (f"{SHARED} has the hooks already: SessionStart",)
    desk.uninstall()
    assert git(desk.folder, "status", "--porcelain") == ""


def test_hooks_move_when_they_are_shared(desk: Desk) -> None:
    before = desk.bytes()
    desk.install("SubagentStart")
    desk.install(shared=True)
    assert not (desk.folder / LOCAL).exists()
    assert set(json.loads(desk.text(SHARED))["hooks"]) == {"SessionStart", "SubagentStart"}
    desk.uninstall()
    assert desk.bytes() == before


def test_what_others_committed_is_left_when_it_is_taken_out_here(desk: Desk) -> None:
    desk.install(shared=True)
    commit_all(desk.folder, "memprove for all")
    shutil.rmtree(desk.config)
    before = desk.bytes()
    notes = desk.uninstall()
    assert desk.bytes() == before
    assert [note.partition(" ")[0] for note in notes] == [SHARED, SERVER]


def test_in_a_linked_worktree_the_main_checkout_gets_the_hook(desk: Desk, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(desk.folder, "worktree", "add", "--quiet", str(linked))
    there = replace(desk, folder=linked)
    there.install()
    assert "SessionStart" in desk.text(LOCAL)
    assert not (linked / ".claude").exists()
    assert "memprove" in there.text(SERVER)
    assert not (desk.folder / SERVER).exists()
    assert git(linked, "status", "--porcelain") == ""
    assert git(desk.folder, "status", "--porcelain") == ""
    desk.install()
    desk.uninstall()
    assert not (desk.folder / ".claude").exists()


def test_beside_a_bare_repository_the_worktree_gets_it(desk: Desk, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(desk.folder), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "tree"))
    there = replace(desk, folder=tmp_path / "tree")
    there.install()
    assert "SessionStart" in there.text(LOCAL)
    assert git(there.folder, "status", "--porcelain") == ""


def test_the_repositorys_hooks_and_configuration_are_untouched(desk: Desk) -> None:
    git(desk.folder, "config", "core.hooksPath", ".husky")
    config = desk.text(".git/config")
    hooks = sorted((desk.folder / ".git" / "hooks").iterdir())
    desk.install("PostToolUse", shared=True)
    assert desk.text(".git/config") == config
    assert sorted((desk.folder / ".git" / "hooks").iterdir()) == hooks
    assert not (desk.folder / ".husky").exists()


def test_without_git_installed_a_file_that_is_there_may_be_tracked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(SERVER, "{}")
    monkeypatch.setenv("PATH", "/nowhere")
    desk.install()
    assert "${MEMPROVE_BIN:-memprove}" in desk.text(SERVER)
    assert PROGRAM.path in desk.text(LOCAL)
    assert "/.claude/settings.local.json" in desk.text(EXCLUDE)


def test_outside_git_there_is_nothing_to_hide(tmp_path: Path) -> None:
    desk = new_client_desk(tmp_path / "plain", repository=False)
    desk.install()
    assert set(desk.bytes()) == {SERVER, LOCAL}
    desk.uninstall()
    assert desk.bytes() == {}
    assert not (desk.folder / ".claude").exists()


@pytest.mark.parametrize("place", ["user", LOCAL, SHARED])
def test_with_the_plugin_on_nothing_is_written_twice(
    desk: Desk, tmp_path: Path, place: str
) -> None:
    text = '{"enabledPlugins": {"memprove@tools": true}}'
    (tmp_path / "user").mkdir()
    desk.write(str(tmp_path / "user" / "settings.json") if place == "user" else place, text)
    there = replace(desk, env={"CLAUDE_CONFIG_DIR": str(tmp_path / "user")})
    before = desk.bytes()
    (note,) = there.install()
    assert "plugin memprove is on" in note
    assert desk.bytes() == before
    desk.write(SERVER, json.dumps({"mcpServers": {"memprove": PROGRAM.server(portable=True)}}))
    assert "has the server too" in there.install()[1]


# Instructions


def test_without_either_document_agents_md_is_made(desk: Desk) -> None:
    desk.install(instructions=True)
    lines = desk.text("AGENTS.md").splitlines()
    assert not (desk.folder / "CLAUDE.md").exists(), "it would hide AGENTS.md"
    assert len(lines) <= 12
    desk.uninstall()
    assert not (desk.folder / "AGENTS.md").exists()


@pytest.mark.parametrize(
    ("text", "is_written"),
    [
        ("# Notes\n", True),
        ("@AGENTS.md\n", False),
        ("See @./AGENTS.md too", False),
        ("`@AGENTS.md`\n", True),
        ("```\n@AGENTS.md\n```\n", True),
        ("mail me@AGENTS.md\n", True),
        ("@AGENTS.md.old\n", True),
    ],
)
def test_claude_md_gets_the_block_unless_it_imports_the_other(
    desk: Desk, text: str, is_written: bool
) -> None:
    desk.write("CLAUDE.md", text)
    desk.write("AGENTS.md", "# Agents")
    before = desk.bytes()
    desk.install(instructions=True)
    assert ("memprove" in desk.text("CLAUDE.md")) is is_written
    assert "memprove" in desk.text("AGENTS.md")
    desk.uninstall()
    assert desk.bytes() == before


def test_one_document_under_two_names_gets_one_block(desk: Desk) -> None:
    desk.write("AGENTS.md", "# Agents\n")
    (desk.folder / "CLAUDE.md").symlink_to("AGENTS.md")
    desk.install(instructions=True)
    assert desk.text("AGENTS.md").count("BEGIN MEMPROVE") == 1
    desk.uninstall()
    assert desk.text("CLAUDE.md") == "# Agents\n"
    assert (desk.folder / "CLAUDE.md").is_symlink()


def test_what_somebody_wrote_below_the_block_stays(desk: Desk) -> None:
    desk.write("AGENTS.md", "# Agents\n")
    desk.install(instructions=True)
    desk.write("AGENTS.md", desk.text("AGENTS.md") + "\n## More\n")
    desk.install(instructions=True)
    desk.uninstall()
    assert desk.text("AGENTS.md") == "# Agents\n\n## More\n"
