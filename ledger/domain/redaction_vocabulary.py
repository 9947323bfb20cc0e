"""Which words a text holds: most keywords are in none of them, and need no search of the text.

Output repeats its words, so that they are few. A word is letters that stand together: numbers, in
which repeated lines differ, are no part of it.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

from memprove.ledger.domain.redaction_rule import Span

_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz"
_TO_WORDS: Final = bytes(at if at in _LETTERS or at > 127 else 32 for at in range(256))
_AT_ONCE: Final = 256 * 1024
"""A slice of text to be split: each word takes much more memory than it has letters."""
_OVERLAP: Final = 64
"""More than the longest keyword: none is lost where slices meet."""


class Vocabulary:
    """The words of a text, in lower case, each once."""

    def __init__(self, folded: bytes, windows: Iterable[Span]) -> None:
        self._words: set[bytes] = set()
        for start, end in windows:
            for at in range(start, end, _AT_ONCE):
                part = folded[at : min(end, at + _AT_ONCE + _OVERLAP)]
                self._words.update(part.translate(_TO_WORDS).split())
        self._all = b" %s " % b" ".join(self._words)

    def may_hold(self, keyword: bytes, *, at_start: bool) -> bool:
        """Return whether the text may hold *keyword*; *at_start*: with no letter before it."""
        whole, parts = _traces(keyword, at_start=at_start)
        return whole <= self._words and all(part in self._all for part in parts)


@cache
def _traces(keyword: bytes, *, at_start: bool) -> tuple[frozenset[bytes], tuple[bytes, ...]]:
    """Return the words that any text with *keyword* has, and what it has of words that go on.

    A space in such a part stands for the beginning or the end of a word.
    """
    folded = keyword.lower().translate(_TO_WORDS)
    if at_start:
        folded = b" " + folded
    whole = frozenset(folded.split(b" ")[1:-1]) - {b""}
    first, last = folded.split(b" ")[0], folded.split(b" ")[-1]
    if b" " not in folded:
        return whole, (folded,)
    return whole, tuple(part for part in (first and first + b" ", last and b" " + last) if part)
