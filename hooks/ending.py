"""The end of a conversation."""

from memprove.hooks.occasion import Occasion
from memprove.ledger.operations.sessions import EndClientSession


def session(here: Occasion) -> bytes:
    """Answer SessionEnd: end the Session that this client session began. Nothing is printed.

    One that is cleared goes on under another client session. A context that several clients share
    (`shell`) is nobody's to end.
    """
    named = here.caller.variable("MEMPROVE_CONTEXT")
    if here.told.reason != "clear" and named:
        here.execute(EndClientSession(note=""))
    return b""
