"""Cut secrets out of everything that is stored, before it is hashed or written.

What is cut reads ``[REDACTED:rule]``; redacting twice changes nothing. No hash of the secret is
kept: a short one could be guessed from it. Rules work on bytes, so output is never decoded.

Not found, by design: a secret without a known shape, a telling name or an entry in the environment;
secrets in UTF-16 or compressed output; a wrapped secret whose continuation does not read like one
(``_continued``); what is split over two calls (give whole lines, or the whole stream).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_arguments import secret_arguments
from memprove.ledger.domain.redaction_rule import Rule, Span
from memprove.ledger.domain.redaction_rules import RULES
from memprove.ledger.domain.redaction_values import MARKER, is_harmless

_SHORTEST_VALUE: Final = 8
_PASSES: Final = 4
_ENVIRONMENT: Final = "environment"
_ARGUMENT: Final = "argument"

_SECRET_VARIABLE: Final = lazily(
    r"(?i)token|secret|passw|passphrase|passwd|credential|private_?key|api_?key|access_?key"
    r"|(?:^|_)(?:pass|pwd|auth|key|pat|cookie|dsn)(?:$|_)|encryption|signing"
)
_OTHER_VARIABLE: Final = lazily(
    r"(?i)(?:_|^)(?:file|path|dir|url|uri|host|sock|id|name|type|ttl)$|^(?:old)?pwd$"
)


def environment_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the secret-named variables of *environment*, the longest first.

    Left out are values below 8 characters, numbers, booleans, common words, paths, and addresses
    without credentials: cutting them everywhere would make output unreadable.
    """
    values = {
        value
        for variable, value in environment.items()
        if _SECRET_VARIABLE.search(variable)
        and not _OTHER_VARIABLE.search(variable)
        and _is_secret_value(value)
    }
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


