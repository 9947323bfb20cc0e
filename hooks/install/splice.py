"""One member or item of a JSON text put in, replaced or taken out; all else stays as it is.

Every function takes a text and a value in it, as `spans.parse` returned them, and returns the new
text. What is put in looks like what is there: line ends, indent, one line or many, with or without
blanks. Taking the last element out undoes putting it in, byte for byte, where the container had an
element before or was written ``{}``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memprove.hooks.install.spans import Value, parse

_LINE_END = re.compile(r"\r\n|\n|\r")


def add_member(text: str, parent: Value, name: str, value: Any) -> str:
    """Return *text* with the member *name* at the end of the object *parent*."""
    return _add(text, parent, value, name)


def add_item(text: str, parent: Value, value: Any) -> str:
    """Return *text* with *value* at the end of the array *parent*."""
    return _add(text, parent, value, None)


def replace(text: str, old: Value, value: Any) -> str:
    """Return *text* with *value* in the place of *old*."""
    style = _Style.of(text)
    spread = not old.elements or _has_line_end(text[old.start : old.end])
    written = style.write(value, _line_margin(text, old.start), spread=spread)
    return text[: old.start] + written + text[old.end :]


def remove(text: str, parent: Value, index: int) -> str:
    """Return *text* without the element *index* of *parent*."""
    elements = parent.elements
    element = elements[index]
    if len(elements) == 1:
        alone = _has_line_end(text[parent.start : element.start])
        start, end = (parent.start + 1, parent.end - 1) if alone else (element.start, element.end)
    elif index == len(elements) - 1:
        start, end = elements[index - 1].end, element.end
    else:
        start, end = element.start, elements[index + 1].start
    return text[:start] + text[end:]


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is laid out."""

    line_end: str
    unit: str
    comma: str
    colon: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        root = parse(text)
        found = _LINE_END.search(text)
        first = root.elements[0] if root.elements else None
        own_line = first is not None and _has_line_end(text[root.start : first.start])
        tight = bool(root.members) and all(
            text[member.colon : member.value.start] == ":" for member in root.members
        )
        return cls(
            line_end=found[0] if found else "\n",
            unit=_margin(text, first.start) if first is not None and own_line else "  ",
            comma="," if tight else ", ",
            colon=":" if tight else ": ",
        )

    def write(self, value: Any, margin: str, *, spread: bool) -> str:
        """Return *value* as JSON: on lines below *margin* if *spread*, else on one line."""
        if spread and isinstance(value, Mapping) and value:
            lines = (
                f"{_string(name)}{self.colon}{self.write(one, margin + self.unit, spread=True)}"
                for name, one in value.items()
            )
            return self.enclose("{", lines, "}", margin)
        if spread and isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            lines = (self.write(one, margin + self.unit, spread=True) for one in value)
            return self.enclose("[", lines, "]", margin)
        separators = (self.comma, self.colon)
        return json.dumps(value, ensure_ascii=False, separators=separators)

    def enclose(self, start: str, lines: Any, end: str, margin: str) -> str:
        inner = f"{self.line_end}{margin}{self.unit}"
        return start + inner + f",{inner}".join(lines) + self.line_end + margin + end


def _add(text: str, parent: Value, value: Any, name: str | None) -> str:
    style = _Style.of(text)
    before = "" if name is None else f"{_string(name)}{style.colon}"
    if not parent.elements:
        return _add_first(text, parent, value, before, style)
    last = parent.elements[-1]
    if not _has_line_end(text[parent.start : parent.elements[0].start]):
        written = style.comma + before + style.write(value, "", spread=False)
        return text[: last.end] + written + text[last.end :]
    margin = _margin(text, last.start)
    spread = not _is_on_one_line(text, parent.elements)
    written = f",{style.line_end}{margin}{before}{style.write(value, margin, spread=spread)}"
    return text[: last.end] + written + text[last.end :]


def _add_first(text: str, parent: Value, value: Any, before: str, style: _Style) -> str:
    root = parse(text)
    of_lines = root.start == parent.start or _has_line_end(text[root.start : root.end])
    margin = _line_margin(text, parent.start)
    if of_lines:
        written = style.write(value, margin + style.unit, spread=True)
        start, end = text[parent.start], text[parent.end - 1]
        inner = style.enclose(start, [before + written], end, margin)
        return text[: parent.start] + inner + text[parent.end :]
    written = before + style.write(value, "", spread=False)
    return text[: parent.end - 1] + written + text[parent.end - 1 :]


def _is_on_one_line(text: str, elements: Sequence[Any]) -> bool:
    """Tell whether the last of *elements* is an object or array with something in it, on a line."""
    last = elements[-1]
    value = last if isinstance(last, Value) else last.value
    return bool(value.elements) and not _has_line_end(text[value.start : value.end])


def _has_line_end(text: str) -> bool:
    return _LINE_END.search(text) is not None


def _margin(text: str, at: int) -> str:
    """Return the blanks directly before *at*."""
    before = text[:at]
    return before[len(before.rstrip(" \t")) :]


def _line_margin(text: str, at: int) -> str:
    """Return the blanks that the line of *at* begins with."""
    line = _LINE_END.split(text[:at])[-1].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
