"""Every command of the README and the guide does what the page says, in the order of the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.console import Typed, is_as_shown, read_console, run_typed
from support.git_repository import attempt, commit_all, git, isolate

from memprove.cli.app import VERBS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "nested-lists"
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "guide.md"
NOT_RUN_HERE = {"make demo", "make test", "python3 -m pip install ."}
"""What the Makefile does: it runs these tests."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home directory with the example in a repository, its fix beside it."""
    home = tmp_path / "home"
    isolate(monkeypatch, home)
    unwanted = shutil.ignore_patterns("fix.patch", "__pycache__", ".pytest_cache")
    project = shutil.copytree(EXAMPLE, home / "nested-lists", ignore=unwanted)
    shutil.copy(EXAMPLE / "fix.patch", home)
    git(project, "init", "--quiet")
    commit_all(project, "Read nested lists")
    return home


def environment(home: Path) -> dict[str, str]:
    """Return the environment of somebody who has just installed memprove."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "MEMPROVE_CONFIG_DIR": str(home / ".config" / "memprove"),
        "MEMPROVE_DATA_DIR": str(home / ".local" / "share" / "memprove"),
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "COLUMNS": "80",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def test_the_readme_does_what_it_says(home: Path) -> None:
    project = home / "nested-lists"
    assert attempt(project, "git", "apply", str(home / "fix.patch")).returncode == 0
    typed = list(read_console(README.read_text(encoding="utf-8")))
    assert typed
    for one in typed:
        run_typed(one, project, environment(home))


def test_the_guide_does_what_it_says(home: Path) -> None:
    typed = list(read_console(GUIDE.read_text(encoding="utf-8")))
    assert typed
    for one in typed:
        run_typed(one, home / "nested-lists", environment(home))


@pytest.mark.parametrize("page", [README, GUIDE], ids=lambda page: page.name)
def test_a_page_has_no_other_blocks_of_commands(page: Path) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert {info for info, _ in blocks} <= {"console", "sh", "text", "toml", "markdown", "json"}
    lines = {line for info, text in blocks if info == "sh" for line in text.splitlines()}
    assert {line.partition("  #")[0].rstrip() for line in lines} <= NOT_RUN_HERE


def test_the_makefile_has_what_the_readme_names() -> None:
    told = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    for target in (line for line in NOT_RUN_HERE if line.startswith("make ")):
        assert f"{target} " in told.stdout


def test_every_verb_of_the_pages_is_there() -> None:
    for page in (README, GUIDE):
        told = set(re.findall(r"`memprove ([a-z]+)", page.read_text(encoding="utf-8")))
        assert told <= set(VERBS), page


PAGE = """\
```console
$ echo one
one
$ printf 'a\\nb\\n' &&
>   sh -c 'exit 3'   # exit 3
a
...
```
Words.
```console
$ true
```
"""


def test_commands_are_read_with_their_output_and_exit_code() -> None:
    assert list(read_console(PAGE)) == [
        Typed("echo one", 0, "one\n"),
        Typed("printf 'a\\nb\\n' &&\n  sh -c 'exit 3'   # exit 3", 3, "a\n...\n"),
        Typed("true"),
    ]


def test_what_a_page_says_is_what_happens(tmp_path: Path) -> None:
    for typed in read_console(PAGE):
        run_typed(typed, tmp_path, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})


WRONG = (
    Typed("echo one", 0, "two\n"),
    Typed("echo one", 1, "one\n"),
    Typed("echo one; echo two", 0, "one\n"),
    Typed("false"),
)


@pytest.mark.parametrize("typed", WRONG, ids=str)
def test_a_page_that_says_something_else_fails(typed: Typed, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_typed(typed, tmp_path, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})


def test_times_durations_and_digests_may_differ_and_nothing_else() -> None:
    line = "r1 passed test 16/16 0.4 s tree fbda7a5 2026-01-01T00:00:00Z\n"
    later = "r1 passed test 16/16 12.3 s tree 9c1e2ab 2027-02-03T04:05:06Z\n"
    assert is_as_shown(line, later)
    assert not is_as_shown(line.replace("16/16", "15/16"), later)
