"""Whether a token may do what is asked for."""

import hmac
from typing import Any, Protocol

from memprove.ledger import scopes
from memprove.ledger.operations.base import Operation
from memprove.ledger.problems import ROLE_FORBIDDEN, TOKEN_REVOKED, TOKEN_UNKNOWN
from memprove.ledger.projections import TokenRow, decode_row
from memprove.ledger.scopes import Scope
from memprove.ledger.tokens import Token


class Tables(Protocol):
    """The tables beside the log, or what was built of them."""

    def row(self, table: str, key: str) -> bytes | None:
        """Return the value under *key* in *table*."""
        ...


def check_token(tables: Tables, token: Token, operation: Operation[Any]) -> TokenRow:
    """Return the row of *token* in *tables*, if it may do *operation*.

    Raises ``token_unknown``, ``token_revoked`` or ``role_forbidden``.
    """
    value = tables.row("token", token.id)
    row = decode_row(TokenRow, value) if value is not None else None
    if row is None or not hmac.compare_digest(row.secret_hash, token.secret_hash):
        raise TOKEN_UNKNOWN()
    if row.revoked:
        raise TOKEN_REVOKED(row.token)
    lacking = scopes.lacking(operation.sends, row.scopes, row.role)
    if Scope.OWNER in operation.needs() and row.role != scopes.Role.OWNER:
        lacking.append(Scope.OWNER)
    if lacking:
        raise ROLE_FORBIDDEN(", ".join(lacking))
    return row
