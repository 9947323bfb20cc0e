"""The plugin says what `init` writes, and its skill names only commands that exist."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from memprove.cli.app import VERBS
from memprove.hooks.install import claude
from memprove.hooks.install.entries import Program
from memprove.ledger import problems

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "examples" / "claude-plugin"
SKILL = (PLUGIN / "skills" / "memprove" / "SKILL.md").read_text(encoding="utf-8")
PROGRAM = Program("/nowhere", "/nowhere", default_config=True)


def read(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def test_the_plugin_is_the_one_that_init_looks_for() -> None:
    plugin, marketplace = (
        read(".claude-plugin/plugin.json"),
        read(".claude-plugin/marketplace.json"),
    )
    (offered,) = marketplace["plugins"]
    assert offered["name"] == plugin["name"] == "memprove"
    assert (PLUGIN / offered["source"] / ".claude-plugin" / "plugin.json").exists()
    enabled = {"enabledPlugins": {f"{plugin['name']}@{marketplace['name']}": True}}
    assert claude.enables_plugin(json.dumps(enabled).encode())


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert read(".claude-plugin/plugin.json")["version"] == project["version"]


def test_server_and_hook_are_those_that_init_shares() -> None:
    data = claude.with_server(None, PROGRAM.server(portable=True)).data
    assert read(".mcp.json") == json.loads(data)
    wanted = {"SessionStart": PROGRAM.hook("SessionStart", portable=True)}
    assert (
        read("hooks/hooks.json")["hooks"]
        == json.loads(claude.with_hooks(None, wanted).data)["hooks"]
    )


def test_the_skill_is_short_and_says_when_it_is_for() -> None:
    assert len(SKILL.splitlines()) < 100
    head = SKILL.split("---\n")[1]
    assert head.startswith("name: memprove\ndescription: ")
    assert "Use when" in head
    assert len(head) < 1024


def test_the_skill_names_only_what_is_there() -> None:
    commands = set(re.findall(r"`memprove ([a-z]+)", SKILL))
    codes = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", SKILL)) - {"new_task", "parent_session"}
    assert commands
    assert commands <= set(VERBS)
    assert codes
    assert codes <= set(problems.KINDS)


def test_no_file_names_a_place_of_a_machine() -> None:
    for path in PLUGIN.rglob("*.json"):
        assert not re.search(r'"[^"]*(/home/|/Users/|/opt/|C:\\)', path.read_text(encoding="utf-8"))
