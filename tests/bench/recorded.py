"""Output of real test runners, as much of it as is asked for, which never says the same twice."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

CORPUS: Final = Path(__file__).resolve().parent.parent / "capture" / "corpus"
_VARIES: Final = re.compile(
    rb"\x1b\[[\d;]*[A-Za-z]|(?P<number>\d+)|(?P<name>\b[A-Za-z]+(?:_[a-z]+)+)"
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_PRIME: Final = 1_000_003
"""Steps of this length through the names of a length leave out none and look like chance."""


def recordings(size: int, runner: str = "*") -> bytes:
    """Return *size* bytes or more of the recordings of *runner* (default: of all), repeated.

    Each time the numbers and the names with an underscore, such as those of tests, are others:
    what remembers a word it saw must meet as many as in the output of one large suite.
    """
    files = sorted(CORPUS.glob(f"{runner}/*/*.std*"))
    texts = [text for file in files if (text := file.read_bytes())]
    output = bytearray()
    names = _names()
    for turn in count():
        vary = partial(_other, turn, names)
        for text in texts:
            output += _VARIES.sub(vary, text)
        if len(output) >= size:
            break
    return bytes(output)


def _other(turn: int, names: Iterator[bytes], found: re.Match[bytes]) -> bytes:
    """Return the number or the name that stands in turn *turn* for the one that was *found*."""
    if found["name"]:
        return found["name"] + b"_" + next(names)
    if found["number"]:
        return b"%d" % (int(found["number"][:9]) + turn)
    return found[0]  # a colour


def _names() -> Iterator[bytes]:
    """Yield names of five letters; the first comes again after twelve million."""
    for number in count(1):
        rest, letters = number * _PRIME % len(_LETTERS) ** 5, ""
        for _ in range(5):
            rest, letter = divmod(rest, len(_LETTERS))
            letters += _LETTERS[letter]
        yield letters.encode()
