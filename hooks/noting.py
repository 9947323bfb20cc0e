"""Tests that an agent ran outside ``memprove run``: noted in the log, and evidence of nothing."""

from typing import Final

import msgspec

from memprove.hooks.occasion import Occasion
from memprove.ledger.operations.runs import RecordNote

SHELLS: Final = frozenset({"Bash", "shell", "run_shell_command"})
"""What clients call the tool that runs a command line."""
MOST: Final = 64 * 1024
"""Characters of a command line that is looked into."""


class _Input(msgspec.Struct):
    command: str | None = None


def used(here: Occasion) -> bytes:
    """Answer PostToolUse, after a command that ended well, or of which nothing else is known."""
    return _note(here, failed=False)


def failed(here: Occasion) -> bytes:
    """Answer PostToolUseFailure."""
    return _note(here, failed=True)


def _note(here: Occasion, *, failed: bool) -> bytes:
    from memprove.ledger.capture.commands import tests_unrecorded  # late: most tools are no shell

    command = _command(here)
    if command and tests_unrecorded(command):
        here.execute(RecordNote(command=command, failed=failed))
    return b""


def _command(here: Occasion) -> str:
    """Return the command line that the tool ran; empty if it was another tool."""
    if here.told.tool_name not in SHELLS:
        return ""
    try:
        command = msgspec.json.decode(here.told.tool_input, type=_Input).command or ""
    except (msgspec.MsgspecError, UnicodeError):
        return ""
    return command if len(command) <= MOST else ""
