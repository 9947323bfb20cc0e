"""What a rule for a kind of secret is, and how one is made from a pattern."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

Span = tuple[int, int]
Locate = Callable[[bytes, int], Span | None]
"""Given the text and where a keyword begins: the span of the secret, or None."""
Gate = Callable[[bytes], bytes]
"""Given a keyword: a pattern that begins with it and is found wherever the rule may confirm it."""

OPAQUE: Final = rb"[A-Za-z0-9_.+/=-]"
"""A character of a word that a terminal may have broken."""
BREAK: Final = rb"\r?\n[ \t|>]{0,16}"
"""The end of a line inside such a word, and what stands before the rest of it."""
BROKEN: Final = OPAQUE + rb"{0,64}+" + BREAK + OPAQUE + rb"{2}"
"""What follows a keyword in a broken word, as a gate asks for it."""

_FEW: Final = 64
"""So many places of a keyword are judged without asking its gate, which takes time to compile."""


@dataclass(frozen=True, slots=True, eq=False)  # a table of them is a key of a cache
class Rule:
    """A kind of secret: its name, the literals that announce it, and how it is confirmed.

    The keywords of a rule with *folded* are lower case and found in any case (ASCII). *wraps* says
    that the secret is one opaque word, which a terminal may have broken over several lines. *gate*
    thins out the places of a frequent keyword, at the speed of the regular expression engine.
    *at_start* says that no letter stands before a keyword.
    """

    name: str
    keywords: tuple[bytes, ...]
    locate: Locate
    folded: bool = False
    wraps: bool = False
    gate: Gate | None = None
    at_start: bool = False

    def places(self, keyword: bytes, text: bytes, windows: Iterable[Span]) -> Sequence[int]:
        """Return where in the *windows* of *text*, in order, *keyword* must be judged."""
        return [at for start, end in windows for at in self._between(keyword, text, start, end)]

    def _between(self, keyword: bytes, text: bytes, start: int, end: int) -> Sequence[int]:
        places: list[int] = []
        at = text.find(keyword, start, end)
        while at >= 0:
            places.append(at)
            if len(places) == _FEW and self.gate is not None:
                gate = _compiled(self.gate(keyword))
                return [match.start() for match in gate.finditer(text, start, end)]
            at = text.find(keyword, at + len(keyword), end)
        return places


_compiled = cache(re.compile)


def followed_by(rest: bytes) -> Gate:
    """Return the gate that asks for *rest* behind the keyword."""
    return lambda keyword: re.escape(keyword) + rb"(?=" + rest + rb")"


def pattern(source: bytes, accept: Callable[[bytes], bool] | None = None) -> Locate:
    """Return how *source* locates a secret: its group ``secret`` if it has one, else the match.

    *accept* looks at what would be cut and may refuse it.
    """

    @cache
    def compiled() -> tuple[re.Pattern[bytes], str | int]:
        """Compile when a keyword first occurs: most never do, and all of them take 6 ms."""
        expression = re.compile(source)
        return expression, "secret" if "secret" in expression.groupindex else 0

    def locate(text: bytes, at: int) -> Span | None:
        expression, group = compiled()
        match = expression.match(text, at)
        if match is None or (accept is not None and not accept(match[group])):
            return None
        return match.span(group)

    return locate
