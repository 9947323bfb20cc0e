"""How arguments are read: lenient about their form, strict about what they mean.

Clients send numbers as texts, lists as JSON in a text, ``null`` for what they leave out. What it
means must be beyond doubt all the same: ``-0``, ``NaN``, ``true`` for a number are refused. A
refusal is a Problem that names the argument and what it is to be, and never repeats its value.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, TypeVar

from memprove.ledger.domain import limits
from memprove.ledger.domain.events import Fact, TaskState
from memprove.ledger.domain.labels import split_evidence
from memprove.ledger.problems import ARGUMENT_INVALID, ARGUMENT_MISSING

MOST_NUMBER: Final = 999_999_999
"""The largest number of a Task or a Session, as in labels."""

MOST_LABELS: Final = 1_000
"""Labels in one list. Each entry of a list costs time before an operation can count them."""

EntriesT = TypeVar("EntriesT", bound=Sequence[object])

_NUMERAL: Final = re.compile(r"\+?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE]\+?[0-9]{1,2})?")
_FLAGS: Final = {"true": True, "false": False}


def number(name: str, value: object, least: int = 1, most: int = MOST_NUMBER) -> int:
    """Return the whole number that *value* stands for, from *least* to *most*."""
    found = _whole(value)
    if found is None or not least <= found <= most:
        upto = "" if most == MOST_NUMBER else f" to {most}"
        raise ARGUMENT_INVALID(f"{name} is a whole number from {least}{upto}")
    return found


def text(name: str, value: object) -> str:
    """Return *value*, which is a text; an absent one is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ARGUMENT_INVALID(f"{name} is a text")
    return value


def needed(name: str, value: object) -> str:
    """Return *value*, which is a text and must be given."""
    if value is None:
        raise ARGUMENT_MISSING(name)
    return text(name, value)


def flag(name: str, value: object) -> bool:
    """Return *value*, which is true or false."""
    if value is None:
        return False
    found = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise ARGUMENT_INVALID(f"{name} is true or false")
    return found


def texts(name: str, value: object) -> tuple[str, ...]:
    """Return the texts of a list; a single one may stand by itself."""
    return tuple(needed(f"an entry of {name}", entry) for entry in _listed(name, value))


def labels(name: str, value: object) -> tuple[str, ...]:
    """Return labels as texts: ``c3``, ``3`` and ``"3"`` are all taken."""
    listed = _listed(name, value, MOST_LABELS)
    if isinstance(value, str) and listed == [value]:
        listed = _counted(name, list(filter(None, re.split(r"[,\s]+", value))), MOST_LABELS)
    return tuple(_label(f"an entry of {name}", entry) for entry in listed)


def label(name: str, value: object) -> str:
    """Return one label as a text; an absent one is empty."""
    return "" if value is None or value == "" else _label(name, value)


def evidence(name: str, value: object) -> tuple[str, ...]:
    """Return citations; in a single text they may stand as in the brackets of a fact."""
    listed = _listed(name, value)
    if isinstance(value, str) and listed == [value]:
        cited = _split(name, f"[{value}]")[1]
        return cited or ((value.strip(),) if value.strip() else ())
    return tuple(needed(f"an entry of {name}", entry) for entry in listed)


def states(name: str, value: object) -> tuple[TaskState, ...]:
    """Return states of a Task, however they are capitalized and joined."""
    return tuple(_state(name, word) for word in texts(name, value))


def facts(name: str, value: object) -> tuple[Fact, ...]:
    """Return facts: objects, or texts that end with their evidence in brackets."""
    return tuple(_fact(f"an entry of {name}", entry) for entry in _listed(name, value))


def _whole(value: object) -> int | None:
    """Return the whole number in *value*, or None; minus zero is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        negative_zero = value == 0 and math.copysign(1, value) < 0
        return int(value) if value.is_integer() and not negative_zero else None
    if isinstance(value, str) and _NUMERAL.fullmatch(value.strip()):
        exact = Decimal(value.strip())
        return int(exact) if exact == exact.to_integral_value() else None
    return None


def _listed(name: str, value: object, most: int = limits.ENTRIES) -> list[object]:
    """Return the entries of *value*: a list, a list as JSON in a text, or one entry."""
    if value is None:
        return []
    if isinstance(value, str):
        if not value.strip():
            return []
        value = _parsed(name, value) if value.lstrip().startswith("[") else value
    return _counted(name, list(value) if isinstance(value, list | tuple) else [value], most)


def _counted(name: str, entries: EntriesT, most: int = limits.ENTRIES) -> EntriesT:
    """Return *entries* if there are few enough to look at each."""
    limits.check_count(name, entries, most)
    return entries


def _parsed(name: str, written: str) -> object:
    try:
        return json.loads(written, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ARGUMENT_INVALID(f"{name} is a list, and what begins with [ is none") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are no JSON


def _label(name: str, value: object) -> str:
    found = _whole(value)
    if found is not None:
        return str(number(name, found))
    if not isinstance(value, str) or not value.strip():
        raise ARGUMENT_INVALID(f"{name} is a label such as c3, or its number")
    return value.strip()


def _state(name: str, word: str) -> TaskState:
    try:
        return TaskState(re.sub(r"[\s_-]+", "_", word.strip().lower()))
    except ValueError:
        raise ARGUMENT_INVALID(f"{name} is of {', '.join(TaskState)}") from None


def _fact(name: str, value: object) -> Fact:
    given = _object(value) if isinstance(value, str) else value
    if isinstance(given, str):
        said, cited = _split(f"evidence in {name}", given)
        return Fact(text=said, evidence=cited)
    if not isinstance(given, dict):
        raise ARGUMENT_INVALID(f"{name} is a text, or an object with text, evidence and paths")
    said = needed(f"text in {name}", given.get("text"))
    cited = evidence(f"evidence in {name}", given.get("evidence"))
    if not cited:
        said, cited = _split(f"evidence in {name}", said)
    return Fact(text=said, evidence=cited, paths=texts(f"paths in {name}", given.get("paths")))


def _split(name: str, given: str) -> tuple[str, tuple[str, ...]]:
    said, cited = split_evidence(given)
    _counted(name, cited)
    return said, cited


def _object(written: str) -> object:
    """Return the object that *written* is as JSON, if it is one with a text; else the text."""
    if not written.lstrip().startswith("{"):
        return written
    try:
        found = json.loads(written, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return written
    return found if isinstance(found, dict) and isinstance(found.get("text"), str) else written


Reader = Callable[[str, Any], Any]
"""Reads the value of the argument that is named first."""
