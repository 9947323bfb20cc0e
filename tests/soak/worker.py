"""One user of the ledger: ``python -m soak.worker KIND NAME BASE UNTIL``.

A shell types the verbs, an agent calls the tools, a reader reads, an owner rotates. Each goes on
until the time is over, and writes down what it was told, and what ought not to have happened.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

from soak.desk import BUSY, FULL, MEMPROVE, STARTED, Desk, Journal, problem

_TOLERATED: Final = BUSY | FULL | STARTED
_KILLED: Final = -signal.SIGKILL
_FAKETIME: Final = shutil.which("faketime")


class Shell:
    """An agent or a person who types verbs in a shell."""

    def __init__(self, desk: Desk, name: str, journal: Journal) -> None:
        self._desk, self._name, self._journal = desk, name, journal
        self._numbers = count()

    def story(self) -> None:
        """Work on one Task from begin to end."""
        self._say("begin", self._text())
        for _ in range(random.randint(1, 4)):
            self._run()
            self._say("checkpoint", "--fact", self._text(), "--open", self._text())
        self._say("decide", self._text(), "--choice", "this", "--rationale", "it is")
        self._say("end")

    def _run(self) -> None:
        code = random.choice((0, 0, 3))
        words = ("run", "-q", "--", "sh", "-c", f"echo {self._text()}; exit {code}")
        done = self._desk.memprove(*words, client=self._name)
        if done.returncode not in (code, _KILLED):
            self._journal.wrong(f"run returned {done.returncode}, not {code}: {done.stderr}")

    def _say(self, *words: str) -> None:
        before = (_FAKETIME, "-f", "-1h") if _FAKETIME and random.random() < 0.1 else ()
        limited = ("prlimit", "--fsize=4096") if random.random() < 0.05 else ()
        done = self._desk.memprove(*words, "--json", client=self._name, before=(*before, *limited))
        if done.returncode == 0:
            self._journal.acknowledged(*_told(json.loads(done.stdout)), words[-1])
        elif done.returncode == _KILLED:
            self._journal.counted("killed")
        elif (code := problem(done.stderr)) not in _TOLERATED:
            self._journal.wrong(f"{words[0]}: {code or done.stderr}")

    def _text(self) -> str:
        return f"{self._name} {next(self._numbers)} {random.getrandbits(64):x}"


class Agent(Shell):
    """An agent that calls the tools of one server after the other."""

    def __init__(self, desk: Desk, name: str, journal: Journal) -> None:
        super().__init__(desk, name, journal)
        self._server: subprocess.Popen[bytes] | None = None
        self._ids = count(1)

    def story(self) -> None:
        try:
            if self._server is None or self._server.poll() is not None:
                self._start()
            self._tell()
        except (BrokenPipeError, EOFError):
            self._server = None  # it was killed: what it did not answer is not acknowledged

    def _tell(self) -> None:
        self._call("begin", {"new_task": self._text()})
        for _ in range(random.randint(1, 4)):
            self._run()
            self._call("checkpoint", {"facts": [self._text()], "open_items": [self._text()]})
            self._call("pack", {})
        decided = {"title": self._text(), "choice": "this", "rationale": "it is"}
        self._call("decide", decided)
        self._call("end", {})

    def _start(self) -> None:
        self._server = subprocess.Popen(
            [*MEMPROVE, "mcp", "serve"],
            cwd=self._desk.project,
            env=self._desk.env(self._name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        self._ask("initialize", {**hello, "clientInfo": {"name": self._name, "version": "1"}})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _call(self, name: str, arguments: Mapping[str, Any]) -> None:
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            code = text.split(":")[0]
            if code not in _TOLERATED:
                self._journal.wrong(f"{name}: {text}")
        elif "seq" in (told := result["structuredContent"]):
            said = json.dumps(list(arguments.values()))
            self._journal.acknowledged(*_told(told), _first_text(arguments) or said)

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        id = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        assert self._server is not None
        assert self._server.stdout is not None
        while line := self._server.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == id:
                return dict(answer["result"])
        raise EOFError

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._server is not None
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message).encode() + b"\n")
        self._server.stdin.flush()


class Reader(Shell):
    """Somebody who only looks, and must never be told that anything is wrong."""

    def story(self) -> None:
        reads = (
            ("tasks",),
            ("log",),
            ("resume", "--pack", "--task", "1"),
            ("claims", "--task", "1"),
        )
        for words in (*reads, ("verify",)):
            done = self._desk.memprove(*words, client=self._name)
            code = problem(done.stderr)
            if done.returncode not in (0, _KILLED) and code not in BUSY | FULL | {"task_unknown"}:
                self._journal.wrong(f"{words[0]}: {done.returncode} {done.stdout} {done.stderr}")
            self._journal.counted("read")


class Owner(Shell):
    """The owner, who rotates keys and tokens while all others work."""

    def story(self) -> None:
        time.sleep(2)
        for words in (("key", "rotate"), ("token", "rotate", "token")):
            done = self._desk.memprove(*words, client=self._name)
            if done.returncode not in (0, _KILLED) and problem(done.stderr) not in BUSY | FULL:
                self._journal.wrong(f"{words}: {done.stderr}")
            elif not done.returncode:
                self._journal.counted(words[0])


class Filler(Shell):
    """Somebody who fills the disk for a moment, where the disk is ours alone."""

    def story(self) -> None:
        time.sleep(10)
        ballast = self._desk.data / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
        except OSError:
            self._journal.counted("full")
        time.sleep(1.5)
        ballast.unlink(missing_ok=True)


KINDS: Final[Mapping[str, Callable[[Desk, str, Journal], Shell]]] = {
    "shell": Shell,
    "agent": Agent,
    "reader": Reader,
    "owner": Owner,
    "filler": Filler,
}


def _told(answer: Mapping[str, Any]) -> tuple[int]:
    return (int(answer["seq"]),)


def _first_text(arguments: Mapping[str, Any]) -> str:
    return next(_texts(list(arguments.values())), "")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def main(kind: str, name: str, base: str, until: str) -> None:
    desk = Desk(Path(base))
    journal = Journal(desk, name)
    worker = KINDS[kind](desk, name, journal)
    while time.time() < float(until):
        try:
            worker.story()
        except Exception as error:
            journal.wrong(f"{kind}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
