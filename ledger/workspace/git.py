"""The one way in which git is ever called, on the assumption that the repository is hostile.

A repository's configuration can name programs and places, and this process holds a signing key. So:

- git is an absolute path from PATH; relative and empty entries of PATH and whatever lies in the
  Workspace are passed over, for git itself and for what git starts (the owner's own filters);
- every inherited ``GIT_*`` is removed (it could move the repository, its configuration or its
  programs), and every ``MEMPROVE_*`` (no child needs our token);
- ``SETTINGS`` and ``VARIABLES`` overrule what the repository says; GIT_DIR is never set and
  safe.directory neither, so that git still refuses a repository of another owner;
- standard input is empty or given bytes, the whole process group is killed at the deadline, and
  no process of it gets more than ``MOST_MEMORY``, where the system can say so.

Only plumbing is called: never ``add``, ``status`` or ``diff``.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from errno import EACCES, EIO, ELOOP, ENAMETOOLONG, EPERM
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

if TYPE_CHECKING:
    from subprocess import Popen

SETTINGS: tuple[str, ...] = (
    "core.fsmonitor=false",  # a program, or a daemon's word for what changed
    f"core.hooksPath={os.devnull}",  # update-index would run post-index-change
    "core.untrackedCache=false",
    "core.checkStat=default",
    "core.trustctime=true",  # a restored mtime does not hide a change
    "core.ignoreStat=false",
    "core.splitIndex=false",  # a shared index would be written into the repository
    "core.fsync=none",  # only scratch files are written
    "core.looseCompression=0",
    "core.sparseCheckout=true",  # with the next: skip-worktree is void where the file exists
    "sparse.expectFilesOutsideOfPatterns=false",
    "index.sparse=false",
    "submodule.recurse=false",
    "safe.bareRepository=explicit",
    "protocol.allow=never",
)
"""What every call overrules, as ``-c`` settings."""

VARIABLES: Mapping[str, str] = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # a protocol.ext.allow of the repository would beat protocol.allow
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
}
"""What every call finds in its environment."""

MOST_MEMORY = 2 * 1024**3
"""How many bytes of data a git may hold; packs and files that it maps do not count."""


_AT_WORK: set["Running"] = set()
_NOT_OPENED = "warning: could not open directory '"
_NOT_LOOKED_AT = frozenset(map(os.strerror, (EACCES, EPERM, EIO, ELOOP, ENAMETOOLONG)))


class Unknown(Exception):
    """Why something about a repository cannot be known: a fixed word, then perhaps a detail."""

    def __init__(self, word: str, detail: str = "") -> None:
        super().__init__(f"{word}: {detail}" if detail else word)
        self.word = word


class Git(msgspec.Struct, frozen=True):
    """A git to call in one folder until one moment."""

    program: str
    folder: Path
    end: float
    """The deadline on the monotonic clock."""
    path: str
    """PATH for what git starts."""
    settings: tuple[str, ...] = ()
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)

    @classmethod
    def find(cls, workspace: Path, *, deadline_s: float) -> Self:
        """Return the git on PATH, to be called in *workspace* for *deadline_s* seconds.

        Raises Unknown (``no_git``) where PATH names none outside *workspace*.
        """
        folders = list(_search_folders(workspace))
        for folder in folders:
            program = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
            runs = os.access(program, os.X_OK) and os.path.isfile(program)
            if runs and not _is_inside(program, workspace):
                end = time.monotonic() + deadline_s
                return cls(program, workspace, end, os.pathsep.join(folders))
        raise Unknown("no_git")

    def start(self, *arguments: str, stdin: bytes = b"") -> "Running":
        """Start git with *arguments*; use the result as a context manager."""
        from subprocess import DEVNULL, PIPE, Popen  # late: start-up time

        options = [part for setting in SETTINGS + self.settings for part in ("-c", setting)]
        try:
            process = Popen(
                [self.program, "--no-pager", "--literal-pathspecs", *options, *arguments],
                cwd=self.folder,
                env=self._environment(),
                stdin=PIPE if stdin else DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,  # no terminal, and one group to kill
            )
        except (OSError, ValueError) as error:
            raise Unknown("git_failed", f"{arguments[0]}: {type(error).__name__}") from error
        _limit_memory(process.pid)
        return Running(process, arguments[0], stdin, self.end)

    def read(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return what git prints; raise Unknown where it fails or is late."""
        with self.start(*arguments, stdin=stdin) as running:
            return running.read()

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(("GIT_", "MEMPROVE_"))
        }
        return {**inherited, "PATH": self.path, **VARIABLES, **self.variables}


