"""Secrets in command lines that are printed: judged as the arguments of a command are."""

import re
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_arguments import COMMANDS, secret_arguments
from memprove.ledger.domain.redaction_rule import Rule, Span, followed_by, pattern
from memprove.ledger.domain.redaction_values import is_opaque, is_placeholder

_LINE: Final = lazily(rb"[^\n\r|;&]{1,400}")
_TELLING: Final = lazily(
    rb"[ '\",](?:-|pass|setapikey|add_user|authenticate|change_|alias|obscure|login|wpa_)"
)
_ARGUMENT: Final = rb"'([^'\n]*)'|\"([^\"\n]*)\"|([^\s'\",\[\]()<>]+)"
_MOST_ARGUMENTS: Final = 24


def _locate_argument(text: bytes, at: int) -> Span | None:
    """Return the first secret among the arguments of the command whose name begins at *at*."""
    line = _LINE.match(text, at)
    if line is None or text[at - 1 : at].isalnum() or not _TELLING.search(line[0]):
        return None
    found = [
        match
        for _, match in zip(range(_MOST_ARGUMENTS), re.finditer(_ARGUMENT, line[0]), strict=False)
    ]
    words = [match[match.lastindex or 0] for match in found]
    for index, start in secret_arguments([word.decode("latin-1") for word in words]):
        secret = words[index][start:]
        if len(secret) >= 3 and not is_placeholder(secret):
            first = at + found[index].start(found[index].lastindex or 0) + start
            return first, first + len(secret)
    return None


_PIPED: Final = lazily(
    rb"(?:echo|printf)(?:[ \t]+(?:-[neE]{1,3}|['\"]?%s(?:\\n)?['\"]?)){0,3}[ \t]+(?P<q>['\"]?)"
    rb"(?P<secret>[^\s'\"|][^'\"|\n]{2,256}?)"
    rb"(?:\\n)?(?P=q)[ \t]*\Z"
)


def _locate_piped(text: bytes, at: int) -> Span | None:
    """Return what ``echo`` hands to the command behind the pipe at *at*."""
    before = max(0, at - 400)
    match = _PIPED.search(text, before, at)
    if match is None or is_placeholder(match["secret"]) or match["secret"][:1] == b"$":
        return None
    start, end = match.span("secret")
    name, colon, password = match["secret"].partition(b":")
    if colon and password and b"chpasswd" in text[at : at + 64]:
        return start + len(name) + 1, end
    return start, end


_TAKING_INPUT: Final = (
    rb"[ \t]*(?:sudo[ \t]+-[a-z]*S|(?:sudo[ \t]+)?(?:chpasswd|passwd[ \t]+--stdin)"
    rb"|[^|\n]{1,200}(?:--password-stdin|--passphrase-fd[ =]0|--with-token|--token-stdin))"
)

_READS: Final = lazily(rb"\|" + _TAKING_INPUT)
_PROSE: Final = frozenset({"login", "http", "https"})
"""Commands whose names are words of ordinary text: of these, patterns know how they are called."""

COMMAND_LINES: Final = (
    Rule(
        "command-password",
        tuple(f"{name}{end}".encode() for name in sorted(COMMANDS - _PROSE) for end in " '"),
        _locate_argument,
        at_start=True,
    ),
    Rule(
        "command-password",
        (b"|",),
        lambda text, at: _locate_piped(text, at) if _READS.match(text, at) else None,
        gate=followed_by(_TAKING_INPUT),
    ),
    Rule(
        "command-password",
        (b"htpasswd ",),
        pattern(
            rb"htpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*[ \t]+(?:-\S+[ \t]+)*\S+[ \t]+\S+[ \t]+"
            rb"['\"]?(?P<secret>[^\s'\"|;&]{3,})",
            lambda word: not is_placeholder(word),
        ),
    ),
    Rule(
        "command-password",
        (b"net use ", b"net user "),
        pattern(
            rb"(?i:net use[^\n]{0,200}?/user:\S+|net user[ \t]+[^\s/]{1,64})[ \t]+"
            rb"['\"]?(?P<secret>[^\s'\"/*][^\s'\"]{2,})",
            lambda word: not is_placeholder(word),
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"/p:",),
        pattern(rb"(?<=[ '\"])/p:['\"]?(?P<secret>[^\s'\"]{4,})", is_opaque),
        gate=followed_by(rb"(?<=[ '\"]/p:)[^\s]{4}"),
    ),
)
