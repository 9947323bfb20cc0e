"""A request on its way in: its secrets are cut, and it gets the mark that tells a retry."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Any, TypeVar, cast

import msgspec

from memprove.ledger.domain.redaction import Redactor
from memprove.ledger.operations.base import Operation
from memprove.ledger.problems import TEXT_INVALID
from memprove.ledger.tokens import Token

OperationT = TypeVar("OperationT", bound=Operation[Any])


def redacted(operation: OperationT, redactor: Redactor) -> OperationT:
    """Return *operation* with the secrets cut out of every text in it."""
    return cast(OperationT, _redacted(operation, redactor))


def mark(operation: Operation[Any], token: Token) -> str:
    """Return what is equal for equal requests of one token.

    The token's secret goes into the hash, so that nobody can guess texts from it.
    """
    name = type(operation).__name__
    try:
        body = msgspec.json.encode(operation)
    except UnicodeEncodeError:
        raise TEXT_INVALID(name) from None
    parts = (b"memprove request v1", token.secret.encode(), name.encode(), body)
    return sha256(b"\n".join(parts)).hexdigest()[:32]


def _redacted(value: Any, redactor: Redactor) -> Any:
    match value:
        case Enum() | bytes() | None | int():
            return value
        case str():
            return redactor.text(value)
        case _ if callable(value):
            return value  # somebody to tell, such as of progress
        case tuple():
            return tuple(_redacted(item, redactor) for item in value)
        case msgspec.Struct():
            names = value.__struct_fields__
            changed = {name: _redacted(getattr(value, name), redactor) for name in names}
            return msgspec.structs.replace(value, **changed)
        case _ if is_dataclass(value) and not isinstance(value, type):
            named = {f.name: _redacted(getattr(value, f.name), redactor) for f in fields(value)}
            return replace(value, **named)
        case _:
            raise TypeError(f"a request cannot hold a {type(value).__name__}")
