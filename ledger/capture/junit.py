"""Each test's outcome from a JUnit report, or from a folder of them, that a Run wrote.

A report says nothing about a Run that did not write it: only files whose content changed while the
command ran count. Whatever is wrong with a report is a word, never an exception.
"""

import hashlib
import itertools
import os
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memprove.ledger.capture.counts import Counts
from memprove.ledger.capture.junit_xml import MAX_BYTES, Fault, Parser, Refused

MAX_FILES = 10_000
PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Stamp:
    """The digests of the reports under a path, by file name; empty for one not looked into.

    None: the folder could not be looked into, so that nothing can be said to have changed.
    """

    digests: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True, slots=True)
class Report:
    """The counts and, by id and sorted, each test's outcome: passed, failed, error or skipped."""

    counts: Counts
    outcomes: tuple[tuple[str, str], ...]


def stamp(path: Path) -> Stamp | None:
    """Return what stands at *path* before a Run, to be compared with after it; None: nothing.

    What is beyond the limits or cannot be read was not looked into, and counts as unchanged.
    """
    digests, left = [], MAX_BYTES
    try:
        files = _files(path)
    except (OSError, ValueError, Refused):
        return Stamp(None)
    for file in files:
        digest = ""
        try:
            with _opened(file) as stream:
                digest, left = _digest(stream, left)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, Refused):
            pass
        digests.append((file.name, digest))
    return Stamp(tuple(digests)) if digests else None


def read_junit(path: Path, *, before: Stamp | None) -> Report | Fault:
    """Return what the report at *path*, a file or a folder of ``*.xml``, says after a Run.

    *before* is its stamp from before the Run. At most 64 MiB and 100,000 tests are read, in all.
    In a folder, files that did not change and files that are no JUnit reports are passed over.
    """
    known = before.digests if before is not None else ()
    if known is None:
        return Fault.NOT_COMPARED
    try:
        return _read(path, dict(known))
    except Refused as refused:
        return refused.fault
    except FileNotFoundError:
        return Fault.MISSING
    except (OSError, ValueError):  # ValueError: a path with a zero byte
        return Fault.UNREADABLE


def _read(path: Path, before: Mapping[str, str]) -> Report | Fault:
    outcomes: dict[str, str] = {}
    unnamed, left = 0, MAX_BYTES
    seen: list[Fault | None] = []
    for file in _files(path):
        with _opened(file) as stream:
            digest, left = _digest(stream, left)
            if before.get(file.name) in ("", digest):
                seen.append(Fault.UNCHANGED)
                continue
            if not digest:
                return Fault.TOO_LARGE
            stream.seek(0)
            try:
                unnamed += _parsed(stream, outcomes)
            except Refused as refused:
                if refused.fault is not Fault.NOT_JUNIT or file == path:
                    raise
                seen.append(refused.fault)
            else:
                seen.append(None)
    if None in seen:
        return _report(outcomes, unnamed)
    return next((fault for fault in seen if fault is not None), Fault.MISSING)


def _parsed(stream: BinaryIO, outcomes: dict[str, str]) -> int:
    """Add the outcomes in *stream*; return how many failures it states and shows with no test."""
    parser = Parser(outcomes)
    while piece := stream.read(PIECE):
        parser.feed(piece)
    return parser.close()


def _report(outcomes: dict[str, str], unnamed: int) -> Report:
    count = Counter(outcomes.values())
    counts = Counts(
        "junit",
        passed=count["passed"],
        failed=count["failed"],
        errors=count["error"] + unnamed,
        skipped=count["skipped"],
    )
    return Report(counts, tuple(sorted(outcomes.items())))


def _files(path: Path) -> list[Path]:
    """Return the reports at *path* in the order of their names."""
    if not path.is_dir():
        return [path]
    with os.scandir(path) as entries:
        names = [entry.name for entry in itertools.islice(entries, MAX_FILES + 1)]
    if len(names) > MAX_FILES:
        raise Refused(Fault.TOO_LARGE)
    return [path / name for name in sorted(names) if name.endswith(".xml")]


def _opened(file: Path) -> BinaryIO:
    """Open *file* if it is a regular one: a pipe or a device would make the Run wait."""
    descriptor = os.open(
        file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused(Fault.UNREADABLE)
    return open(descriptor, "rb")


def _digest(stream: BinaryIO, left: int) -> tuple[str, int]:
    """Return the digest, empty if *stream* is longer than *left*, and what is left after it."""
    digest = hashlib.sha256()
    while left >= 0 and (piece := stream.read(PIECE)):
        digest.update(piece)
        left -= len(piece)
    return digest.hexdigest() if left >= 0 else "", left
