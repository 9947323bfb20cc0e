"""Issue, rotate, revoke and list tokens, as the owner."""

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from memprove.ledger.domain import limits
from memprove.ledger.domain.events import TokenIssued, TokenRevoked
from memprove.ledger.domain.record import Draft
from memprove.ledger.operations.base import Operation, Work
from memprove.ledger.problems import ARGUMENT_INVALID, TOKEN_LAST, TOKEN_REVOKED, TOKEN_UNKNOWN
from memprove.ledger.projections import TokenRow
from memprove.ledger.scopes import Role, Scope
from memprove.ledger.tokens import Token


def issued(token: Token, name: str, role: Role, scopes: tuple[str, ...]) -> TokenIssued:
    """Return the event that issues *token*."""
    return TokenIssued(
        token=token.id,
        name=name,
        role=role,
        scopes=scopes,
        secret_hash=token.secret_hash,
    )


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """A new token: for a file, never for the screen."""

    token: str
    id: str
    name: str
    role: str
    scopes: tuple[str, ...]
    seq: int


@dataclass(frozen=True, slots=True)
class IssueToken(Operation[Issued]):
    """Issue a token."""

    sends: ClassVar = ("issueToken",)

    name: str
    role: Role = Role.AGENT
    scopes: tuple[str, ...] = (Scope.READ, Scope.WRITE)

    def run(self, work: Work) -> Issued:
        """Append the issue."""
        limits.check_needed("name", self.name, limits.NAME)
        if not self.scopes or any(not s.strip() or len(s) > limits.NAME for s in self.scopes):
            raise ARGUMENT_INVALID("a token needs at least one scope")
        token = work.new_token()
        record = work.append(Draft(issued(token, self.name, self.role, self.scopes)))
        return Issued(
            token=str(token),
            id=token.id,
            name=self.name,
            role=self.role,
            scopes=self.scopes,
            seq=record.seq,
        )


class Revoked(msgspec.Struct, frozen=True, kw_only=True):
    """A token that may act no more."""

    id: str
    seq: int


@dataclass(frozen=True, slots=True)
class RevokeToken(Operation[Revoked]):
    """Revoke the token with this id."""

    sends: ClassVar = ("revokeToken",)

    id: str

    def run(self, work: Work) -> Revoked:
        """Append the revocation."""
        row = _live(work, self.id)
        owners = [t for t in work.tokens() if t.role == Role.OWNER and not t.revoked]
        if owners == [row]:
            raise TOKEN_LAST(self.id)
        record = work.append(Draft(TokenRevoked(token=self.id)))
        return Revoked(id=self.id, seq=record.seq)


class TokenTold(msgspec.Struct, frozen=True, kw_only=True):
    """A token without anything secret."""

    id: str
    name: str
    role: str
    scopes: tuple[str, ...]
    issued_at: int
    revoked: bool


class TokenList(msgspec.Struct, frozen=True, kw_only=True):
    """All tokens."""

    tokens: tuple[TokenTold, ...]


@dataclass(frozen=True, slots=True)
class ListTokens(Operation[TokenList]):
    """List all tokens."""

    sends: ClassVar = ("issueToken",)

    def run(self, work: Work) -> TokenList:
        """Read them."""
        return TokenList(
            tokens=tuple(
                TokenTold(
                    id=row.token,
                    name=row.name,
                    role=row.role,
                    scopes=row.scopes,
                    issued_at=row.issued_at,
                    revoked=row.revoked,
                )
                for row in work.tokens()
            )
        )


def _live(work: Work, id: str) -> TokenRow:
    for row in work.tokens():
        if row.token == id:
            if row.revoked:
                raise TOKEN_REVOKED(id)
            return row
    raise TOKEN_UNKNOWN(id)
