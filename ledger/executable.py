"""Which program this is, by the path that a client is to start it by."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

_NAME: Final = "memprove"


def executable(named: str) -> Path:
    """Return the absolute path of the program that runs, *named* so by who started it.

    Links are not followed: `~/.local/bin/memprove` outlives the environment that it points to.
    """
    tried = Path(named).absolute()
    if tried.stem == _NAME and tried.is_file():
        return tried
    beside = Path(sys.executable).absolute().parent / _NAME
    for one in (beside, beside.with_suffix(".exe")):
        if one.is_file():
            return one
    return next(iter(on_path(os.get_exec_path())), beside)


def on_path(folders: list[str]) -> list[Path]:
    """Return the programs of our name in *folders*, the first one first; relative ones are none."""
    found = (shutil.which(_NAME, path=folder) for folder in folders if os.path.isabs(folder))
    return list(dict.fromkeys(Path(one) for one in found if one is not None))
