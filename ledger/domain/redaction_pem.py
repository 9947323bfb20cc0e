"""Private keys in PEM: whole, cut at the end, cut at the beginning, inside JSON or YAML."""

from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_rule import Rule, Span

_BEGIN: Final = lazily(rb"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = lazily(rb"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_CUT_BODY: Final = lazily(
    rb"(?:(?:\\[nrt]|[\s>|+\"',\\]){1,16}(?:[A-Za-z-]{1,24}: [^\n]{0,96}|[A-Za-z0-9+/=]{16,}))*"
    rb"(?:(?:\\[nr]|[\s>|+\"',\\]){1,16}[A-Za-z0-9+/]{1,15}={1,2})?"
)
_KEY_LINE: Final = lazily(rb"[ \t>|+\"',]{0,16}[A-Za-z0-9+/=]{1,128}(?:\\n)?[\"',+ ]{0,4}\r?")
_KEY_MATERIAL: Final = lazily(rb"[A-Za-z0-9+/=]{16}")
_LONGEST_KEY: Final = 65_536
_LONGEST_LINE: Final = 16_384


def locate_private_key(text: bytes, at: int) -> Span | None:
    """Return a PEM block (RFC 7468, RFC 9580), to its end or as far as it reads like a key."""
    begin = _BEGIN.match(text, at)
    if begin is None:
        return None
    limit = begin.end() + _LONGEST_KEY
    following = text.find(b"-----BEGIN", begin.end(), limit)
    limit = limit if following < 0 else following
    last = text.find(b"-----END", begin.end(), limit)
    if last >= 0 and (end := _END.match(text, last)):
        stop = end.end()
    else:
        body = _CUT_BODY.match(text, begin.end(), limit)
        stop = body.end() if body else begin.end()
    return (at, stop) if _KEY_MATERIAL.search(text, begin.end(), stop) else None


def locate_private_key_end(text: bytes, at: int) -> Span | None:
    """Return the rest of a PEM block whose beginning was cut off: base64 lines before its end."""
    end = _END.match(text, at)
    if end is None:
        return None
    start = max(_line_start(text, at), text.rfind(b"-----END ", max(0, at - _LONGEST_LINE), at))
    for _ in range(256):
        previous = _line_start(text, max(start - 1, 0))
        if previous >= start or not _KEY_LINE.fullmatch(text, previous, start - 1):
            break
        start = previous
    return (start, end.end()) if _KEY_MATERIAL.search(text, start, at) else None


def _line_start(text: bytes, at: int) -> int:
    """Return where the line begins that *at* is in, or the last of what no line of a key exceeds.

    A line of JSON may hold a whole key, after escaped ends of lines.
    """
    first = max(0, at - _LONGEST_LINE)
    return max(first, text.rfind(b"\n", first, at) + 1)


PRIVATE_KEYS: Final = (
    Rule("private-key", (b"-----BEGIN ",), locate_private_key),
    Rule("private-key", (b"-----END ",), locate_private_key_end),
)
