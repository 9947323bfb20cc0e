"""What git's NUL-separated outputs say: the list of the index and raw differences."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

OWN_FOLDER = b".memprove"
"""Our folder in the Workspace root: no part of any tree."""

_FILE = b"H 100"


def path_text(path: bytes) -> str:
    r"""Return *path* as valid text, different for different paths.

    A backslash is doubled and a byte that is not UTF-8 reads ``\xff``; all else stands for itself.
    """
    return path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def is_own(path: bytes) -> bool:
    """Tell whether *path* is our folder or lies in it."""
    return path == OWN_FOLDER or path.startswith(OWN_FOLDER + b"/")


class Listing(msgspec.Struct, frozen=True):
    """What stands out in ``ls-files -z -s -v -o``; a plain tracked file does not."""

    untracked: frozenset[bytes]
    nested: frozenset[bytes]
    """Untracked folders that are repositories."""
    gitlinks: frozenset[bytes]
    assumed: tuple[bytes, ...]
    """Tracked paths with the assume-unchanged bit."""
    absent: tuple[bytes, ...]
    """Tracked paths with the skip-worktree bit; git takes it away where a file is there."""
    own: tuple[bytes, ...]
    """Tracked paths in our folder."""


def parse_listing(output: bytes) -> Listing:
    """Return what stands out in *output* (rows ``tag mode id stage<TAB>path`` and ``? path``)."""
    rows = output.split(b"\0")
    special = [row for row in rows if row[:5] != _FILE]  # one pass, nothing else for clean files
    others = [row[2:] for row in special if row[:1] == b"?"]
    tracked = [row for row in special if row[1:2] == b" " and row[:1] != b"?"]
    own: list[bytes] = []
    if b"\t" + OWN_FOLDER in output:
        own = [path for row in rows if row[:1] != b"?" and is_own(path := _path(row))]
    return Listing(
        untracked=frozenset(path for path in others if path[-1:] != b"/"),
        nested=frozenset(path[:-1] for path in others if path[-1:] == b"/"),
        gitlinks=frozenset(_path(row) for row in tracked if row[2:9] == b"160000 "),
        assumed=tuple(_path(row) for row in tracked if row[:1].islower()),
        absent=tuple(_path(row) for row in tracked if row[:1] in b"Ss"),
        own=tuple(own),
    )


class Difference(NamedTuple):  # there may be thousands, and a dataclass takes twice the time
    """One path that differs between two sides; mode 0 and no object id: not there."""

    path: bytes
    old_mode: int
    old_oid: str
    new_mode: int
    new_oid: str


def parse_raw(output: bytes) -> Iterator[Difference]:
    """Yield the rows of a raw difference (``-z --raw --no-abbrev --no-renames``)."""
    fields = output.split(b"\0")
    for header, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_oid, new_oid, _ = header[1:].decode().split(" ")
        yield Difference(path, int(old_mode, 8), _oid(old_oid), int(new_mode, 8), _oid(new_oid))


def _path(row: bytes) -> bytes:
    return row.partition(b"\t")[2]


def _oid(text: str) -> str:
    return text if text.strip("0") else ""
