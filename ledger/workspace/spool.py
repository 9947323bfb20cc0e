"""The files under ``.memprove/spool/``: one key a Session, one file a Run, in the order of counts.

``12.key`` is the key of Session 12, ``12-3.run`` its third spooled Run. What they hold is
``domain.spool``'s.
"""

import re
from pathlib import Path
from typing import Final

import msgspec

from memprove.ledger.workspace import files

MOST_FILES: Final = 1_000
_FOLDER: Final = "spool"
_KEY_CAP: Final = 256
_RUN: Final = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})\.run", re.ASCII)


class SpoolFile(msgspec.Struct, frozen=True, order=True):
    """A file that holds the spooled Run number *count* of a Session."""

    session: int
    count: int

    @property
    def name(self) -> str:
        """Return its name below ``.memprove/``."""
        return f"{_FOLDER}/{self.session}-{self.count}.run"


def spooled(worktree: Path, most: int = MOST_FILES) -> list[SpoolFile]:
    """Return the spooled Runs of *worktree*, at most *most*, by Session and count."""
    names = files.list_local(worktree, _FOLDER, 4 * MOST_FILES)
    matches = (_RUN.fullmatch(name) for name in names)
    found = sorted(SpoolFile(int(match[1]), int(match[2])) for match in matches if match)
    return found[:most]


def has_spooled(worktree: Path) -> bool:
    """Tell whether any Run is spooled in *worktree*."""
    return bool(spooled(worktree, 1))


def read_key(worktree: Path, session: int) -> bytes | None:
    """Return what the key file of *session* holds, None if there is none."""
    return files.read_local(worktree, _key(session), _KEY_CAP)


def write_key(worktree: Path, session: int, data: bytes) -> None:
    """Keep *data* as the key file of *session*: whole, for the owner's eyes."""
    files.write_local(worktree, _key(session), data)


def create(worktree: Path, file: SpoolFile, data: bytes) -> bool:
    """Write the new *file*, whole; tell whether there was none of that name."""
    return files.create_local(worktree, file.name, data)


def _key(session: int) -> str:
    return f"{_FOLDER}/{session}.key"
