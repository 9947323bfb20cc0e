"""Secrets that a terminal broke over several lines."""

import re
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_rule import BREAK, OPAQUE, Rule, Span

_CONTINUATION: Final = lazily(BREAK + rb"(?P<word>" + OPAQUE + rb"{2,})(?=[\s\"'`,;)}\]|]|\Z)")
_REST: Final = lazily(OPAQUE + rb"{0,512}")
_NARROWEST: Final = 40
_WIDEST: Final = 4096
_MOST_LINES: Final = 64


def continued(data: bytes, end: int, most: int = _MOST_LINES) -> int:
    """Return the end of a secret that a terminal broke at *end*, the end of a long line.

    The next line must begin with a word that is no longer than the broken line was wide and that
    mixes digits with letters, as the rest of a random token does. At *most* that many lines follow.
    """
    for _ in range(most):
        following = _CONTINUATION.match(data, end)
        if following is None:
            break
        start = max(data.rfind(b"\n", max(0, end - _WIDEST), end) + 1, end - _WIDEST)
        if end - start < _NARROWEST:
            break
        word = following["word"]
        if len(word) > end - start or not _is_random(word):
            break
        end = following.end()
    return end


def broken(rule: Rule, data: bytes, at: int) -> Span | None:
    """Return the span of a secret of which too little stands before the break to be known by."""
    end = _REST.match(data, at).end()  # type: ignore[union-attr]  # it matches the empty word
    whole = continued(data, end, most=1)
    if whole == end:
        return None
    before = max(0, at - 1)
    joined = re.sub(BREAK, b"", data[before:whole])
    span = rule.locate(joined, at - before)
    return (at, whole) if span is not None and span[1] == len(joined) else None


def _is_random(word: bytes) -> bool:
    kinds = [re.search(kind, word) is not None for kind in (rb"[0-9]", rb"[a-z]", rb"[A-Z]")]
    return all(kinds) if re.search(rb"[._/]", word) else kinds[0] and (kinds[1] or kinds[2])
