"""Bundles to take apart: as documents that are edited and closed again."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from support.logs import BLOB, DATA, TASKS, Log, a_run, a_task, registered, run_ended

from memprove.ledger.domain import events as e
from memprove.ledger.log.bundling import make_bundle
from memprove.ledger.storage.interface import Store

Edit = Callable[[dict[str, Any]], object]


def bundle_of(log: Log, task: str = TASKS[0], **options: Any) -> bytes:
    """Return the bundle of *task*."""
    with log.store.read() as reader:
        return make_bundle(reader, f"task/{task}", **options)[0]


def document(data: bytes) -> dict[str, Any]:
    """Return what the bundle *data* says."""
    said: dict[str, Any] = json.loads(gzip.decompress(data))
    return said


def closed(said: object) -> bytes:
    """Return the bundle that says *said*."""
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(), mtime=0)


def edited(data: bytes, edit: Edit) -> bytes:
    """Return the bundle *data* after *edit* changed what it says."""
    said = document(data)
    edit(said)
    return closed(said)


def two_tasks(store: Store | None = None, *, rotating: bool = False) -> Log:
    """Return a log with two Tasks whose events lie between each other's, and a Run with output.

    *rotating*: with three epochs.
    """
    log = Log(store).begin()
    log.append([registered()])
    for task in TASKS:
        log.append([a_task(task)])
    for number in range(3):
        for task in TASKS:
            said = e.CheckpointRecorded(facts=(e.Fact(text=f"{task} {number}"),))
            log.append([said], task=task)
        if rotating and number < 2:
            log.rotate()
    log.append([a_run(), run_ended()], task=TASKS[0], blobs=[(BLOB, DATA)])
    log.append([e.SessionEnded(session=1)], task=TASKS[1])
    return log
