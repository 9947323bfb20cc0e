"""Read the context file: a pointer, never evidence."""

from dataclasses import dataclass

import msgspec

from memprove.ledger.operations.base import Local, LocalOperation
from memprove.ledger.workspace.context import Context


class ContextTold(msgspec.Struct, frozen=True, kw_only=True):
    """What the local file says, not checked against any ledger; None: there is none."""

    client: str
    context: Context | None


@dataclass(frozen=True, slots=True)
class ReadContext(LocalOperation[ContextTold]):
    """Read the caller's context file: no token, no ledger, nothing checked."""

    def look(self, local: Local) -> ContextTold:
        """Read it."""
        client, context = local.context_file()
        return ContextTold(client=client, context=context)
