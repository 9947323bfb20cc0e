"""A ledger in the Workspace itself, for those who want no file elsewhere: ``init --here``.

It is in folders that git ignores and no tree has. Nothing ever looks for it there: a clone could
ship one. It is found by MEMPROVE_CONFIG_DIR alone, in what `init` writes and what a shell exports.
"""

import os
from pathlib import Path
from typing import Final

from msgspec import structs

from memprove.ledger import settings
from memprove.ledger.paths import to_text
from memprove.ledger.problems import CONFIG_UNREADABLE, PATH_UNSAFE, at_file
from memprove.ledger.settings import Caller
from memprove.ledger.workspace import files
from memprove.ledger.workspace.resolve import Place

FOLDER: Final = "here"
_UNSET: Final = ("MEMPROVE_DATA_DIR", "MEMPROVE_STATE_DIR", "MEMPROVE_TOKEN", "MEMPROVE_TOKEN_FILE")


def root(place: Place) -> Path:
    """Return the folder of a ledger at *place*: that of the main work tree serves all of them."""
    main = place.worktree if place.root == place.common else place.root
    return main / files.FOLDER / FOLDER


def config_dir(place: Place) -> Path:
    """Return the configuration directory of a ledger at *place*."""
    return root(place) / "config"


def caller_here(caller: Caller, place: Place) -> Caller:
    """Return *caller* with its ledger at *place*, whatever the environment names. It only looks."""
    env = {name: value for name, value in caller.env.items() if name not in _UNSET}
    env["MEMPROVE_DATA_DIR"] = to_text(root(place) / "data")
    env["MEMPROVE_STATE_DIR"] = to_text(config_dir(place) / "state")
    return structs.replace(caller, env=env, config_option=config_dir(place))


def prepare(place: Place) -> None:
    """Make the folders, private ones, and note where the state is; raises if a path is no folder.

    What is there and came with a clone or an archive is not told from what `init` made: who runs
    `init` in a folder of somebody else's has to look.
    """
    top = root(place)
    files.ensure_folder(top.parent.parent)
    try:
        for folder in (top, top / "config", top / "config" / "state", top / "data"):
            folder.mkdir(mode=0o700, exist_ok=True)
            if os.path.realpath(folder) != str(folder):
                raise PATH_UNSAFE(f"{folder} is a link")
            _check_owner(folder)
        _note_state(top / "config")
    except OSError as error:
        raise at_file(error, error.filename or top, CONFIG_UNREADABLE) from None


def _check_owner(folder: Path) -> None:
    if hasattr(os, "geteuid") and os.lstat(folder).st_uid != os.geteuid():
        raise PATH_UNSAFE(f"{folder} belongs to another user")


def _note_state(config: Path) -> None:
    file = config / settings.STATE_DIR
    if file.exists():
        return
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as opened:
        opened.write(f"{to_text(config / 'state')}\n".encode())
