"""Durable appends: one event a commit, beside one bare insert; and eight processes at once."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
from bench.result import Bound, Result
from bench.samples import alternate, median, p95, seconds, spread
from bench.scene import Scene
from bench.writer import one_event
from support.ledgers import Project, new_project

from memprove.ledger import projections
from memprove.ledger.domain.events import DecisionProposed
from memprove.ledger.domain.record import Actor
from memprove.ledger.log.append import Appender
from memprove.ledger.operations.sessions import BeginWork
from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.registry import create_store
from memprove.ledger.storage.sqlite import WAL_LIMIT
from memprove.ledger.tlog.note import Signer

TESTS = Path(__file__).resolve().parent.parent
WRITERS = 8
LONG = 500
MORE_MS = 0.4
"""What an append may cost over the bare insert where that is quicker than half of it."""
LONGEST_MS = 300.0
EVENT = DecisionProposed(title="measure", choice="one event a commit", rationale="r" * 400)
_APPENDS: tuple[tuple[str, str, Bound], ...] = (
    ("log", "Appender and store (or within 0.4 ms)", "at most"),
    ("ledger", "`Ledger.execute`, all of it", "told"),
)
ROW = os.urandom(1_200)
"""What the bare insert writes: as much as the leaf and the payload of ``EVENT``."""


def measure(place: Scene) -> Iterator[Result]:
    """Measure the log's own append, and an operation's through the one door."""
    project = new_project(place.folder("appending"))
    ledger = project.ledger()
    store = create_store(place.folder("log"))  # another one: what is appended here is no work
    bare = _bare_database(project.data_dir / "bare.db")
    taken = alternate(
        place.rounds(400),
        {
            "log": seconds(lambda: _append(store)),
            "ledger": seconds(lambda: ledger.execute(one_event())),
            "bare": seconds(lambda: _insert(bare)),
        },
    )
    store.close()
    bare.close()
    for name, what, bound in _APPENDS:
        ours, floor = taken[name], taken["bare"]
        yield Result(
            name=f"append-{name}",
            what=f"{what}, one event a commit : a bare SQLite insert",
            unit="ms",
            figure=median(ours) * 1e3,
            figure_p95=p95(ours) * 1e3,
            floor=median(floor) * 1e3,
            floor_p95=p95(floor) * 1e3,
            ratio=median(ours) / median(floor),
            allowed=2.0,
            bound=bound,
            spread=spread(ours, floor),
            also=(median(ours) - median(floor)) * 1e3 <= MORE_MS,
        )
    yield _in_a_long_task(place)


def _in_a_long_task(place: Scene) -> Result:
    """Measure whether an event costs more in a Task that has many already."""
    projects = {"long": new_project(place.folder("long")), "new": new_project(place.folder("new"))}
    for project in projects.values():
        project.execute(BeginWork(new_task="measure", agent="bench"))
    many = place.rounds(LONG)
    for _ in range(many):
        projects["long"].execute(one_event())

    def append(project: Project) -> Callable[[], float]:
        return seconds(lambda: project.ledger().execute(one_event()))

    taken = alternate(place.rounds(30), {name: append(of) for name, of in projects.items()})
    ours, floor = taken["long"], taken["new"]
    return Result(
        name="append-task",
        what=f"`Ledger.execute` in a Task of {many:,} events : in a new one",
        unit="ms",
        figure=median(ours) * 1e3,
        figure_p95=p95(ours) * 1e3,
        floor=median(floor) * 1e3,
        floor_p95=p95(floor) * 1e3,
        ratio=median(ours) / median(floor),
        allowed=0.0,
        bound="told",
        spread=spread(ours, floor),
    )


def measure_writers(place: Scene) -> Iterator[Result]:
    """Let eight processes append at once."""
    project = new_project(place.folder("writers"))
    project.execute(BeginWork(new_task="measure", agent="bench"))
    before = _syncs(project.data_dir, 100)
    waits, errors = _contend(project, place.rounds(100))
    syncs = [*before, *_syncs(project.data_dir, 100)]
    worst, floor = max(waits, default=0.0) * 1e3, max(syncs) * 1e3
    green = project.verify().ok
    yield Result(
        name="writers",
        what=f"{WRITERS} processes appending, the worst wait less the worst fdatasync : 300 ms",
        unit="ms",
        figure=worst - floor,
        floor=LONGEST_MS,
        ratio=(worst - floor) / LONGEST_MS,
        allowed=1.0,
        bound="at most",
        must=green and not errors,
        note=f"{len(waits)} events, median wait {median(waits) * 1e3:.1f} ms, p95"
        f" {p95(waits) * 1e3:.1f} ms, worst {worst:.1f} ms; fdatasync median"
        f" {median(syncs) * 1e3:.2f} ms, worst {floor:.1f} ms;"
        f" {errors or 'no error'}; verify {'green' if green else 'RED'}",
    )


def _append(store: Store) -> None:
    with store.write() as writer:
        appender = Appender(
            writer,
            actor=Actor(installation="i", token="t", role="agent", face="cli"),
            at=1_790_000_000_000,
            random=os.urandom,
            project=projections.apply,
        )
        appender.append(EVENT, stream="bench")
        appender.seal(_SIGNER)


def _insert(connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO event(data) VALUES (?)", (ROW,))
    connection.execute("COMMIT")


def _bare_database(file: Path) -> apsw.Connection:
    """Return a database with the settings of ours that writing depends on."""
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA journal_mode = WAL")
    for setting in (
        "synchronous = FULL",
        "fullfsync = ON",
        "checkpoint_fullfsync = ON",
        "mmap_size = 0",
        "cell_size_check = ON",
        "secure_delete = ON",
        f"wal_autocheckpoint = {WAL_LIMIT}",
    ):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE event(seq INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")
    return connection


def _contend(project: Project, times: int) -> tuple[list[float], str]:
    """Return how long each append of eight processes took, in seconds, and what went wrong."""
    command = [sys.executable, "-m", "bench.writer", str(project.folder), str(times)]
    writers = [
        subprocess.Popen(
            command,
            cwd=TESTS,
            env=project.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()  # it is ready
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    told = [writer.communicate(timeout=300) for writer in writers]
    waits = [float(line) for out, _ in told for line in out.splitlines()]
    return waits, " ".join(errors.strip().splitlines()[-1] for _, errors in told if errors.strip())


def _syncs(folder: Path, times: int) -> list[float]:
    """Return how long fdatasync(2) takes after 4 KiB were appended, each time."""
    descriptor = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)

    def write() -> None:
        os.write(descriptor, bytes(4096))
        sync(descriptor)

    try:
        probe = seconds(write)
        return [probe() for _ in range(times)]
    finally:
        os.close(descriptor)


_SIGNER = Signer("memprove.local/bench", bytes(32))
"""The log of ``append-log`` is signed as any is; nobody verifies it."""
