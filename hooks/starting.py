"""What a conversation, and a sub-agent in one, starts from."""

from contextlib import suppress
from typing import Final

from memprove.hooks import adopting
from memprove.hooks.occasion import LIMIT, Occasion
from memprove.ledger.operations.starts import ReadStart, ReadSubStart
from memprove.ledger.problems import Problem

PROBE: Final = "doctor"
"""The source of a conversation that is none, with which the hook is tried: nothing is recorded."""
SUBAGENT_LIMIT: Final = 2_000
"""Bytes: every sub-agent pays for them, and most look at little."""


def session(here: Occasion) -> bytes:
    """Answer SessionStart: the opening statement and the Pack, with what was spooled adopted."""
    inside = bool(here.told.agent_id)  # a sub-agent moves no pointer of its parent
    read = ReadStart(
        limit=LIMIT,
        source="" if inside else here.told.source or "",
        window="" if inside or not here.has_own_session else here.window,
        earlier="" if inside else here.earlier,
    )
    try:
        start = here.execute(read)
        if start.spooled and here.told.source != PROBE and adopting.adopt(here):
            with suppress(Problem):
                start = here.execute(read)
        return here.answer(start.text)
    except Problem as problem:
        return here.answer(here.warning(problem))


def subagent(here: Occasion) -> bytes:
    """Answer SubagentStart: a short Pack. Clients start some for themselves, without a type."""
    if here.told.agent_type == "":
        return b""
    return here.answer(here.execute(ReadSubStart(limit=SUBAGENT_LIMIT)).text)
