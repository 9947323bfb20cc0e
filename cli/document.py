"""An answer as one JSON document: what ``--json`` prints.

Every field of the answer by its name, those with default values too; keys sorted, UTF-8, one line.
What a terminal would obey or hide is escaped, which JSON allows for every character.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import msgspec

from memprove.ledger.domain import printing

_DOUBTFUL = re.compile("[^ -~]")


def encode(value: object) -> bytes:
    """Return *value* as one line of JSON."""
    plain = document(value)
    try:
        line = _visible(msgspec.json.encode(plain, order="sorted"))
        return line.replace(b"##[", b"##\\u005b") + b"\n"  # a command to a runner of GitHub
    except UnicodeEncodeError:
        return _encode_ascii(plain)


def _visible(line: bytes) -> bytes:
    """Return the JSON in *line* with each control or invisible character escaped."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return _DOUBTFUL.sub(_escaped, line.decode()).encode()


def _escaped(match: "re.Match[str]") -> str:
    char = match[0]
    if not printing.is_hidden(char):
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def document(value: object) -> Any:
    """Return *value* as dictionaries, lists, texts and numbers."""
    match value:
        case Enum():
            return value.value
        case msgspec.Struct():
            return {name: document(getattr(value, name)) for name in value.__struct_fields__}
        case Mapping():
            return {str(key): document(item) for key, item in value.items()}
        case list() | tuple():
            return [document(item) for item in value]
        case PurePath():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: document(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


def _encode_ascii(plain: Any) -> bytes:
    """Encode what holds half a surrogate pair: a file name that is not UTF-8."""
    import json  # late: msgspec does it but for this

    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode() + b"\n"
