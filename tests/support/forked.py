"""The command in a fork of a process that has imported it: what a start costs is paid once.

Starting Python and importing the command is most of what a short command takes. Here one process
imports all of it, with no thread and nothing opened, and forks for each call; the fork gets the
caller's arguments, environment, working directory and three streams, and goes through
``memprove.cli.main`` as the real one does. ``pytest --all`` starts a real process each time.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

allowed = True
"""Cleared by ``pytest --all``."""

_READY = b"!"
_MOST = 1 << 16
"""Bytes of a request: more than this goes to a real process."""


class Forker:
    """The prepared process, and the socket on which it is asked."""

    def __init__(self) -> None:
        self._asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", __file__, str(asked.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[asked.fileno()])
        asked.close()
        assert self._asking.recv(1) == _READY
        self._lock = threading.Lock()

    def run(
        self, arguments: Sequence[str], stdin: bytes, cwd: Path, env: Mapping[str, str]
    ) -> tuple[int, bytes, bytes]:
        """Return exit code, standard output and standard error of the command."""
        (in_, to), (out, out_to), (err, err_to), (end, end_to) = (os.pipe() for _ in range(4))
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": dict(env)}).encode()
        with self._lock:
            socket.send_fds(self._asking, [request], [in_, out_to, err_to, end_to])
        for theirs in (in_, out_to, err_to, end_to):
            os.close(theirs)
        said: dict[int, bytes] = {}
        readers = [threading.Thread(target=_drain, args=(said, fd)) for fd in (out, err, end)]
        for thread in readers:
            thread.start()
        _feed(to, stdin)
        for thread in readers:
            thread.join()
        return int(said[end]), said[out], said[err]


def serves(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    """Tell whether a fork does as a real process does: nothing is asked of Python itself."""
    told = {name for name in env if name.startswith(("PYTHON", "LC_"))}
    size = sum(map(len, arguments)) + sum(map(len, env)) + sum(map(len, env.values()))
    return (
        allowed
        and hasattr(os, "fork")
        and told <= {"PYTHONDONTWRITEBYTECODE"}
        and env.get("LANG") == "C.UTF-8"
        and 4 * size + 1024 * len(arguments) < _MOST
    )


@cache
def forker() -> Forker:
    """Return the one prepared process of this test process."""
    return Forker()


def _feed(pipe: int, data: bytes) -> None:
    with suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(data)


def _drain(said: dict[int, bytes], pipe: int) -> None:
    with open(pipe, "rb", buffering=0) as stream:
        said[pipe] = stream.readall()


def main(asked: int) -> NoReturn:
    """Import the command, then fork for each request until nobody can ask any more."""
    import gc
    import signal
    from importlib import import_module
    from pkgutil import walk_packages

    import memprove.cli
    import memprove.hooks
    import memprove.ledger

    for package in (memprove.cli, memprove.hooks, memprove.ledger):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for commands
    asking = socket.socket(fileno=asked)
    asking.send(_READY)
    while True:
        request, streams, _, _ = socket.recv_fds(asking, _MOST, 4)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asking.close()
            _wait_for(json.loads(request), *streams)
        for stream in streams:
            os.close(stream)


def _wait_for(request: dict[str, Any], *streams: int) -> NoReturn:
    child = os.fork()
    if child == 0:
        _become(request, *streams)
    for stream in streams[:3]:
        os.close(stream)
    _, status = os.waitpid(child, 0)
    os.write(streams[3], str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: dict[str, Any], *streams: int) -> NoReturn:
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    try:
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = ["memprove", *request["arguments"]]
        from memprove.cli.main import main as command

        command()
    except SystemExit as leaving:
        os._exit(leaving.code if isinstance(leaving.code, int) else 1)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
