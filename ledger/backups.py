"""Backups: a ledger as one file, whole and verified, or no file."""

import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from memprove.ledger import durable, projections
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.report import Report
from memprove.ledger.log.verify import verify
from memprove.ledger.operations.base import Progress
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    BACKUP_UNWRITABLE,
    LEDGER_DAMAGED,
    at_file,
)
from memprove.ledger.storage.interface import Store
from memprove.ledger.storage.registry import FILE_NAME, open_file

Pins = tuple[Pin, tuple[Pin, ...]]
"""The pin of a log's origin, and those of its earlier origins."""
_FORGOTTEN_S: Final = 3600.0


def back_up(store: Store, file: Path, pins: Pins, progress: Progress | None) -> Report:
    """Write a copy of *store* to *file* and return what verifying the copy says.

    It is made in a folder of its own beside *file* and appears there when it is verified. A *file*
    that is there is never replaced.
    """
    if os.path.lexists(file):
        raise ARGUMENT_INVALID(f"{file} exists already; nothing was changed")
    with _workshop(file) as folder:
        copy = folder / FILE_NAME
        store.backup(copy, progress)
        report = verified(folder / FILE_NAME, pins, progress)
        _publish(copy, file)
    return report


def verified(path: Path, pins: Pins, progress: Progress | None) -> Report:
    """Verify the ledger in the file *path*; raises ``ledger_damaged`` unless all is well."""
    with closing(open_file(path)) as store, store.read() as reader:
        report = verify(
            reader,
            pins[0],
            project=projections.apply,
            progress=progress,
            earlier=pins[1],
            tables=not projections.are_of_another_version(reader),
        )
    if not report.ok:
        found = report.findings[0]
        raise LEDGER_DAMAGED(f"the copy does not verify: {found.check}: {found.what}")
    return report


@contextmanager
def _workshop(file: Path) -> Iterator[Path]:
    """Make a folder of ours beside *file*, and take it away again.

    So go those in which a backup of that name was killed, when nobody has written for an hour.
    """
    for left in file.parent.glob(f".{glob.escape(file.name)}.????????.tmp"):
        with suppress(OSError):
            if time.time() - _last_written(left) > _FORGOTTEN_S:
                shutil.rmtree(left)
    folder = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise at_file(error, file, BACKUP_UNWRITABLE) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _last_written(folder: Path) -> float:
    return max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))


def _publish(copy: Path, file: Path) -> None:
    """Give *copy* its name, unless somebody made a file of that name meanwhile."""
    try:
        try:
            os.link(copy, file)
        except FileExistsError:
            raise ARGUMENT_INVALID(f"{file} exists already; nothing was changed") from None
        except OSError:  # a file system without links
            os.rename(copy, file)
        durable.sync_folder(file.parent)
    except OSError as error:
        raise at_file(error, file, BACKUP_UNWRITABLE) from None
