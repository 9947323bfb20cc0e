"""A child process that gets little time and no surroundings; nothing of it is repeated."""

import json
import os
import queue
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

MOST: Final = 1024 * 1024
"""Bytes of a line, or of an output, that are looked at."""


class Silent(Exception):
    """The child did not do what it should; the text says what."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to start, where, with which environment; and how long it may take."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    seconds: float


def ask(command: Command, messages: Sequence[Mapping[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Write *messages*, one a line; return the answers by id once those with an id have one.

    Raises Silent where it ends, says something else, or is late.
    """
    until = time.monotonic() + command.seconds
    waiting = {message["id"] for message in messages if "id" in message}
    answers: dict[Any, dict[str, Any]] = {}
    with _started(command) as child:
        lines: queue.Queue[bytes] = queue.Queue()
        assert child.stdin is not None
        assert child.stdout is not None
        Thread(target=_pass_on, args=(child.stdout, lines), daemon=True).start()
        with suppress(OSError):  # it is gone: the end of its output says so
            child.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
            child.stdin.flush()
        while waiting - set(answers):
            answer = _answer(lines, until - time.monotonic())
            answers[answer.get("id")] = answer
        with suppress(OSError):
            child.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            child.wait(max(until - time.monotonic(), 0.5))
    return answers


def finished(command: Command, stdin: bytes) -> tuple[int, bytes, bytes]:
    """Run *command* on *stdin* to its end; return exit code, stdout and stderr.

    Raises Silent where it is late.
    """
    with _started(command, stderr=subprocess.PIPE) as child:
        try:
            output, messages = child.communicate(stdin, timeout=command.seconds)
        except subprocess.TimeoutExpired:
            raise Silent(f"no end in {command.seconds:g} s") from None
        return child.returncode, output[:MOST], messages[:MOST]


def _answer(lines: "queue.Queue[bytes]", seconds: float) -> dict[str, Any]:
    try:
        line = lines.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise Silent("no answer in time") from None
    if not line:
        raise Silent("it ended without an answer")
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Silent("it printed something that is no message of the protocol")
    return answer


def _pass_on(stream: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    """Hand on the lines of *stream*, and an empty one at its end."""
    with suppress(OSError, ValueError):
        while line := stream.readline(MOST):
            lines.put(line)
    lines.put(b"")


@contextmanager
def _started(
    command: Command, stderr: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        child = subprocess.Popen(
            command.argv,
            cwd=command.folder,
            env=dict(command.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,  # no terminal, and one group to kill
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise Silent(f"{command.argv[0]} cannot be started: {why}") from None
    try:
        yield child
    finally:
        if child.poll() is None:
            if os.name == "posix":
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
            child.kill()
        child.wait()