class Running:
    """A git that was started; leaving its context ends it."""

    def __init__(self, process: "Popen[bytes]", name: str, stdin: bytes, end: float) -> None:
        self._process = process
        self._name = name
        self._stdin = stdin
        self._end = end

    def __enter__(self) -> Self:
        _AT_WORK.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _AT_WORK.discard(self)
        if self._process.poll() is None:
            self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()

    def finish(self) -> tuple[int, bytes, bytes]:
        """Wait for the end; return exit code, output and messages; raise Unknown (``timeout``)."""
        from subprocess import TimeoutExpired

        left = max(0.0, self._end - time.monotonic())
        try:
            output, messages = self._process.communicate(self._stdin or None, timeout=left)
        except TimeoutExpired as error:
            raise Unknown("timeout") from error
        return self._process.returncode, output, messages

    def read(self) -> bytes:
        """Wait for the end; return the output; raise Unknown unless the exit code is 0."""
        code, output, messages = self.finish()
        if code != 0:
            raise failure(self._name, messages)
        return output

    def read_complete(self) -> bytes:
        """Return the output as `read` does; raise Unknown also where git passed something over.

        That is ``unreadable`` with the path: git says so, and ends with exit code 0.
        """
        code, output, messages = self.finish()
        if code != 0:
            raise failure(self._name, messages)
        for line in _printable(messages):
            path, _, why = line.removeprefix(_NOT_OPENED).rpartition(": ")
            is_folder = line.startswith(_NOT_OPENED)  # the line ends early where the path is long
            if is_folder or (why in _NOT_LOOKED_AT and not line.startswith("warning: ")):
                raise Unknown("unreadable", (path or why).removesuffix("'")[:160])
        return output

    def kill(self) -> None:
        """Kill it, with all that it started."""
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()


def kill_all() -> None:
    """Kill every git that a thread of this process waits for: the process is about to end."""
    for running in tuple(_AT_WORK):
        running.kill()


def failure(name: str, messages: bytes) -> Unknown:
    """Return why the git command *name* failed, from its *messages*."""
    text = messages.decode("ascii", "replace")
    if "dubious ownership" in text or "unsafe repository (" in text:
        return Unknown("not_owned")
    if "not a git repository" in text:
        return Unknown("no_repository")
    lines = [line for line in _printable(messages) if line.startswith("fatal: ")]
    said = (lines or [*_printable(messages), ""])[0].removeprefix("fatal: ").strip()
    return Unknown("git_failed", f"{name}: {said[:160]}")


def _printable(messages: bytes) -> list[str]:
    """Return the lines of *messages* in printable ASCII."""
    lines = messages.decode("ascii", "replace").splitlines()
    return ["".join(c if " " <= c <= "~" else "?" for c in line) for line in lines]


def _limit_memory(pid: int) -> None:
    if sys.platform == "linux":  # elsewhere a process limits nobody but itself
        import resource  # late: start-up time

        # RLIMIT_AS would count the packs that git maps, and what a runtime merely reserves.
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def _search_folders(workspace: Path) -> Iterator[str]:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder) and not _is_inside(folder, workspace):
            yield folder


def _is_inside(path: str, workspace: Path) -> bool:
    spelled = (os.path.normpath(path), os.path.realpath(path))
    roots = {os.path.abspath(workspace), os.path.realpath(workspace)}
    return any(one == root or one.startswith(root + os.sep) for one in spelled for root in roots)
