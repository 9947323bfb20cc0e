"""GitHub's workflow commands: annotations, and nothing that stored text could make one of.

A line that begins with ``::`` is a command to the runner, and so is one that holds ``##[``. So what
others wrote goes into the data of our own commands only, escaped as the runner reads it back.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 9
"""How many annotations are made: the runner shows ten for a step, and one says how many more."""

_OLD_COMMAND: Final = "##["


@dataclass(frozen=True, slots=True)
class Annotation:
    """One thing that is wrong; *file* is the path that it is shown at."""

    title: str
    message: str
    file: str = ""


def here(env: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a runner of GitHub reads what is printed."""
    return env.get("GITHUB_ACTIONS") == "true"


def annotations(errors: Sequence[Annotation], notice: Annotation) -> list[str]:
    """Return the commands that show *errors*, at most MOST of them, and then *notice*."""
    lines = [_command("error", one) for one in errors[:MOST]]
    if len(errors) > MOST:
        more = f"{len(errors) - MOST} more"
        lines.append(_command("error", Annotation(notice.title, more)))
    return [*lines, _command("notice", notice)]


def defused(lines: Iterable[str]) -> list[str]:
    """Return *lines* so that a runner finds no command in them."""
    return [line.replace(_OLD_COMMAND, "##\\x5b") for line in lines]


def _command(name: str, told: Annotation) -> str:
    properties = [f"file={_property(told.file)}"] if told.file else []
    properties.append(f"title={_property(told.title)}")
    return f"::{name} {','.join(properties)}::{_data(told.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
