"""``memprove hook EVENT``: what an agent's client calls when something happens to a conversation.

A hook must never be in the way. It ends with exit code 0, whatever it meets, within its deadline;
it prints nothing or one JSON document that the client takes; nothing else can reach its stdout. It
acts on the first complete JSON document of stdin and waits for no end of it. What is imported here
is imported on every start of a conversation: neither Typer nor pydantic nor mcp.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from memprove.hooks import guard

if TYPE_CHECKING:
    from memprove.hooks.occasion import Occasion

DEADLINE_S: Final = 1.8
"""From here to the end: with the start of Python two seconds."""
ENDING_S: Final = 0.4
"""For the end of a conversation; what was begun is finished after we have left."""

PATIENCE: Final = 0.6
"""Of what is left, for git or for another writer: without today's tree there is a Pack still."""

EVENTS: Final[dict[str, tuple[str, str, float]]] = {
    "SessionStart": ("starting", "session", DEADLINE_S),
    "sessionStart": ("starting", "session", DEADLINE_S),
    "SubagentStart": ("starting", "subagent", DEADLINE_S),
    "SessionEnd": ("ending", "session", ENDING_S),
    "PostToolUse": ("noting", "used", DEADLINE_S),
    "PostToolUseFailure": ("noting", "failed", DEADLINE_S),
    "AfterTool": ("noting", "used", DEADLINE_S),
}
"""Event -> module, function, seconds. Any other event is passed over in silence."""


def main(arguments: Sequence[str], distrust: Callable[[list[str]], None]) -> NoReturn:
    """Answer the event that *arguments* (``-C``, ``--config-dir``, ``hook EVENT``) name, and leave.

    *distrust* drops what lies in the folders that it is given from the places of imports.
    """
    began = time.monotonic()
    try:
        guard.open_standard_streams()
        event, config_dir, folder = _parsed(arguments)
        if folder is not None:
            os.chdir(folder)
        if event in EVENTS:
            *place, seconds = EVENTS[event]
            longest = _owners_seconds()
            until = began + (longest or DEADLINE_S)

            def work() -> bytes:
                here = _occasion(event, config_dir, until)
                if here is None:
                    return b""
                distrust([str(here.folder)])
                return _answer(here, *place)

            guard.answer(work, began + (longest or seconds), until)
    except BaseException as error:
        guard.tell(error)
    os._exit(0)


def _occasion(event: str, config_dir: str | None, until: float) -> "Occasion | None":
    _import_msgspec()
    from memprove.hooks import document, occasion  # late: the guard is up by now

    told = document.read(0, until)
    if told is None:
        return None
    left = until - time.monotonic()
    return occasion.Occasion(event, told, config_dir, patience_s=left * PATIENCE)


def _import_msgspec() -> None:
    """Import it without typing_extensions, which it prefers and has no need of for what we do.

    That and what it imports take a tenth of the whole hook.
    """
    unwanted = "typing_extensions"
    if unwanted in sys.modules:
        return
    sys.modules[unwanted] = None  # type: ignore[assignment]  # to import it is an ImportError
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[unwanted]


def _answer(here: "Occasion", module: str, function: str) -> bytes:
    """Return the document for the client, ending with a line feed, or nothing."""
    from importlib import import_module

    answer = getattr(import_module(f"memprove.hooks.{module}"), function)(here)
    assert isinstance(answer, bytes)
    return answer


def _owners_seconds() -> float | None:
    """Return the deadline that MEMPROVE_HOOK_SECONDS sets, for slow machines: at most 10."""
    try:
        seconds = float(os.environ.get("MEMPROVE_HOOK_SECONDS", ""))
    except ValueError:
        return None
    return seconds if 0 < seconds <= 10 else None


def _parsed(arguments: Sequence[str]) -> tuple[str, str | None, str | None]:
    """Return the event, the configuration directory and the folder; what is unknown is ignored."""
    event, config_dir, folder = "", None, None
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name == "--config-dir":
            config_dir = value if equals else next(words, None)
        elif word == "-C":
            folder = next(words, None)
        elif not word.startswith("-") and word != "hook":
            event = event or word
    return event, config_dir, folder


if __name__ == "__main__":
    main(sys.argv[1:], lambda places: None)
