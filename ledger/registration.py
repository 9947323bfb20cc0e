"""Whether a folder is a Workspace, asked of a ledger that does not hold: only whom to warn."""

import os

from memprove.ledger import settings
from memprove.ledger.place import Surroundings
from memprove.ledger.problems import LEDGER_DAMAGED, Problem
from memprove.ledger.projections import WorkspaceRow, decode_row
from memprove.ledger.settings import Caller
from memprove.ledger.storage.registry import open_store
from memprove.ledger.workspace import files, resolve


def is_registered(caller: Caller) -> bool:
    """Tell whether the caller is in a Workspace, by tables that nobody has checked.

    Where they cannot be read: whether a ``.memprove/`` lies in the folder or above it.
    """
    try:
        Surroundings(caller).match(_rows(caller))
    except Problem as problem:
        return problem.kind is LEDGER_DAMAGED and _is_marked(caller)
    return True


def _rows(caller: Caller) -> list[WorkspaceRow]:
    store = open_store(settings.data_dir(caller), wait=caller.patience_s)
    try:
        with store.read() as reader:
            return [decode_row(WorkspaceRow, value) for _, value in reader.rows("workspace")]
    finally:
        store.close()


def _is_marked(caller: Caller) -> bool:
    try:
        places = resolve.locate(caller.cwd)
    except Problem:
        return False
    return any(os.path.lexists(place.worktree / files.FOLDER) for place in places)
