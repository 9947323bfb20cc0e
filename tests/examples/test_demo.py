"""The demo does what it says, whoever calls it, and fails when a step does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.console import constant

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo.py"
AROUND = {"CLAUDECODE": "1", "CODEX_SANDBOX": "seatbelt", "PYTEST_ADDOPTS": "--nosuch"}
LANDMARKS = (
    "$ memprove init\nledger made in ",
    '$ memprove begin "Fix nested list parsing" --agent claude-code\nSession 1 begun by ',
    "$ memprove run -- pytest -q\n",
    "2 failed, 14 passed in ",
    "memprove: r1 failed ",
    "\nc1 o1 recorded · next action recorded\n",
    "\nmemprove: run_failed: ",
    "$ git apply ~/fix.patch\n$ memprove run -- pytest -q\n",
    "memprove: r2 passed ",
    "\nc2 c3 c4 recorded · c4 asserted: no Run cited · next action recorded\n",
    "\nd1 proposed\n",
    "  proof proven\n",
    "$ memprove claims --stale\nc2 r2 `pytest -q` test 16/16, then `nested_lists/lexer.py` changed",
    "$ memprove complete\nmemprove: evidence_stale: ",
    "$ memprove rerun r2\nmemprove: r2 `pytest -q`\n",
    "memprove: r3 passed ",
    "\nc2 was stale, is proven\n",
    "$ memprove complete\nTask 1 completed “Fix nested list parsing” · r3 passed\n",
    "\nSession 1 ended · Task 1 is completed\n",
    "$ memprove resume --pack --task 1\nTask 1 · completed · ",
    "Proven (2)\n  c3 r3 `pytest -q` test 16/16",
    "$ memprove verify\nok ",
    "$ MEMPROVE_DATA_DIR=~/tampered memprove verify\n",
    "FAILED payloads\n",
    "  payloads: event 9: its payload is not what its leaf commits to\n",
)


def run_demo(demo: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    """Run the demo as somebody whose home directory is *home*, from an agent's shell."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **AROUND}
    return subprocess.run(
        [sys.executable, str(demo)],
        cwd=home,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty home directory."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def shown(home: Path) -> str:
    """Return what the demo prints."""
    done = run_demo(DEMO, home)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_the_demo_shows_each_step_in_order(shown: str) -> None:
    at = 0
    for landmark in LANDMARKS:
        found = shown.find(landmark, at)
        assert found >= 0, f"not there, or not here: {landmark!r}"
        at = found + len(landmark)


def test_the_demo_touches_nothing_of_the_users(shown: str, home: Path) -> None:
    assert list(home.iterdir()) == []
    assert str(home) not in shown


def test_the_demo_says_nothing_of_the_shell_it_is_called_from(shown: str) -> None:
    assert "agent shell" not in shown
    assert not [name for name in AROUND if name in shown]


def test_the_demo_has_no_colour_in_a_pipe(shown: str) -> None:
    assert "\x1b" not in shown


def test_the_readme_shows_the_pack_of_the_demo(shown: str) -> None:
    pack = shown.split("$ memprove resume --pack --task 1\n")[1].split("\n\n")[0]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```text\n{constant(pack)}\n```\n" in constant(readme)


def test_the_demo_fails_when_a_step_does_not_do_what_it_says(tmp_path: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    examples = shutil.copytree(DEMO.parent, tmp_path / "examples", ignore=unwanted)
    patch = examples / "nested-lists" / "fix.patch"
    patch.write_text(patch.read_text().replace("+        self._depth -= 1\n", "+\n"))
    done = run_demo(examples / "demo.py", tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "\ndemo: FAILED: `memprove run -- pytest -q` ended with exit code 1, not 0\n"
    )
