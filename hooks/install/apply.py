"""Write a plan: all of it, or nothing.

All new bytes are on disk beside their files, backups and receipts are written, and only then do the
files change, one after the other. Each is read once more directly before: if it is not what the
plan was made from, somebody else writes too, and what was replaced is put back. After a death in
between, the receipts lead `init` on and `init --uninstall` back.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec

from memprove.hooks.install import files
from memprove.hooks.install.files import Staged
from memprove.hooks.install.plan import Change, Plan
from memprove.hooks.install.receipts import Receipt, Receipts
from memprove.ledger import durable
from memprove.ledger.paths import from_text, to_text
from memprove.ledger.problems import CLIENT_FILE_CHANGED, CLIENT_FILE_UNWRITABLE

_STALE_S: Final = 600.0


def check_writable(plan: Plan) -> None:
    """Raise Problem ``client_file_unwritable`` where a change is bound to fail."""
    for change in plan.changes:
        folder = change.seen.path.parent
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise CLIENT_FILE_UNWRITABLE(f"{change.seen.shown}: {folder} is not writable")


def apply(plan: Plan, receipts: Receipts) -> None:
    """Make the changes of *plan*, or none of them and raise the Problem."""
    with ExitStack() as undo:
        staged = [_stage(change, undo) for change in plan.changes]
        for change, (_, folders) in zip(plan.changes, staged, strict=True):
            _note(change, folders, receipts, undo)
        for change, (new, _) in zip(plan.changes, staged, strict=True):
            _replace(change, new, undo)
        undo.pop_all()
    for change in plan.changes:
        if change.receipt is None:
            _tidy(change, receipts)
        _sweep(change.seen.path)


def _stage(change: Change, undo: ExitStack) -> tuple[Staged | None, tuple[Path, ...]]:
    """Write the new bytes beside the file; return them and the folders that this took."""
    if change.after is None:
        return None, ()
    path = change.seen.path
    try:
        folders = files.make_folders(path.parent) if not path.parent.exists() else ()
        for folder in folders:
            undo.callback(_remove_folder, folder)
        new = files.stage(path, change.after, change.seen.mode)
    except OSError as error:
        raise files.told(error, change.seen.shown) from None
    undo.callback(new.discard)
    return new, folders


def _note(change: Change, folders: tuple[Path, ...], receipts: Receipts, undo: ExitStack) -> None:
    """Write backup and receipt of *change*, which are there before it is."""
    path = change.seen.path
    if change.seen.data is not None:
        receipts.back_up(change.seen.data)
    if change.receipt is None:
        return
    undo.callback(_restore_receipt, receipts, path, receipts.of(path))
    names = tuple(dict.fromkeys((*change.receipt.folders, *map(to_text, folders))))
    receipts.keep(path, msgspec.structs.replace(change.receipt, folders=names))


def _replace(change: Change, new: Staged | None, undo: ExitStack) -> None:
    """Put *new* in the file's place, if the file is still what the plan was made from."""
    path = change.seen.path
    now = _data(change) if os.path.realpath(path) == str(path) else b"a link"
    if now == change.after and new is not None:  # another init was here first
        new.discard()
        return
    if now != change.seen.data:
        raise CLIENT_FILE_CHANGED(change.seen.shown)
    undo.callback(_put_back, change)
    try:
        if new is None:
            path.unlink()
            durable.sync_folder(path.parent)
        else:
            new.take_place()
    except OSError as error:
        raise files.told(error, change.seen.shown) from None


def _put_back(change: Change) -> None:
    """Undo *change*, unless somebody has written since: then what is there is theirs."""
    path = change.seen.path
    if _data(change) != change.after:
        return
    try:
        if change.seen.data is None:
            path.unlink()
        else:
            files.put(path, change.seen.data, change.seen.mode)
    except OSError as error:
        why = f"{change.seen.shown} could not be put back; its receipt stays: {error.strerror}"
        raise CLIENT_FILE_UNWRITABLE(why) from None


def _data(change: Change) -> bytes | None:
    return files.read(change.seen.path, change.seen.shown).data


def _restore_receipt(receipts: Receipts, path: Path, old: Receipt | None) -> None:
    if old is None:
        receipts.drop(path)
    else:
        receipts.keep(path, old)


def _tidy(change: Change, receipts: Receipts) -> None:
    """Forget the receipt of what was undone, and the folders that only it needed."""
    receipt = receipts.back(change.seen.path, change.seen.data)
    receipts.drop_all(change.seen.path)
    if receipt is not None and change.after is None:
        for folder in reversed(receipt.folders):
            _remove_folder(from_text(folder))


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):  # something is in it: it stays
        folder.rmdir()


def _sweep(path: Path) -> None:
    """Remove what a death before left beside *path*."""
    for left in _leftovers(path):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_S:
                left.unlink()


def _leftovers(path: Path) -> Iterator[Path]:
    shape = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        yield from (one for one in path.parent.iterdir() if shape.fullmatch(one.name))
