"""Cut text such as ``[1, [2, 3]]`` into tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<number>-?[0-9]+)|(?P<mark>[\[\],])")


class ParseError(ValueError):
    """Text that is no nested list, with the column (from 1) where that shows."""

    def __init__(self, what: str, column: int) -> None:
        super().__init__(f"column {column}: {what}")
        self.column = column


@dataclass(frozen=True, slots=True)
class Token:
    """A number, a mark (``[``, ``]``, ``,``), or the end of the text, which is empty."""

    text: str
    column: int

    def __str__(self) -> str:
        return repr(self.text) if self.text else "the end"


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of *text*, and its end; raise ParseError at what is none."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ParseError(f"{text[at]!r} has no meaning here", at + 1)
        if found.lastgroup != "space":
            yield Token(found.group(), at + 1)
        at = found.end()
    yield Token("", at + 1)
