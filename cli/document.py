"""An answer as one JSON document: what ``--json`` prints.

Every field of the answer by its name, those with default values too; keys sorted, UTF-8, one line.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import msgspec


def encode(value: object) -> bytes:
    """Return *value* as one line of JSON."""
    plain = document(value)
    try:
        return msgspec.json.encode(plain, order="sorted") + b"\n"
    except UnicodeEncodeError:
        return _encode_ascii(plain)


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
