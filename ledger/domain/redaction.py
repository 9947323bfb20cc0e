"""Cut secrets out of everything that is stored, before it is hashed or written.

What is cut reads ``[REDACTED:rule]``; redacting twice changes nothing. No hash of the secret is
kept: a short one could be guessed from it. Rules work on bytes, so output is never decoded.

Not found, by design: a secret without a known shape, a telling name or an entry in the environment;
secrets in UTF-16 or compressed output; a wrapped secret whose continuation does not read like one
(``_continued``); what is split over two calls (give whole lines, or the whole stream).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from memprove.ledger.domain.redaction_arguments import secret_arguments
from memprove.ledger.domain.redaction_beginnings import beginnings
from memprove.ledger.domain.redaction_density import COST, CREDIT, dense_regions, outside
from memprove.ledger.domain.redaction_environment import environment_secrets
from memprove.ledger.domain.redaction_rule import Rule, Span
from memprove.ledger.domain.redaction_rules import RULES
from memprove.ledger.domain.redaction_values import MARKER
from memprove.ledger.domain.redaction_vocabulary import Vocabulary
from memprove.ledger.domain.redaction_wrapped import broken, continued

__all__ = ["Redactor", "environment_secrets"]

_PASSES: Final = 4
_REACH: Final = 8192
"""How far from what it cuts a rule looks; only a private key is longer."""
_SHORT: Final = 1024
_ENVIRONMENT: Final = "environment"
_ARGUMENT: Final = "argument"
_TOO_DENSE: Final = "too-dense"


class Redactor:
    """Cuts secrets by the rule table and by exact values."""

    def __init__(self, secrets: Iterable[str] = (), rules: Sequence[Rule] = RULES) -> None:
        self._rules = rules
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._exact = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """Return *text*, which may hold lone surrogates, without its secrets."""
        raw = text.encode("utf-8", "surrogatepass")
        clean = self.data(raw)
        return text if clean == raw else clean.decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return *data*, in ASCII or an encoding that extends it, without its secrets."""
        windows = [(0, len(data))]
        for _ in range(_PASSES):
            exact = _exact_spans(data, windows, self._exact)
            spans = _merged(exact + _rule_spans(data, windows, self._rules))
            if not spans:
                break
            data, cuts = _cut(data, spans)
            windows = _around(cuts, len(data))
        return data

    def argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Return the arguments without secrets, also those whose name is the argument before."""
        words = list(argv)
        for index, start in secret_arguments(words):
            words[index] = words[index][:start] + f"[REDACTED:{_ARGUMENT}]"
        return tuple(self.text(word) for word in words)


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


def _exact_spans(data: bytes, windows: Sequence[Span], forms: Sequence[bytes]) -> list[_Named]:
    marked = b"[REDACTED:" in data
    return [
        (at, at + len(form), -1, _ENVIRONMENT)
        for form in forms
        for window in windows
        for at in _positions(data, form, window)
        if not (marked and _is_cut_already(data, at, at + len(form)))
    ]


def _positions(data: bytes, literal: bytes, window: Span) -> Iterable[int]:
    at = data.find(literal, *window)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal), window[1])


def _rule_spans(data: bytes, windows: Sequence[Span], rules: Sequence[Rule]) -> list[_Named]:
    """Return what *rules* cut around the keywords inside the *windows* of *data*."""
    folded = data.lower()
    seen: dict[tuple[bytes, bool], Sequence[int]] = {}
    found = [
        (rank, rule, _places(rule, keyword, folded if rule.folded else data, windows, seen))
        for rank, rule, keyword in _worth_a_search(folded, windows, rules)
    ]
    dense = _dense(data, [places for _, _, places in found])
    spans = [(start, end, len(rules), _TOO_DENSE) for start, end in dense]
    for rank, rule, places in found:
        spans += [
            (start, end, rank, rule.name)
            for start, end in _judged(rule, data, outside(places, dense))
            if not _is_cut_already(data, start, end)
        ]
    return spans


def _worth_a_search(
    folded: bytes, windows: Sequence[Span], rules: Sequence[Rule]
) -> Iterable[tuple[int, Rule, bytes]]:
    """Return the keywords that a text, *folded* to lower case, may hold, with their rules."""
    if len(folded) <= _SHORT:
        return beginnings(tuple(rules)).found_in(folded)
    words = Vocabulary(folded, windows)
    return (
        (rank, rule, keyword)
        for rank, rule in enumerate(rules)
        for keyword in rule.keywords
        if words.may_hold(keyword, at_start=rule.at_start)
    )


def _places(
    rule: Rule,
    keyword: bytes,
    text: bytes,
    windows: Sequence[Span],
    seen: dict[tuple[bytes, bool], Sequence[int]],
) -> Sequence[int]:
    """Return where *keyword* must be judged; rules without a gate share what was found."""
    if rule.gate is not None:
        return rule.places(keyword, text, windows)
    asked = keyword, rule.folded
    if asked not in seen:
        seen[asked] = rule.places(keyword, text, windows)
    return seen[asked]


def _dense(data: bytes, found: Sequence[Sequence[int]]) -> list[Span]:
    """Return where *data* has too many of the places *found* to look at each."""
    if COST * sum(map(len, found)) <= CREDIT:
        return []
    regions = dense_regions(sorted(at for places in found for at in places))
    return [(_marker(data, start)[0], _marker(data, end)[1]) for start, end in regions]


def _is_cut_already(data: bytes, start: int, end: int) -> bool:
    """Return whether the span is (in) what stands where something was cut before."""
    return end <= _marker(data, start)[1]


def _marker(data: bytes, at: int) -> Span:
    """Return the span of what stands for a cut secret around *at*, else nothing, at *at*."""
    first = data.rfind(b"[REDACTED:", max(0, at - 64), at + 10)
    marker = MARKER.match(data, first) if first >= 0 else None
    return marker.span() if marker and marker.start() <= at < marker.end() else (at, at)


def _judged(rule: Rule, data: bytes, places: Iterable[int]) -> Iterable[Span]:
    """Yield what *rule* cuts at the *places* of a keyword, except at those inside what it cut."""
    after = 0
    for at in places:
        if at < after:
            continue
        span = rule.locate(data, at) or (broken(rule, data, at) if rule.wraps else None)
        if span is not None:
            start, end = span
            after = _whole_character(data, continued(data, end) if rule.wraps else end)
            yield start, after


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


def _cut(data: bytes, spans: Sequence[_Named]) -> tuple[bytes, list[Span]]:
    """Return *data* without the *spans*, and where in it stands what stands for them."""
    pieces: list[bytes] = []
    cuts: list[Span] = []
    at = length = 0
    for start, end, _, name in spans:
        marker = f"[REDACTED:{name}]".encode()
        pieces += [data[at:start], marker]
        length += start - at
        cuts.append((length, length := length + len(marker)))
        at = end
    return b"".join([*pieces, data[at:]]), cuts


def _around(cuts: Iterable[Span], length: int) -> list[Span]:
    """Return the windows, of a text of *length*, in which a cut may have changed what is found."""
    windows: list[Span] = []
    for start, end in cuts:
        first, last = max(0, start - _REACH), min(length, end + _REACH)
        if windows and first <= windows[-1][1]:
            first = windows.pop()[0]
        windows.append((first, last))
    return windows
