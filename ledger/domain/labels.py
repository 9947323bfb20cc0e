"""Labels: short names such as ``r3`` or ``c7``, and the citations built from them.

A label is letters and a number. Letters of a Task: ``r`` Run, ``c`` claim, ``o`` open item, ``d``
Decision. Letters of a Workspace: ``t`` Task, ``s`` Session, ``w`` Run outside a Session. Letters of
the Ledger: ``ws`` Workspace. People see Tasks, Sessions and Workspaces as plain numbers. A spooled
Run is ``x`` and six random letters or digits: it had its name before the ledger knew of it.

A citation is a label as evidence: ``r3`` (a Run that passed), ``r3:tests/test_x.py::test_y`` (one
test in it), ``!r1`` (a Run that failed), ``c2``, ``d1``.
"""

import re

import msgspec

from memprove.ledger.problems import LABEL_INVALID

TASK_LETTERS = frozenset("rcod")
WORKSPACE_LETTERS = frozenset("tsw")

_LABEL = re.compile(r"([a-z]{1,2})([1-9][0-9]{0,8})")
_SPOOLED = re.compile(r"x[a-z0-9]{6}")
_SHOWN = re.compile(rf"[rwcod][1-9][0-9]{{0,8}}|{_SPOOLED.pattern}")
_BETWEEN = re.compile(  # an id of a test may hold a comma
    rf"\s+|,(?=\s|$|!?[rcd][1-9]|!?{_SPOOLED.pattern}(?:[\s,]|$))"
)
_CITATION = re.compile(
    rf"(!?)(r[1-9][0-9]{{0,8}}|{_SPOOLED.pattern})(?::(\S+))?|([cd][1-9][0-9]{{0,8}})"
)


class Citation(msgspec.Struct, frozen=True, order=True):
    """A label as evidence for a claim."""

    label: str
    test: str = ""
    failed: bool = False

    def __str__(self) -> str:
        return f"{'!' if self.failed else ''}{self.label}{':' if self.test else ''}{self.test}"

    @property
    def is_run(self) -> bool:
        """Tell whether a Run is cited."""
        return self.label[0] in "rx"


def is_spooled(label: str) -> bool:
    """Tell whether *label* is that of a spooled Run, which has no number."""
    return label.startswith("x") and _SPOOLED.fullmatch(label) is not None


def split_label(label: str) -> tuple[str, int]:
    """Return the letters and the number of *label*, which is not that of a spooled Run."""
    match = _LABEL.fullmatch(label)
    if match is None:
        raise LABEL_INVALID(label)
    return match[1], int(match[2])


def parse_label(text: str, letters: str) -> str:
    """Return the label in *text*, one of *letters*; a bare number takes the first letter."""
    text = text.strip()
    label = f"{letters[0]}{text}" if text.isascii() and text.isdigit() else text
    if _SHOWN.fullmatch(label) is None or label[0] not in letters:
        raise LABEL_INVALID(text)
    return label


def parse_citation(text: str) -> Citation:
    """Return the citation in *text*."""
    match = _CITATION.fullmatch(text.strip())
    if match is None or (match[1] and match[3]):
        raise LABEL_INVALID(text)
    if match[4]:
        return Citation(match[4])
    return Citation(match[2], match[3] or "", bool(match[1]))


def split_evidence(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a fact's text and the evidence of its ending: ``it works [r1 !r2]``.

    The last balanced group counts only if each of its words is a citation; else it is text.
    """
    body = text.rstrip()
    start = _last_group(body)
    words = list(filter(None, _BETWEEN.split(body[start + 1 : -1]))) if start >= 0 else []
    if not words or any(_CITATION.fullmatch(word) is None for word in words):
        return text, ()
    return text[:start].rstrip(), tuple(words)


def _last_group(text: str) -> int:
    """Return where the group begins that *text* ends with; ids of tests may hold brackets."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(text[at], 0)
        if depth == 0:
            return at if text[at] == "[" else -1
    return -1
