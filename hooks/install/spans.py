"""JSON with the place of every value, so that one can be changed and no other byte is.

The reader is strict (RFC 8259), because the files belong to somebody: what a client would not load,
or would load as something else than it says, is not edited. Refused with the line and the reason:
comments, trailing commas, duplicate names, half a surrogate pair, control characters, a number that
is none, nesting deeper than ``DEEPEST``, anything after the value.

What may stand between two values is read by one method, ``_Reader.gap``: a dialect with comments
begins there.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

DEEPEST: Final = 100
LONGEST_NUMBER: Final = 400

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_UNIT = re.compile(r"u([0-9a-fA-F]{4})")
_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}

Kind = Literal["object", "array", "string", "number", "true", "false", "null"]


@dataclass(frozen=True, slots=True)
class Value:
    """One value from *start* to *end*; *text* is what a string says."""

    kind: Kind
    start: int
    end: int
    text: str = ""
    items: tuple["Value", ...] = ()
    members: tuple["Member", ...] = ()

    @property
    def elements(self) -> "tuple[Value, ...] | tuple[Member, ...]":
        """Return what an object or an array holds, in order."""
        return self.members or self.items

    def starting(self, at: int) -> "Value":
        """Return the innermost value in this one that begins at or before *at*."""
        inner = (*self.items, *(member.value for member in self.members))
        nearest = next((value for value in reversed(inner) if value.start <= at), None)
        return self if nearest is None else nearest.starting(at)

    def get(self, *names: str) -> "Value | None":
        """Return the value at the path *names* of objects, or None."""
        value: Value | None = self
        for name in names:
            members = value.members if value is not None else ()
            value = next((member.value for member in members if member.name == name), None)
        return value


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object; its name stands from *start* to *colon*."""

    name: str
    start: int
    colon: int
    value: Value

    @property
    def end(self) -> int:
        """Return where its value ends."""
        return self.value.end


class NotJson(Exception):
    """Why a text is not read as JSON, with the number of the line."""

    def __init__(self, text: str, at: int, why: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.why = why
        super().__init__(f"line {self.line}: {why}")


def parse(text: str) -> Value:
    """Return the one value in *text*, which may begin with a byte order mark."""
    reader = _Reader(text)
    at = reader.gap(1 if text.startswith("\ufeff") else 0)
    value = reader.value(at, 1)
    end = reader.gap(value.end)
    if end != len(text):
        raise NotJson(text, end, "something stands after the end")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def gap(self, at: int) -> int:
        """Return where the next token begins."""
        match = _BLANK.match(self.text, at)
        assert match is not None
        at = match.end()
        if self.text.startswith(("//", "/*"), at):
            raise self.wrong(at, "a comment, which JSON does not have")
        return at

    def value(self, at: int, depth: int) -> Value:
        if depth > DEEPEST:
            raise self.wrong(at, f"nested deeper than {DEEPEST}")
        match self.text[at : at + 1]:
            case "{":
                return self.object(at, depth)
            case "[":
                return self.array(at, depth)
            case '"':
                text, end = self.string(at)
                return Value("string", at, end, text)
        if word := _WORD.match(self.text, at):
            kind: Kind = word[0]  # type: ignore[assignment]  # one of the three
            return Value(kind, at, word.end())
        if number := _NUMBER.match(self.text, at):
            if number.end() - at > LONGEST_NUMBER:
                raise self.wrong(at, "a number of absurd length")
            return Value("number", at, number.end())
        raise self.wrong(at, "a value is missing" if at < len(self.text) else "the text ends early")

    def object(self, start: int, depth: int) -> Value:
        members: list[Member] = []
        names: set[str] = set()
        at = self.gap(start + 1)
        while not self.text.startswith("}", at) or members:
            member = self.member(at, depth)
            if member.name in names:
                raise self.wrong(at, f"the name {member.name[:40]!r} for the second time")
            names.add(member.name)
            members.append(member)
            at = self.gap(member.end)
            if self.text.startswith("}", at):
                break
            at = self.comma(at, "}")
        return Value("object", start, at + 1, members=tuple(members))

    def member(self, at: int, depth: int) -> Member:
        if not self.text.startswith('"', at):
            raise self.wrong(at, "a name in double quotes is missing")
        name, end = self.string(at)
        colon = self.gap(end)
        if not self.text.startswith(":", colon):
            raise self.wrong(colon, "a colon is missing")
        return Member(name, at, colon, self.value(self.gap(colon + 1), depth + 1))

    def array(self, start: int, depth: int) -> Value:
        items: list[Value] = []
        at = self.gap(start + 1)
        while not self.text.startswith("]", at) or items:
            items.append(self.value(at, depth + 1))
            at = self.gap(items[-1].end)
            if self.text.startswith("]", at):
                break
            at = self.comma(at, "]")
        return Value("array", start, at + 1, items=tuple(items))

    def comma(self, at: int, close: str) -> int:
        if not self.text.startswith(",", at):
            raise self.wrong(at, f"a comma or {close} is missing")
        after = self.gap(at + 1)
        if self.text.startswith(close, after):
            raise self.wrong(at, "a trailing comma, which JSON does not have")
        return after

    def string(self, start: int) -> tuple[str, int]:
        parts: list[str] = []
        at = start + 1
        while True:
            plain = _PLAIN.match(self.text, at)
            assert plain is not None
            parts.append(plain[0])
            at = plain.end()
            if self.text.startswith('"', at):
                break
            if not self.text.startswith("\\", at):
                raise self.wrong(at, "a string that does not end in its line")
            part, at = self.escape(at + 1)
            parts.append(part)
        try:  # two escaped halves of a surrogate pair are one code point
            text = "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            raise self.wrong(start, "half a surrogate pair") from None
        return text, at + 1

    def escape(self, at: int) -> tuple[str, int]:
        if unit := _UNIT.match(self.text, at):
            return chr(int(unit[1], 16)), unit.end()
        char = self.text[at : at + 1]
        if char not in _ESCAPES or not char:
            raise self.wrong(at, "an escape that JSON does not have")
        return _ESCAPES[char], at + 1

    def wrong(self, at: int, why: str) -> NotJson:
        return NotJson(self.text, at, why)
