"""Which words a text holds: most keywords are in none of them, and need no search of the text.

Output repeats its words, so that they are few. A word is letters that stand together: numbers, in
which repeated lines differ, are no part of it.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from memprove.ledger.domain.redaction_rule import Rule, Span

_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz"
_TO_WORDS: Final = bytes(at if at in _LETTERS or at > 127 else 32 for at in range(256))
_AT_ONCE: Final = 256 * 1024
"""A slice of text to be split: each word takes much more memory than it has letters."""
_OVERLAP: Final = 64
"""More than the longest keyword: none is lost where slices meet."""
_MOST_WORDS: Final = 60_000
"""So many different words are looked through at once, for the same reason."""

_LONG: Final = 32 * 1024
"""In a shorter text, each keyword is looked for."""

Asked = tuple[int, Rule, bytes]
"""A rule's rank, the rule, and one of its keywords."""


class Keywords:
    """The keywords of *rules*."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules

    def held(self, folded: bytes, windows: Sequence[Span]) -> list[Asked]:
        """Return those that the text, in lower case, may hold inside the *windows*."""
        if sum(end - start for start, end in windows) > _LONG:
            return self.in_words(folded, windows)
        text = b"\n".join([folded[start:end] for start, end in windows])
        return [asked for literal, asked in self._literals if literal in text]

    def in_words(self, folded: bytes, windows: Iterable[Span]) -> list[Asked]:
        """Return the same, by the words of the text."""
        found: set[bytes] = set()
        words: set[bytes] = set()
        for start, end in windows:
            for at in range(start, end, _AT_ONCE):
                part = folded[at : min(end, at + _AT_ONCE + _OVERLAP)]
                words.update(part.translate(_TO_WORDS).split())
                if len(words) > _MOST_WORDS:
                    found |= self._found(words)
                    words.clear()
        found |= self._found(words)
        return [
            asked
            for whole, parts, asked in self._traces
            if whole <= found and found.issuperset(parts)
        ]

    def _found(self, words: set[bytes]) -> set[bytes]:
        wholes, parts = self._sought
        text = b" %s " % b" ".join(words)
        return (words & wholes) | {part for part in parts if part in text}

    @cached_property
    def _asked(self) -> list[Asked]:
        return [
            (rank, rule, keyword)
            for rank, rule in enumerate(self.rules)
            for keyword in rule.keywords
        ]

    @cached_property
    def _literals(self) -> list[tuple[bytes, Asked]]:
        return [(asked[2].lower(), asked) for asked in self._asked]

    @cached_property
    def _traces(self) -> list[tuple[frozenset[bytes], tuple[bytes, ...], Asked]]:
        return [
            (*_trace(keyword, at_start=rule.at_start), (rank, rule, keyword))
            for rank, rule, keyword in self._asked
        ]

    @cached_property
    def _sought(self) -> tuple[set[bytes], set[bytes]]:
        wholes = {word for whole, _, _ in self._traces for word in whole}
        return wholes, {part for _, parts, _ in self._traces for part in parts}


def _trace(keyword: bytes, *, at_start: bool) -> tuple[frozenset[bytes], tuple[bytes, ...]]:
    """Return the words that any text with *keyword* has, and what it has of words that go on.

    A space in such a part stands for the beginning or the end of a word.
    """
    folded = keyword.lower().translate(_TO_WORDS)
    if at_start:
        folded = b" " + folded
    if b" " not in folded:
        return frozenset(), (folded,)
    first, *between, last = folded.split(b" ")
    parts = (first and first + b" ", last and b" " + last)
    return frozenset(between) - {b""}, tuple(part for part in parts if part)
