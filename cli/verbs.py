"""How a module of ``commands`` declares its verbs, and how they get from there to Typer."""

from typing import Any, Final

import typer

_EXAMPLES: Final = "\nExamples:\n"


def verbs(help: str | None = None) -> typer.Typer:
    """Return a group of verbs that Typer shows as plain text; *help* if it is a verb itself."""
    return typer.Typer(
        help=help,
        # Rich would cost 50 ms, and read what others wrote as its markup.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )


def verb(declared: typer.Typer, name: str) -> Any:
    """Return the verb *name* of those that a module has *declared*, as Typer runs it."""
    found: Any = typer.main.get_group(declared).commands[name]
    for one in (found, *getattr(found, "commands", {}).values()):
        # A backspace keeps the lines of the paragraph behind it from being joined.
        one.help = (one.help or "").replace(_EXAMPLES, f"\n\b{_EXAMPLES}")
    return found
