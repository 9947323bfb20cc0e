"""A case of the corpus: a small project, the command that tests it, what a person expects."""

from collections.abc import Mapping
from typing import NamedTuple


class Case(NamedTuple):
    """*counts* are read off the files; *terminal*: both streams are one terminal's."""

    files: Mapping[str, str]
    command: str
    counts: Mapping[str, int] | None = None
    terminal: bool = False
    report: str = ""  # the JUnit file that the command writes
