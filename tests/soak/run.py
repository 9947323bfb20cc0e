"""The soak: many users of one ledger at once, some of them killed, for minutes.

``make soak``, or ``python tests/soak/run.py [--minutes M]``. Eight writers of mixed verbs and tools
and four readers; one of them, or one of their commands, is killed every few seconds; the clock of
some steps back; keys and tokens rotate; the disk fills and empties where this may mount one of its
own. Then: no event that was acknowledged is lost, no number was given twice, nobody was told of
damage that was not there, servers hold no more files and memory than before, verify is green.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # started as a script: tests/ is where modules are looked for
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from soak.desk import Desk, journal_entries
from support.git_repository import new_repository

WORKERS: Final = (
    *(("shell", f"shell-{n}") for n in range(4)),
    *(("agent", f"agent-{n}") for n in range(4)),
    *(("reader", f"reader-{n}") for n in range(4)),
    ("owner", "owner"),
)
_IMMORTAL: Final = ("owner", "filler")
_DISK: Final = "64m"
_MOST_GROWTH: Final = 32 * 1024 * 1024
_OWN_DISK: Final = "MEMPROVE_SOAK_DISK"


class Soak:
    """The workers, and what is seen of them."""

    def __init__(self, desk: Desk, minutes: float, *, own_disk: bool) -> None:
        self._desk = desk
        self._until = time.time() + minutes * 60
        kinds = (*WORKERS, ("filler", "filler")) if own_disk else WORKERS
        self._kinds = {name: kind for kind, name in kinds}
        self._workers = {name: self._start(name) for name in self._kinds}
        self._held: dict[int, list[tuple[int, int]]] = {}
        self.kills = self.checks = 0
        self.wrong: list[str] = []

    def go(self) -> None:
        """Kill, look and verify until the time is over; then let everybody come to an end."""
        while time.time() < self._until:
            time.sleep(random.uniform(1, 3))
            self._kill_one()
            self._look_at_servers()
            if random.random() < 0.2:
                self.verify()
        for worker in self._workers.values():
            worker.wait(120)
        self.verify("--full")
        self._judge_servers()

    def verify(self, *options: str) -> None:
        """Verify the ledger; anything but green is wrong."""
        done = self._desk.memprove("verify", *options, client="verifier")
        self.checks += 1
        if done.returncode and "token_" not in done.stderr:
            self.wrong.append(f"verify: {done.returncode} {done.stdout[-500:]} {done.stderr}")

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        words = (self._kinds[name], name, str(self._desk.base), str(self._until))
        tests = Path(__file__).resolve().parent.parent
        return subprocess.Popen([sys.executable, "-m", "soak.worker", *words], cwd=tests)

    def _kill_one(self) -> None:
        """Kill a worker, or the command or server that it runs."""
        name = random.choice([name for name in self._workers if name not in _IMMORTAL])
        worker = self._workers[name]
        victims = [*_children(worker.pid), worker.pid]
        try:
            os.kill(random.choice(victims), signal.SIGKILL)
            self.kills += 1
        except ProcessLookupError:
            return
        time.sleep(0.05)
        if worker.poll() is not None and time.time() < self._until:
            self._workers[name] = self._start(name)

    def _look_at_servers(self) -> None:
        for name, worker in self._workers.items():
            if self._kinds[name] == "agent":
                for pid in _children(worker.pid):
                    if (held := _holds(pid)) is not None:
                        self._held.setdefault(pid, []).append(held)

    def _judge_servers(self) -> None:
        for pid, seen in self._held.items():
            settled = seen[len(seen) // 2 :]  # the first looks meet a server that still starts
            if len(settled) < 12:
                continue
            (files, memory), (files_now, memory_now) = settled[0], settled[-1]
            if files_now > files + 8 or memory_now > memory + _MOST_GROWTH:
                self.wrong.append(f"server {pid} grew: {settled[0]} to {settled[-1]}")


def judge(desk: Desk) -> tuple[list[str], Counter[str]]:
    """Compare what the workers were told with the log; return what is wrong, and what was done."""
    wrong: list[str] = []
    done: Counter[str] = Counter()
    log = desk.memprove("log", "--json", "--limit", str(10**9))
    if log.returncode:
        return [f"log: {log.stderr}"], done
    events = {event["seq"]: event for event in json.loads(log.stdout)["events"]}
    given = Counter(
        (event["stream"] if label[0] in "rcod" else "", label)
        for event in events.values()
        for label in event["labels"]
    )
    wrong += [f"given twice: {label}" for label, times in given.items() if times > 1]
    for entry in journal_entries(desk):
        if "wrong" in entry:
            wrong.append(f"{entry['worker']}: {entry['wrong']}")
        elif "counted" in entry:
            done[entry["counted"]] += 1
        else:
            done["acknowledged"] += 1
            if entry["seq"] not in events:
                wrong.append(f"lost: event {entry['seq']} that {entry['worker']} was told of")
    done["events"] = len(events)
    return wrong, done


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _holds(pid: int) -> tuple[int, int] | None:
    """Return how many files and how much memory process *pid* holds."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return len(os.listdir(f"/proc/{pid}/fd")), pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _with_own_disk(words: Sequence[str]) -> None:
    """Begin again in a place of our own where a disk can be mounted, if there can be one."""
    alone = ("unshare", "--mount", "--map-root-user")
    if os.environ.get(_OWN_DISK) or not shutil.which("unshare"):
        return
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[_OWN_DISK] = "1"
        os.execvp(alone[0], [*alone, sys.executable, __file__, *words])


def _new_desk(base: Path) -> tuple[Desk, bool]:
    desk = Desk(base)
    for folder in ("home", "data"):
        (base / folder).mkdir()
    size = f"size={_DISK}"
    mounted = (
        os.environ.get(_OWN_DISK)
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", size, "soak", str(desk.data)], check=False
        ).returncode
    )
    new_repository(desk.project)
    made = desk.memprove("init")
    assert made.returncode == 0, made.stderr
    return desk, bool(mounted)


def _told(soak: Soak, wrong: Sequence[str], done: Counter[str]) -> Iterator[str]:
    yield f"{soak.kills} kills, {soak.checks} times verified"
    yield ", ".join(f"{count} {what}" for what, count in sorted(done.items()))
    yield from wrong[:20]
    yield f"{len(wrong)} wrong" if wrong else "nothing wrong"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Let many use one ledger at once, for minutes.")
    parser.add_argument("--minutes", type=float, default=10)
    arguments = parser.parse_args(words)
    _with_own_disk(words)
    with tempfile.TemporaryDirectory(prefix="memprove-soak-") as base:
        desk, own_disk = _new_desk(Path(base).resolve())
        soak = Soak(desk, arguments.minutes, own_disk=own_disk)
        soak.go()
        wrong, done = judge(desk)
        wrong = [*soak.wrong, *wrong]
        print("\n".join(_told(soak, wrong, done)))
        if own_disk:
            subprocess.run(["umount", str(desk.data)], check=False)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
