"""Arguments as text, whatever the locale is: what people type is UTF-8.

In the C locale Python may read every other byte of an argument as half a surrogate pair. What goes
back to the system (a command to run, a path) must be as it came: ``given(text(word)) == word``.
"""

import os
from pathlib import Path

import typer


def text(word: str) -> str:
    """Return the argument *word* as UTF-8 reads it; bytes that are not UTF-8 stay surrogates."""
    return os.fsencode(word).decode("utf-8", "surrogateescape")


def given(text: str) -> str:
    """Return *text* as the argument or the path that the system takes for it."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def given_path(word: str) -> Path:
    """Return the path that the argument *word* names, ``~`` standing for the home folder."""
    try:
        return Path(given(word)).expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"no home folder is known: {word}") from None
