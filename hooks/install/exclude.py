"""Lines in ``.git/info/exclude``: what this clone does not show as new. No other clone has them."""

from collections.abc import Sequence
from typing import Final

TITLE: Final = b"# memprove init: files of this clone alone"


def with_patterns(data: bytes | None, patterns: Sequence[bytes]) -> bytes:
    """Return the file with those of *patterns* that it lacks, at its end."""
    data = data or b""
    present = set(data.splitlines())
    missing = [pattern for pattern in patterns if pattern not in present]
    if not missing:
        return data
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    lines = missing if TITLE in present else [TITLE, *missing]
    return data + gap + b"".join(line + b"\n" for line in lines)


def without_patterns(data: bytes, patterns: Sequence[bytes]) -> bytes:
    """Return the file without our title and *patterns*. Without our title none of it is ours."""
    lines = data.splitlines(keepends=True)
    plain = [line.rstrip(b"\r\n") for line in lines]
    if TITLE not in plain:
        return data
    title = plain.index(TITLE)
    below = (line for line in lines[title + 1 :] if line.rstrip(b"\r\n") not in patterns)
    return b"".join((*lines[:title], *below))
