"""The example has a bug that its own tests find, and the patch beside it mends that bug."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.git_repository import attempt, git, isolate

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "nested-lists"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the example in a repository."""
    isolate(monkeypatch, tmp_path / "home")
    unwanted = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    copy = shutil.copytree(EXAMPLE, tmp_path / "nested-lists", ignore=unwanted)
    git(copy, "init", "--quiet")
    return copy


def run_tests(project: Path) -> "subprocess.CompletedProcess[str]":
    """Run the project's own tests, apart from the run that we are part of."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=project,
        env={**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_two_tests_fail_before_the_fix(project: Path) -> None:
    done = run_tests(project)
    assert (done.returncode, done.stdout.splitlines()[-1][:19]) == (1, "2 failed, 14 passed")


def test_lists_side_by_side_count_as_deep_ones(project: Path) -> None:
    code = "from nested_lists import parse; parse('[' + '[],' * 64 + '[]]')"
    done = attempt(project, sys.executable, "-c", code)
    assert done.stderr.endswith(b"ParseError: column 191: lists are more than 64 deep\n")


def test_all_tests_pass_after_the_fix(project: Path) -> None:
    assert attempt(project, "git", "apply", "fix.patch").returncode == 0
    done = run_tests(project)
    assert (done.returncode, done.stdout.splitlines()[-1][:9]) == (0, "16 passed")


def test_what_the_tests_leave_behind_is_ignored(project: Path) -> None:
    before = git(project, "status", "--porcelain", "--untracked-files=all")
    run_tests(project)
    assert git(project, "status", "--porcelain", "--untracked-files=all") == before
