"""A request on its way in: its secrets are cut, and it gets the mark that tells a retry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from memprove.ledger.operations.base import Operation
from memprove.ledger.problems import TEXT_INVALID
from memprove.ledger.tokens import Token

if TYPE_CHECKING:
    from memprove.ledger.domain.redaction import Redactor

OperationT = TypeVar("OperationT", bound=Operation[Any])


def redacted(operation: OperationT, env: Mapping[str, str]) -> OperationT:
    """Return *operation* with the secrets cut out of every text in it but its verbatim ones.

    Secrets are known formats and the values of secret-named variables of *env*.
    """
    if not any(map(_may_hold_text, _values(operation))):
        return operation
    from memprove.ledger.domain.redaction import Redactor, environment_secrets  # late: 15 ms

    redactor = Redactor(environment_secrets(env))
    return cast(OperationT, _redacted(operation, redactor, operation.verbatim))


def mark(operation: Operation[Any], token: Token, call: str = "") -> str:
    """Return what is equal for equal requests of one token.

    The token's secret goes into the hash, so that nobody can guess texts from it. *call* tells
    equal ones apart where each is meant by itself.
    """
    name = type(operation).__name__
    try:
        body = msgspec.json.encode(operation)
    except UnicodeEncodeError:
        raise TEXT_INVALID(name) from None
    parts = [b"memprove request v1", token.secret.encode(), name.encode(), body]
    if call and operation.is_meant_each_time():
        parts.append(call.encode("utf-8", "replace"))
    return sha256(b"\n".join(parts)).hexdigest()[:32]


def _values(operation: Operation[Any]) -> Iterator[Any]:
    for name in _names(operation):
        if name not in operation.verbatim:
            yield getattr(operation, name)


def _names(value: Any) -> Sequence[str]:
    """Return the fields of a Struct or a dataclass; none of anything else."""
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    if not hasattr(value, "__dataclass_fields__"):
        return ()
    from dataclasses import fields  # late: where there is one, it is imported

    return [field.name for field in fields(value)]


def _may_hold_text(value: Any) -> bool:
    return bool(value) and not isinstance(value, Enum | int | bytes)


def _redacted(value: Any, redactor: Redactor, verbatim: frozenset[str]) -> Any:
    def kept(names: Iterable[str]) -> dict[str, Any]:
        found = ((name, getattr(value, name)) for name in names if name not in verbatim)
        return {name: _redacted(item, redactor, verbatim) for name, item in found}

    match value:
        case Enum() | bytes() | None | int():
            return value
        case str():
            return redactor.text(value)
        case _ if callable(value):
            return value  # somebody to tell, such as of progress
        case tuple():
            return tuple(_redacted(item, redactor, verbatim) for item in value)
        case msgspec.Struct():
            return msgspec.structs.replace(value, **kept(_names(value)))
        case _ if _names(value):
            from dataclasses import replace  # late, as below

            return replace(value, **kept(_names(value)))
        case _:
            raise TypeError(f"a request cannot hold a {type(value).__name__}")
