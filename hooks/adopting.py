"""Runs that a sandboxed shell kept in the Workspace: the start of a conversation adopts them."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import structs

from memprove.hooks.occasion import Occasion
from memprove.ledger.problems import Problem
from memprove.ledger.workspace import files, resolve, spool

MOST_FILES: Final = 100
MOST_BYTES: Final = 4 * 1024 * 1024
"""What there is time for here; more waits for the next write."""
PATIENCE: Final = 0.4
"""Of the patience of the whole: there is a Pack already, and it must reach the client."""


def adopt(here: Occasion) -> bool:
    """Let the ledger adopt what is spooled where *here* is; tell whether it did.

    A ledger that cannot be written now is no failure.
    """
    with suppress(Problem, OSError):
        if any(_is_little(place.worktree) for place in resolve.locate(here.folder)):
            from memprove.ledger.operations.starts import AdoptSpool  # late: mostly there is none
            from memprove.ledger.service import Ledger

            patience = here.caller.patience_s * PATIENCE
            Ledger(structs.replace(here.caller, patience_s=patience)).execute(AdoptSpool())
            return True
    return False


def _is_little(worktree: Path) -> bool:
    """Tell whether something is spooled in *worktree*, and no more than there is time for."""
    if not (worktree / files.FOLDER).is_dir():
        return False
    waiting = spool.spooled(worktree, MOST_FILES + 1)
    sizes = (os.lstat(worktree / files.FOLDER / file.name).st_size for file in waiting)
    return 0 < len(waiting) <= MOST_FILES and sum(sizes) <= MOST_BYTES
