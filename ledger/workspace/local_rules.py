"""Attributes and patterns that one clone has for itself, and what makes them no ground for a tree.

``info/attributes`` is in no commit. ``*.py ident`` there lets ``$Id: anything$`` be the same
content, here and nowhere else, so a line that could change content makes the tree unknown.
``info/exclude`` hides files, which are counted and shown (``Tree.hidden``). A device, a pipe or an
endless file in their places would keep git reading.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from memprove.ledger.workspace.git import Unknown

LARGEST = 4 * 1024 * 1024
"""How many bytes a file of attributes or patterns has at most."""

_HARMLESS = frozenset(
    {
        *(b"delta", b"diff", b"merge", b"whitespace", b"conflict-marker-size", b"encoding"),
        *(b"export-ignore", b"export-subst"),
    }
)
"""Attributes that say nothing about content."""
_BLANK = b" \t\r"
_BLANKS = re.compile(rb"[ \t\r]+")


def refuse_unreadable(worktree: Path, info: Path) -> None:
    """Raise Unknown where git could read a file of attributes or patterns without end.

    Those in the root of *worktree* and in the folder *info* of the repository are looked at; for
    others there are the limits of memory and time.
    """
    places = [(worktree / name, name) for name in (".gitattributes", ".gitignore")]
    places += [(info / name, f"info/{name}") for name in ("attributes", "exclude")]
    for path, shown in places:
        if _is_endless(path):
            raise Unknown("rules_unreadable", shown)


def refuse_attributes(info: Path, filters: frozenset[str]) -> None:
    """Raise Unknown where ``info/attributes`` could change what counts as content.

    *filters* may be named there: they are judged where they apply.
    """
    for line in read_rules(info / "attributes").removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.strip(_BLANK)
        if text and not text.startswith(b"#") and not all(_harmless(text, filters)):
            raise Unknown("attributes_local", "info/attributes")


def has_patterns(path: Path) -> bool:
    """Tell whether the file *path* may hide something."""
    lines = read_rules(path).splitlines()
    return any(line.strip() and not line.startswith(b"#") for line in lines)


def read_rules(path: Path) -> bytes:
    """Return what *path* holds; nothing where there is no such file.

    Raises Unknown (``rules_unreadable``) where it is no regular file, or longer than LARGEST.
    """
    try:
        if _is_endless(path):
            raise Unknown("rules_unreadable", path.name)
        return path.read_bytes()
    except OSError:
        return b""


def _is_endless(path: Path) -> bool:
    try:
        status = os.stat(path)
        if os.path.samestat(status, os.stat(os.devnull)):  # "no such file", in configurations
            return False
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST


def _harmless(line: bytes, filters: frozenset[str]) -> Iterator[bool]:
    """Yield for each attribute of *line* whether it leaves content alone.

    Without a sign or a value a name may be a macro's, whatever the name (``[attr]diff ident``).
    """
    pattern, *attributes = _BLANKS.split(line)
    if pattern.startswith(b"[attr]"):
        yield False
    for attribute in attributes:
        name, sign, value = attribute.partition(b"=")
        if name == b"filter" and sign:
            yield os.fsdecode(value) in filters
        else:
            yield name.lstrip(b"-!") in _HARMLESS and bool(sign or name[:1] in (b"-", b"!"))
