r"""How stored text is shown so that it cannot forge structure, on every face alike.

Whatever a Ledger shows was written by somebody: agents, file names, branches, program output. Shown
raw it could end a line, close a quote, clear the screen, reverse the reading order or hide words in
code points that draw nothing. So stored text is shown in one of four forms:

==============  ==========================  ====================================================
form            for                         plain in it
==============  ==========================  ====================================================
``escape``      text in a field of its own  every visible code point of Unicode
``quoted``      text inside a line: “…”     the same, without double quotes of any kind
``code``        paths, commands: `…`        printable ASCII without the backtick
``name``        agents and roles            letters, digits and ``._/@+-``; else as ``code``
==============  ==========================  ====================================================

Everything else is an escape: ``\n`` ``\r`` ``\t``, ``\xHH`` below U+0100, ``\uHHHH`` and
``\UHHHHHHHH``.

**The backslash.** A backslash is doubled only where it would read as one of these escapes or as
the escape of what follows: before ``n r t x u U``, a quote, a backtick, another backslash, an
escaped code point, and at the end. So ``\d+\s*`` and ``C:\src`` stay as they are, a literal
backslash-n becomes ``\\n``, and the form is reversible: two different texts are never shown alike
(a cut one shows a prefix). The price is that escaping twice is not escaping once: escape at the
last moment only.

**Invisible code points.** Escaped are the categories Cc, Cf, Zl, Zp, Cs, Co, Cn, the blank letters
U+115F U+1160 U+3164 U+FFA0, and what else Unicode lets a font draw as nothing: U+034F, U+17B4,
U+17B5, the Mongolian and the variation selectors. ZWJ (U+200D) and the selectors U+FE0E and U+FE0F
stay where they belong to an emoji (after UTS #51): ``base modifier? selector?``, such units joined
by single ZWJs, and keycaps (``[0-9#*] U+FE0F U+20E3``); a base lies in the blocks of ``_BASE``.
Which code points are assigned is what the running Python's Unicode says.

Not escaped: combining marks (a flood of them may smear over its neighbours, but it takes no column
and starts no line, and cutting real scripts would be worse) and letters written from right to left
(a terminal may lay out their line from the right; the code points that force an order are escaped).
"""

import re
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

NAME_LIMIT: Final = 64
"""The most UTF-16 units of a shown agent name or role."""

COMMAND_LIMIT: Final = 160
"""The most UTF-16 units of a shown command, unless the caller says otherwise."""

_ELLIPSIS: Final = "…"
_OPEN, _CLOSE = "“", "”"

# The double quotes and what looks like a closing one: inside “…” they are escaped.
_QUOTES: Final = '"“”‟″‶ʺ〝〞＂❝❞\U0001f676\U0001f677'

_BASE: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_UNIT: Final = f"{_BASE}[\U0001f3fb-\U0001f3ff]?[\ufe0e\ufe0f]?"
_EMOJI: Final = (
    "[\U0001f1e6-\U0001f1ff]{2}"
    f"|{_UNIT}(?:\u200d{_UNIT})*"
    "|[0-9#*]\ufe0f\u20e3"
)  # fmt: skip
_PIECE: Final = re.compile(rf"(?P<emoji>{_EMOJI})|\\|[^\x20-\x7e]|[\"`]")
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_READS_AS_ESCAPE: Final = frozenset("\\nrtxuU`" + _QUOTES)
_PLAIN: Final = re.compile(r"[ -_a-~]*")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@+-]*")
_WORD_PIECE: Final = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)|.")


def escape(text: str) -> str:
    """Return *text* on one line, with all that is invisible or steers a terminal escaped."""
    return "".join(_pieces(text, ""))


def quoted(text: str, *, limit: int | None = None) -> str:
    """Return *text* between “ and ”, the only ones of their kind in the result.

    With *limit* the result, quotes included, has at most that many UTF-16 units (3 or more): it is
    cut with ``…`` before the closing quote, never inside an escape, a surrogate pair or an emoji.
    """
    return _enclosed(_OPEN, text, _CLOSE, _QUOTES, limit)


def code(text: str, *, limit: int | None = None) -> str:
    """Return *text* as printable ASCII between backticks; *limit* is that of ``quoted``."""
    return _enclosed("`", text, "`", None, limit)


