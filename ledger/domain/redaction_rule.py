"""What a rule for a kind of secret is, and how one is made from a pattern."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

Span = tuple[int, int]
Locate = Callable[[bytes, int], Span | None]
"""Given the text and where a keyword begins: the span of the secret, or None."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret: its name, the literals that announce it, and how it is confirmed.

    The keywords of a rule with *folded* are lower case and found in any case (ASCII). *wraps* says
    that the secret is one opaque word, which a terminal may have broken over several lines.
    """

    name: str
    keywords: tuple[bytes, ...]
    locate: Locate
    folded: bool = False
    wraps: bool = False


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
