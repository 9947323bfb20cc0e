"""The block about memprove in ``AGENTS.md`` and ``CLAUDE.md``: facts for whoever works here.

It stands between two marks and holds nothing that changes with time, place or person, for the file
is committed. What stands outside the marks is never touched; half a block is nobody's to guess at.
"""

import re
from typing import Final

from memprove.hooks.install.claude import Unfit

BEGIN: Final = "<!-- BEGIN MEMPROVE v:1 -->"
END: Final = "<!-- END MEMPROVE -->"
BLOCK: Final = (
    BEGIN,
    "## memprove",
    "",
    "This project keeps a ledger of its work. `memprove resume` prints where a Task stands.",
    "",
    '- `memprove begin "TITLE"` begins a Session on a new Task, `begin --task N` on Task N.',
    "- `memprove run -- COMMAND` runs tests, builds, lints and records the result as `r1`, `r2`.",
    '- `memprove checkpoint --fact "TEXT [r1]" --next TEXT` states facts with what shows them.',
    "- `memprove complete` closes the Task once its checks pass; `memprove end` ends the Session.",
    "- Nothing here overrides what the user says.",
    END,
)

_MARK = re.compile(r"^[ \t]*<!-- (BEGIN|END) MEMPROVE\b.*?-->[ \t]*\r?$", re.M)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.M | re.S)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_IMPORT = re.compile(r"(?:^|(?<=\s))@(?:\./)?AGENTS\.md(?![\w/.-]*\w)", re.M)


def with_block(data: bytes | None) -> bytes:
    """Return the document in *data* with our block: in its place if it is there, else at the end.

    A document that ends without a line end still does.
    """
    text = _text(data)
    line_end = "\r\n" if "\r\n" in text else "\n"
    block = line_end.join(BLOCK)
    span = _span(text)
    if span is not None:
        return (text[: span[0]] + block + text[span[1] :]).encode()
    if not text.strip("\ufeff \t\r\n"):
        return f"{text}{block}{line_end}".encode()
    if text.endswith("\n"):
        return f"{text}{line_end}{block}{line_end}".encode()
    return f"{text}{line_end}{line_end}{block}".encode()


def without_block(data: bytes) -> bytes:
    """Return the document without our block, and as it was before if that stood at the end."""
    text = _text(data)
    span = _span(text)
    if span is None:
        return data
    before, after = text[: span[0]], text[span[1] :]
    ended = after.startswith(("\n", "\r\n"))
    after = after[after.index("\n") + 1 :] if ended else after
    added = 1 if ended else 2  # a blank line, and the end that the last line did not have
    for _ in range(added):
        before = before.removesuffix("\n").removesuffix("\r")
    if before and ended and not before.endswith("\n"):
        before += "\r\n" if "\r\n" in text else "\n"
    return (before + after).encode()


def imports_agents(data: bytes | None) -> bool:
    """Tell whether the ``CLAUDE.md`` in *data* imports ``AGENTS.md``, outside of code."""
    return _IMPORT.search(_CODE.sub("", _FENCED.sub("", _text(data)))) is not None


def has_block(data: bytes | None) -> bool:
    """Tell whether our block is in *data*."""
    return _span(_text(data)) is not None


def _span(text: str) -> tuple[int, int] | None:
    """Return where our block begins and ends; None: there is none."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    if [mark[1] for mark in marks] != ["BEGIN", "END"]:
        line = text.count("\n", 0, marks[0].start()) + 1
        raise Unfit(f"line {line}: the marks of memprove do not enclose one block")
    end = marks[1].end()
    return marks[0].start(), end - text[:end].endswith("\r")


def _text(data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise Unfit("it is not UTF-8") from None