def command(argv: Sequence[str], *, limit: int = COMMAND_LIMIT) -> str:
    r"""Return *argv* as a shell would read it, in printable ASCII between backticks.

    A word that needs more than printable ASCII is written ``$'…'`` (bash, zsh, POSIX 2024), bytes
    that are not UTF-8 (lone surrogates of ``os.fsdecode``) as ``\xHH``: uncut, it can be pasted.
    """
    if sum(map(len, argv)) < limit and _PLAIN.fullmatch("".join(argv)):
        plain = f"`{shlex.join(argv)}`"  # as most commands are
        if len(plain) <= limit:
            return plain
    return _bounded("`", _word_pieces(argv, limit), "`", limit)


def name(text: str) -> str:
    """Return an agent name or role: plain if it cannot be mistaken, else as ``code``."""
    if len(text) <= NAME_LIMIT and _PLAIN_NAME.fullmatch(text):
        return text
    return code(text, limit=NAME_LIMIT)


def utf16_len(text: str) -> int:
    """Return the number of UTF-16 code units of *text*."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_len(text: str) -> int:
    """Return the number of UTF-8 bytes of *text*: at least as many as UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _enclosed(start: str, text: str, end: str, also: str | None, limit: int | None) -> str:
    if _PIECE.search(text) is None and (limit is None or len(text) + 2 <= limit):
        return start + text + end  # as most texts are
    if limit is None:
        return start + "".join(_pieces(text, also)) + end
    # Every code point gives at least one unit: what lies behind *limit* of them cannot fit.
    return _bounded(start, _pieces(text[: limit + 1], also), end, limit)


def _bounded(start: str, pieces: Iterator[str], end: str, limit: int) -> str:
    """Join whole *pieces* of at most *limit* units in all, then ``…`` if any is left out."""
    room = limit - utf16_len(start) - utf16_len(end)
    if room < 1:
        raise ValueError(f"no text fits into {limit} units")
    kept: list[str] = []
    fits, used = 0, 0  # fits: how many pieces leave room for the ellipsis
    for piece in pieces:
        used += utf16_len(piece)
        if used > room:
            return start + "".join(kept[:fits]) + _ELLIPSIS + end
        kept.append(piece)
        if used < room:
            fits = len(kept)
    return start + "".join(kept) + end


def _pieces(text: str, also: str | None) -> Iterator[str]:
    """Yield *text* escaped, in pieces that are not to be cut; *also* None: as printable ASCII."""
    end = 0
    for match in _PIECE.finditer(text):
        yield from text[end : match.start()]
        end = match.end()
        if match["emoji"] and also is not None and _is_emoji(match[0], also):
            yield match[0]
            continue
        for index, char in enumerate(match[0], match.start()):
            yield _shown(char, text[index + 1 : index + 2], also)
    yield from text[end:]


def _is_emoji(sequence: str, also: str) -> bool:
    """Return whether all but the joiners of *sequence* may be shown."""
    return not any(_is_hidden(char, also) for char in sequence if char not in _JOINERS)


def _shown(char: str, following: str, also: str | None) -> str:
    if char == "\\":
        doubled = not following or following in _READS_AS_ESCAPE or _is_hidden(following, also)
        return "\\\\" if doubled else "\\"
    return _escaped(char) if _is_hidden(char, also) else char


def is_hidden(char: str) -> bool:
    """Tell whether *char* steers a terminal or cannot be seen, so that it is always escaped."""
    return _is_hidden(char, "")


def _is_hidden(char: str, also: str | None) -> bool:
    if "\x20" <= char <= "\x7e":
        return char == "`" if also is None else char in also
    return (
        also is None
        or char in also
        or char == "\u200d"
        or _UNSEEN.match(char) is not None
        or unicodedata.category(char) in _HIDDEN_CATEGORIES
    )


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char == '"':
        return r"\""
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _word_pieces(argv: Sequence[str], limit: int) -> Iterator[str]:
    for number, word in enumerate(argv):
        if number:
            yield " "
        yield from _WORD_PIECE.findall(_shell_word(word[: limit + 1]))


def _shell_word(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return shlex.quote(word)
    return "$'" + "".join(map(_shell_char, word)) + "'"


def _shell_char(char: str) -> str:
    if char in "\\'":
        return "\\" + char
    if "\x20" <= char <= "\x7e" and char != "`":
        return char
    if "\udc80" <= char <= "\udcff":  # a byte that os.fsdecode could not read (PEP 383)
        return f"\\x{ord(char) - 0xDC00:02x}"
    point = ord(char)
    if 0x80 <= point < 0x100:  # \xHH is a byte here, not a code point
        return f"\\u{point:04x}"
    return _escaped(char)
