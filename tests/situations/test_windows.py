"""What only some systems have is used behind a question, and nowhere while a module is imported.

These tests run where all of it is there. They take it away: in a process of their own, from which
what Windows lacks is removed before our modules are imported.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("ledger", "cli", "hooks", "mcp_facade")
MODULES = [
    path.relative_to(ROOT)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "__pycache__" not in path.parts
]

NEEDS_POSIX = {
    "mcp_facade/streams.py": "poll on pipes, which the server stands on",
    "mcp_facade/main.py": "imports streams",
    "mcp_facade/loop.py": "imports streams",
}
"""Modules that cannot be imported on Windows yet, and why."""

LINUX_ONLY = {
    *("memfd_create", "pidfd_open", "pidfd_send_signal", "sched_getaffinity", "eventfd"),
    *("splice", "copy_file_range", "prlimit", "epoll", "inotify", "signalfd", "timerfd_create"),
    *("O_TMPFILE", "O_PATH", "F_SETPIPE_SZ", "POLLRDHUP", "RLIMIT_DATA", "prctl"),
}
"""Calls that only Linux has: each needs a question in its function, or ``getattr``."""

GONE = """
import importlib, os, pathlib, select, signal, socket, sys
for name in ("asyncio", "concurrent.futures", "subprocess", "tempfile", "pathlib", "shutil"):
    importlib.import_module(name)
for name in sys.argv[2].split():
    importlib.import_module(name)
for name in ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog"):
    sys.modules[name] = None
pathlib.WindowsPath = pathlib.PosixPath  # which of them Path is, is asked of os.name
os.name = "nt"
here = {
    os: "fork forkpty setsid killpg getuid geteuid getgid getegid fchmod fchown chown lchown"
        " statvfs fstatvfs wait3 wait4 waitid mkfifo getpgid setpgid getpgrp tcgetpgrp tcsetpgrp"
        " openpty ttyname ctermid register_at_fork posix_spawn sched_yield WNOHANG WUNTRACED"
        " WIFEXITED O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_SYNC pread pwrite sendfile"
        " getloadavg uname sysconf",
    select: "poll epoll PIPE_BUF POLLIN POLLOUT POLLHUP POLLERR POLLRDHUP",
    signal: "SIGKILL SIGHUP SIGQUIT SIGALRM SIGPIPE SIGCHLD SIGTSTP SIGCONT SIGTTIN SIGTTOU"
            " SIGSTOP SIGWINCH SIGUSR1 SIGUSR2 SIGXFSZ pthread_sigmask setitimer ITIMER_REAL"
            " sigwait pause alarm siginterrupt SIG_BLOCK SIG_UNBLOCK SIG_SETMASK",
    socket: "AF_UNIX",
}
for module, names in here.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in sys.argv[1].split():
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, error)
"""

LIBRARIES = (
    "apsw cryptography.hazmat.primitives.asymmetric.ed25519 msgspec typer rich.table"
    " rich.progress mcp anyio pydantic platformdirs http.client json re secrets"
)
"""Imported while everything is there: what they need of the system is their own affair."""
# Taken while fcntl is there: it asks for the platform, and what Windows has is not here.
LOCK = "memprove.ledger.storage.lock"


def name_of(path: Path) -> str:
    parts = ("memprove", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] in ("__init__", "__main__") else parts)


def test_modules_can_be_imported_where_only_windows_has_what_it_has() -> None:
    names = " ".join(name_of(path) for path in MODULES if str(path) not in NEEDS_POSIX)
    command = [sys.executable, "-P", "-c", GONE, names, f"{LIBRARIES} {LOCK}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")


def functions(tree: ast.Module) -> list[ast.AST]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def asks(node: ast.AST) -> bool:
    """Tell whether *node* asks before it uses, or answers where that fails."""
    text = ast.unparse(node)
    questions = ("hasattr(", "getattr(", "sys.platform", "os.name", "try:", "suppress(")
    return any(question in text for question in questions)


def test_what_only_linux_has_is_asked_for_first() -> None:
    for path in MODULES:
        text = (ROOT / path).read_text(encoding="utf-8")
        if "/proc/" in text or any(name in text for name in LINUX_ONLY):
            check_asked(path, ast.parse(text))


def check_asked(path: Path, tree: ast.Module) -> None:
    within = {id(part): one for one in functions(tree) for part in ast.walk(one)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in LINUX_ONLY:
            assert asks(within.get(id(node), node)), f"{path}:{node.lineno}: {node.attr}"
        if isinstance(node, ast.Constant) and repr(node.value).startswith("'/proc/"):
            assert "OSError" in ast.unparse(tree), f"{path}: what if there is no /proc?"


@pytest.mark.skipif(os.name == "nt", reason="there they are what they are")
def test_the_list_of_what_needs_posix_is_not_longer_than_it_must_be() -> None:
    assert {str(path) for path in MODULES} >= set(NEEDS_POSIX)
    names = " ".join(name_of(Path(path)) for path in NEEDS_POSIX)
    command = [sys.executable, "-P", "-c", GONE, names, f"{LIBRARIES} {LOCK}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert len(done.stdout.splitlines()) == len(NEEDS_POSIX), done.stdout
