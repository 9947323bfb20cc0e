"""Tokens of vendors that no table names: a short prefix, then one long random word.

Mixed random letters and digits behind ``abc_`` or ``abc-`` are nothing but a token: hashes are
hexadecimal, and names are made of words, in which small letters stand together.
"""

import re
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_rule import Rule, Span, followed_by

_LONGEST_PREFIX: Final = 48
_PREFIX: Final = lazily(
    rb"(?<![A-Za-z0-9_+/=.-])(?!(?i:sha|md|blake)-?[0-9])"
    rb"(?:[a-z][a-z0-9]{1,15}|[A-Z][A-Z0-9]{1,15})(?:[_-](?:[a-z0-9]{1,12}|[A-Z0-9]{1,12})){0,3}\Z"
)
_LEAST: Final = 30
_LEAST_DECLARED: Final = 20
_MORE: Final = rb"(?:[_-][A-Za-z0-9]{6,64}){0,3}(?![A-Za-z0-9+/=])"
_RANDOM: Final = lazily(rb"[_-](?P<word>[A-Za-z0-9]{%d,512})" % _LEAST + _MORE)
_DECLARED: Final = lazily(
    rb"[_-][a-z]{2,10}[_-](?P<word>[A-Za-z0-9]{%d,512})" % _LEAST_DECLARED + _MORE
)
_DECLARING: Final = (
    "live",
    "test",
    "sandbox",
    "prod",
    "production",
    "api",
    "pat",
    "sk",
    "secret",
    "oauth",
)

_KINDS: Final = rb"[0-9]+|[a-z]+|[A-Z]+"
_WORD: Final = rb"[A-Z]?[a-z]{3,}|[A-Z][a-z]{2}"
_LEAST_CHANGES: Final = 0.35
"""Of the steps from one character to the next, the share that leads to another kind.

Letters and digits at random: 0.62.
"""
_MOST_IN_WORDS: Final = 0.62


def is_random(word: bytes) -> bool:
    """Return whether *word* is capitals, small letters and digits in no order."""
    kinds = re.findall(_KINDS, word)
    numbers = sum(part[:1].isdigit() for part in kinds)
    mixed = not word.islower() and not word.isupper()
    if not mixed or numbers < 2 or len(kinds) <= _LEAST_CHANGES * len(word):
        return False
    return sum(map(len, re.findall(_WORD, word))) < _MOST_IN_WORDS * len(word)


def _locate_random(text: bytes, at: int) -> Span | None:
    match = _RANDOM.match(text, at)
    if match is None or not is_random(match["word"]) or not _has_prefix(text, at):
        return None
    return match.span()


def _locate_declared(text: bytes, at: int) -> Span | None:
    """Return a token that says itself that it is one: its word may be of one case."""
    match = _DECLARED.match(text, at)
    if match is None or not _has_prefix(text, at):
        return None
    numbers = re.findall(rb"[0-9]+", match["word"])
    scattered = len(numbers) >= 3 and not match["word"].isdigit()
    return match.span() if scattered or is_random(match["word"]) else None


def _has_prefix(text: bytes, at: int) -> bool:
    return _PREFIX.search(text, max(0, at - _LONGEST_PREFIX), at) is not None


RANDOM: Final = (
    Rule(
        "declared-token",  # abc_live_…, abc-api-…
        tuple(f"{mark}{word}{mark}".encode() for mark in "_-" for word in _DECLARING),
        _locate_declared,
        gate=followed_by(rb"[A-Za-z0-9]{%d}" % _LEAST_DECLARED),
    ),
    Rule(
        "random-token",
        (b"_", b"-"),
        _locate_random,
        gate=followed_by(rb"[A-Za-z0-9]{%d}" % _LEAST),
    ),
)
