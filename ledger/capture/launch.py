"""Starting a command as a shell would: searched in its own PATH, with its own streams.

A script without a ``#!`` line is given to ``/bin/sh``, as execvp(3) and every shell do; a file that
is not text either is not executable. Descriptors that we inherited go on to the command (a make
jobserver, ``3< file``); our own are all closed on exec. A standard stream that was closed when we
were started is closed for the command too, if the caller kept it free of inheritable files.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from memprove.ledger import problems

if TYPE_CHECKING:
    import subprocess

NOT_FOUND = 127
NOT_EXECUTABLE = 126

SHELL = "/bin/sh"
SNIFFED = 512


class NotStarted(Exception):
    """A command that could not be started: the exit code a shell gives then, and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


def start(
    command: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    stdin: int | None,
    stdout: int,
    stderr: int,
    first: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start *command* with the given descriptors; *stdin* None is ours.

    *first* is called in the new process before it becomes the command, by a caller without threads.
    Raises NotStarted, and Problem ``command_gone`` if *cwd* is no directory.
    """
    import subprocess  # late: it costs start-up time, and most of our processes start nothing

    def popen(argv: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            close_fds=False,
            preexec_fn=first,
        )

    require_folder(cwd)
    if not command or not command[0]:
        raise NotStarted(NOT_FOUND, "command not found")
    try:
        return _start(popen, command, cwd, env)
    except FileNotFoundError:
        raise NotStarted(NOT_FOUND, "command not found") from None
    except OSError as fault:
        raise NotStarted(NOT_EXECUTABLE, os.strerror(fault.errno or 0).lower()) from None
    except ValueError:  # a NUL, or a character that no byte stands for
        raise NotStarted(NOT_EXECUTABLE, "an argument cannot be passed") from None


def require_folder(cwd: str | None) -> None:
    """Raise Problem ``command_gone`` if *cwd* is no directory."""
    if cwd is not None and not os.path.isdir(cwd):
        raise problems.COMMAND_GONE(cwd)


def _start(
    popen: Callable[[Sequence[str]], subprocess.Popen[bytes]],
    command: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    try:
        return popen(command)
    except OSError as fault:
        script = _script(command[0], cwd, env) if fault.errno == errno.ENOEXEC else None
        if script is None:
            raise
        return popen([SHELL, script, *command[1:]])


def _script(name: str, cwd: str | None, env: Mapping[str, str]) -> str | None:
    """Return the path of the text file that *name* stands for, as the command would find it."""
    folders = [""] if "/" in name else os.get_exec_path(env)
    for folder in folders:
        path = os.path.join(folder, name)
        seen = os.path.join(cwd or "", path)
        if os.path.isfile(seen) and os.access(seen, os.X_OK):
            return path if _is_text(seen) else None
    return None


def _is_text(path: str) -> bool:
    with open(path, "rb") as file:
        return b"\0" not in file.read(SNIFFED)
