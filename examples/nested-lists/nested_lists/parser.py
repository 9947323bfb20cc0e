"""Build the list that the tokens spell."""

from typing import TypeAlias

from nested_lists.lexer import ParseError, Token, tokens

MAX_DEPTH = 64

Nested: TypeAlias = "list[int | Nested]"


def parse(text: str) -> Nested:
    """Return the list in *text*; raise ParseError if there is none, or if it is too deep."""
    parser = _Parser(text)
    read = parser.read_list(parser.take("["))
    parser.take("")
    return read


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._next = next(self._tokens)
        self._depth = 0

    def take(self, *wanted: str) -> Token:
        """Return the next token and go on; raise ParseError unless it is one of *wanted*."""
        token = self._next
        if wanted and token.text not in wanted:
            expected = " or ".join(repr(text) if text else "the end" for text in wanted)
            raise ParseError(f"expected {expected}, found {token}", token.column)
        if token.text:
            self._next = next(self._tokens)
        return token

    def read_list(self, opening: Token) -> Nested:
        """Return the list behind its *opening* bracket, which is taken already."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ParseError(f"lists are more than {MAX_DEPTH} deep", opening.column)
        items: Nested = []
        if self._next.text == "]":
            self.take()
            return items
        while True:
            items.append(self._item())
            if self.take(",", "]").text == "]":
                return items

    def _item(self) -> "int | Nested":
        token = self.take()
        if token.text == "[":
            return self.read_list(token)
        if token.text in ("]", ",", ""):
            raise ParseError(f"expected a number or a list, found {token}", token.column)
        return int(token.text)
