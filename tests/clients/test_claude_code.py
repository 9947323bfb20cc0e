"""Claude Code itself: it takes the plugin, and finds what `init` wrote. Without login or network.

`make clients` installs it and names it in CLIENT_UNDER_TEST; anywhere else these tests are skipped.
"""

import os
import subprocess
from pathlib import Path

import pytest
from support.command_line import Desk, new_desk
from support.git_repository import isolate

CLAUDE = os.environ.get("CLIENT_UNDER_TEST", "")
PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "claude-plugin"

pytestmark = pytest.mark.skipif(
    not os.access(CLAUDE, os.X_OK), reason="no Claude Code here; `make clients` installs it"
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return new_desk(tmp_path)


def claude(desk: Desk, *arguments: str) -> str:
    """Run the client in the project of *desk*, in a home folder of its own; return its output."""
    env = {
        "PATH": desk.env["PATH"],
        "HOME": str(desk.base / "home"),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    done = subprocess.run(
        [CLAUDE, *arguments],
        cwd=desk.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("manifest", ["marketplace.json", "plugin.json"])
def test_the_plugin_is_valid_without_a_warning(desk: Desk, manifest: str) -> None:
    claude(desk, "plugin", "validate", "--strict", str(PLUGIN / ".claude-plugin" / manifest))


def test_the_plugin_can_be_installed_from_its_marketplace(desk: Desk) -> None:
    claude(desk, "plugin", "marketplace", "add", str(PLUGIN))
    claude(desk, "plugin", "install", "memprove@memprove-example")
    assert "memprove@memprove-example" in claude(desk, "plugin", "list")
    home = {**desk.env, "HOME": str(desk.base / "home")}
    done = desk.memprove("init", env=home)
    assert "the plugin memprove is on, which has server and hooks" in done.err


def test_the_server_that_init_wrote_is_found_and_waits_for_approval(desk: Desk) -> None:
    assert "memprove" not in claude(desk, "mcp", "list")
    assert desk.memprove("init").code == 0
    (line,) = (one for one in claude(desk, "mcp", "list").splitlines() if "memprove" in one)
    assert "mcp serve --config-dir" in line
    assert "approv" in line.lower()
