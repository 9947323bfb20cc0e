"""What all tests stand on: signals as usual, a home of their own, an environment without ours."""

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from support import forked

SLOW = Path(__file__).with_name("slow.txt").read_text(encoding="utf-8").split()
"""Modules that take minutes of many processes: left out unless ``--all`` asks for them."""

MEMORY = "/dev/shm"
"""A file system in memory, where no write waits for a disk: half of the time of the tests."""

# Started by nohup, or in the background of a script, a process ignores some of these: so would all
# that the tests start.
for _name in ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGTSTP", "SIGTTIN", "SIGTTOU"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL)

# Nothing of the person who runs the tests is read or written; git knows nobody on a new machine.
_home = Path(tempfile.mkdtemp(prefix="memprove-home-"))
atexit.register(shutil.rmtree, _home, ignore_errors=True)
(_home / ".gitconfig").write_text(
    "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n"
)
for _name in list(os.environ):
    if _name.startswith(("GIT_", "XDG_", "MEMPROVE_", "CLAUDE", "CODEX_", "GEMINI_", "CURSOR_")):
        del os.environ[_name]
os.environ["HOME"] = str(_home)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know ``--all``."""
    parser.addoption("--all", action="store_true", help="run the modules of tests/slow.txt too")


def pytest_configure(config: pytest.Config) -> None:
    """Start a real process for each command, and write to a disk, where all is run."""
    forked.allowed = not config.getoption("--all")
    if not config.getoption("--all") and "TMPDIR" not in os.environ and _has_room(MEMORY):
        os.environ["TMPDIR"] = MEMORY
        tempfile.tempdir = None  # it is looked for again


def _has_room(folder: str) -> bool:
    """Tell whether *folder* takes what all tests write, programs that they start among it."""
    try:
        found = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize > 8 << 30


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow modules out, but for those that are named on the command line."""
    named = " ".join(map(str, config.invocation_params.args))
    if config.getoption("--all"):
        return
    out = [
        i
        for i in items
        if (name := i.location[0].removeprefix("tests/")) in SLOW and name not in named
    ]
    config.hook.pytest_deselected(items=out)
    left = set(out)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Tell whether as much is to be done as takes minutes."""
    return bool(pytestconfig.getoption("--all"))