class Redactor:
    """Cuts secrets by the rule table and by exact values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._exact = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """Return *text*, which may hold lone surrogates, without its secrets."""
        raw = text.encode("utf-8", "surrogatepass")
        clean = self.data(raw)
        return text if clean == raw else clean.decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return *data*, in ASCII or an encoding that extends it, without its secrets."""
        for _ in range(_PASSES):
            spans = _merged(_exact_spans(data, self._exact) + _rule_spans(data))
            if not spans:
                break
            data = _cut(data, spans)
        return data

    def argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Return the arguments without secrets, also those whose name is the argument before."""
        words = list(argv)
        for index, start in secret_arguments(words):
            words[index] = words[index][:start] + f"[REDACTED:{_ARGUMENT}]"
        return tuple(self.text(word) for word in words)


def _is_secret_value(value: str) -> bool:
    raw = value.encode("utf-8", "surrogatepass")
    if len(value) < _SHORTEST_VALUE:
        return False
    if "://" in value:
        return re.search(r"://[^/\s]*:[^/\s]+@", value) is not None
    return len(value) >= 16 if value.isalpha() else not is_harmless(raw)


def _forms(secret: str) -> set[bytes]:
    """Return *secret* as it may be printed: raw, inside JSON, percent-encoded."""
    import json  # late, both: few environments hold a secret
    from urllib.parse import quote

    raw = secret.encode("utf-8", "surrogatepass")
    # os.environ holds bytes that are not UTF-8 as lone surrogates (PEP 383).
    printed = secret.encode("utf-8", "surrogateescape") if _is_decoded(secret) else raw
    return {raw, printed, json.dumps(secret)[1:-1].encode(), quote(printed, safe="").encode()}


def _is_decoded(secret: str) -> bool:
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in secret)


_Named = tuple[int, int, int, str]
"""Start, end, rank and rule name of what is to be cut."""


def _exact_spans(data: bytes, forms: Sequence[bytes]) -> list[_Named]:
    return [
        (at, at + len(form), -1, _ENVIRONMENT) for form in forms for at in _positions(data, form)
    ]


def _positions(data: bytes, literal: bytes) -> Iterable[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal))


def _rule_spans(data: bytes) -> list[_Named]:
    folded = data.lower()
    vocabulary = _vocabulary(folded)
    spans: list[_Named] = []
    for rank, rule in enumerate(RULES):
        keywords = [keyword for keyword in rule.keywords if _trace(keyword) in vocabulary]
        searched = folded if rule.folded else data
        spans += [
            (start, end, rank, rule.name)
            for start, end in _spans_of(rule, keywords, data, searched)
            if not _is_cut_already(data, start, end)
        ]
    return spans


_LEFT_OUT: Final = b"0123456789\0"
"""Of words: digits, since output repeats itself but for numbers, and NUL, since it fills files."""


def _vocabulary(folded: bytes) -> bytes:
    """Return each word of the text once, without what is left out of words.

    A keyword that left no trace here is not in the text, which spares most searches of all of it.
    """
    return b"\n".join(set(folded.translate(None, _LEFT_OUT).split()))


@cache
def _trace(keyword: bytes) -> bytes:
    """Return what *keyword* leaves in the vocabulary: its first word as it stands there."""
    return keyword.lower().translate(None, _LEFT_OUT).split()[0]


def _is_cut_already(data: bytes, start: int, end: int) -> bool:
    """Return whether the span is (in) what stands where something was cut before."""
    marker = MARKER.match(data, max(data.rfind(b"[REDACTED:", max(0, start - 64), start + 10), 0))
    return marker is not None and marker.start() <= start and end <= marker.end()


def _spans_of(
    rule: Rule, keywords: Iterable[bytes], data: bytes, searched: bytes
) -> Iterable[Span]:
    for keyword in keywords:
        at = searched.find(keyword)
        while at >= 0:
            span = rule.locate(data, at) or (_broken(rule, data, at) if rule.wraps else None)
            after = at + len(keyword)
            if span is not None:
                start, end = span
                end = _continued(data, end) if rule.wraps else _whole_character(data, end)
                yield start, end
                after = max(after, end)
            at = searched.find(keyword, after)


_CONTINUATION: Final = lazily(
    rb"\r?\n[ \t|>]{0,16}(?P<word>[A-Za-z0-9_.+/=-]{2,})(?=[\s\"'`,;)}\]|]|\Z)"
)
_REST: Final = lazily(rb"[A-Za-z0-9_.+/=-]{0,512}")
_NARROWEST: Final = 40
_WIDEST: Final = 4096
_MOST_LINES: Final = 64


def _continued(data: bytes, end: int) -> int:
    """Return the end of a secret that a terminal broke at *end*, the end of a long line.

    The next line must begin with a word that is no longer than the broken line was wide and that
    mixes digits with letters, as the rest of a random token does.
    """
    for _ in range(_MOST_LINES):
        following = _CONTINUATION.match(data, end)
        if following is None:
            break
        start = max(data.rfind(b"\n", max(0, end - _WIDEST), end) + 1, end - _WIDEST)
        if end - start < _NARROWEST:
            break
        word = following["word"]
        if following.end() - following.start("word") > end - start or not _is_random(word):
            break
        end = following.end()
    return _whole_character(data, end)


def _broken(rule: Rule, data: bytes, at: int) -> Span | None:
    """Return the span of a secret of which too little stands before the break to be known by."""
    before = max(0, at - 1)
    end = _REST.match(data, at).end()  # type: ignore[union-attr]  # it matches the empty word
    whole = _continued(data, end)
    if whole == end:
        return None
    joined = re.sub(rb"\r?\n[ \t|>]*", b"", data[before:whole])
    span = rule.locate(joined, at - before)
    return (at, whole) if span is not None and span[1] == len(joined) else None


def _is_random(word: bytes) -> bool:
    kinds = [re.search(kind, word) is not None for kind in (rb"[0-9]", rb"[a-z]", rb"[A-Z]")]
    return all(kinds) if re.search(rb"[._/]", word) else kinds[0] and (kinds[1] or kinds[2])


def _whole_character(data: bytes, end: int) -> int:
    """Return *end* moved behind the UTF-8 continuation bytes of the character it stands in."""
    while end < len(data) and 0x80 <= data[end] <= 0xBF:
        end += 1
    return end


def _merged(spans: Iterable[_Named]) -> list[_Named]:
    """Return *spans* in order, overlapping ones joined under the name that ranks first."""
    merged: list[_Named] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            start, end, rank, name = merged[-1]
            best = min((rank, name), span[2:])
            merged[-1] = (start, max(end, span[1]), *best)
        else:
            merged.append(span)
    return merged


def _cut(data: bytes, spans: Sequence[_Named]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for start, end, _, name in spans:
        pieces += [data[at:start], f"[REDACTED:{name}]".encode()]
        at = end
    return b"".join([*pieces, data[at:]])
