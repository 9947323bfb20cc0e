r"""Secrets by their name: ``DB_PASS=…``, ``"token": "…"``, ``--password …``, ``the password is …``.

The name is matched from its last telling part on (``passw``, ``token``, ``key`` …), what stands
before it is looked at backwards, and one of the forms below must follow. How sure the form is
decides what the value must look like: behind ``DB_PASSWORD=`` at the start of a line any word is a
secret, behind ``token:`` only one that is neither a word, a type, code, a number nor a placeholder.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, assert_never

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_forms import (
    ASSIGNED,
    BESIDE,
    CALLED,
    ELEMENT,
    ENCODED,
    FILLED,
    FLAG,
    LISTED,
    NAMED_ELEMENT,
    PAIR,
    SENTENCE,
    TYPED,
    Form,
)
from memprove.ledger.domain.redaction_values import (
    is_harmless,
    is_label,
    is_named_after_secret,
    is_opaque,
    is_placeholder,
    is_prose,
    is_word,
)


class _Strength(Enum):
    """How telling a name is by itself."""

    PASSWORD = auto()
    KEY = auto()
    WEAK = auto()


# What a name may end in behind its telling part.
_ENDING: Final = rb"""
    (?: [_.-]? (?: value|string|text|data|base|input|field
                 |v?[0-9]{1,3}|prod(?:uction)?|dev|test|staging|stage|live|local
                 |base64|b64|raw|plain(?:text)?|primary|secondary|confirm(?:ation)?|repeat|again )
      | -?(?:nya|mu|ku)
    )? (?![.-]{0,8}[A-Za-z0-9_])"""
_NAME: Final = lazily(
    rb"""(?ix)
    (?: (?P<password> passw(?:or)?d | passwort | passphrase | passcode | sandi )
      | (?P<key> secret | token | credentials? | key | psk | mot[ ]de[ ]passe | kennwort | senha
        | wachtwoord | contrasena | parola(?:[ ]d'ordine)? | heslo
        | salasana | adgangskode | passord )
      | (?P<weak> pwd | pw | _?pass | _auth )
    )
    """
    + _ENDING
)
_QUALIFIERS: Final = rb"""
    api access secret private priv account encrypt encryption sign signature signing master auth
    service storage shared deploy app application client subscription admin session ssh aes hmac jwt
    webhook crypt consumer function license licence root server fernet cookie sas rest write pragma
    network link tls ssl""".split()
_QUALIFIED_KEY: Final = lazily(rb"(?i)(?:" + b"|".join(_QUALIFIERS) + rb")[_. -]?$")
_HEADER_KEY: Final = lazily(rb"(?i)(?<![A-Za-z0-9-])x-[a-z-]{2,32}-$")
_ENVIRONMENT_KEY: Final = lazily(rb"[A-Z][A-Z0-9_]*_$")
_OTHER_NAME: Final = lazily(
    rb"(?i)(?:(?<![A-Za-z])|(?-i:(?<=[a-z0-9])(?=[A-Z])))(?:max|min|num|count|next|page|pad|eos|bos|unk"
    rb"|sep|cls|mask|stop|per|prompt|completion|input|output|total|special|lex|parse[rd]?|current|last"
    rb"|first|prev(?:ious)?|peek|continuation|public|public_?key|publishable|cache|primary|foreign|sort"
    rb"|partition|cancel(?:l?ation)?|has|is|no|show|hide|allow|requires?|use|with|without)[_.-]?$"
)
_ASKING_NAME: Final = lazily(  # get_password("name")
    rb"(?i)(?:get|find|fetch|read|load|has|is|check|verify|validate|hash|compare|reset|forgot|delete"
    rb"|remove|lookup|parse|expect|match|by|no|test|describe|it)[_-]?$"
)
_PATH_OF_NAMES: Final = lazily(rb"(?<!\$env)(?<=[A-Za-z0-9*}:]):\Z")  # arn:…:secret:…, AWS::Secret
_INSIDE_MARKER: Final = lazily(rb"\[REDACTED:[a-z0-9-]*\Z")
_ACCOUNT: Final = lazily(
    rb"(?i)(?:db|sql|redis|smtp|mail|imap|user|root|admin|ssh|sudo|become|ftp|pg|postgres|ldap|proxy|http"
    rb"|auth|login|store|cert|key|wifi|vpn|bind|service)$"
)
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_BEFORE_FLAG: Final = b" \t\r\n\v\f\"'`(["
_NEAR: Final = 16
"""What is looked at before a name: more than the longest qualifier, and little, for speed."""

_SHOUTED: Final = lazily(rb"[A-Z]+(?:[_=:.-][A-Z]+)*")  # the PASSWORD of a help text
_LONGEST_PLAIN: Final = 128
_REMAINDER: Final = lazily(rb"[^\s\"'`<>]*")
_SEPARATOR: Final = lazily(rb"[,;&]|\\[nr\"']")
_IN_QUERY: Final = lazily(rb"[?&;][A-Za-z0-9_.-]*\Z")
# NAME=value from the start of a line, the name in capitals: .env files, `env`, export.
_ENVIRONMENT_LINE: Final = lazily(rb"(?:export |ENV |ARG |set |[ \t]*-e )?[A-Z][A-Z0-9_]*=[\"']?\Z")
_TRAILING: Final = b".,;:!?)]}|\\"
_LINE_START: Final = lazily(
    rb"(?i)(?:^|\n)[ \t>+|-]{0,8}(?:export |set |setx |env |arg |declare -x |\$env:|-e "
    rb"|--env )?[A-Za-z0-9_.-]*\Z"
)


# Not: a value that is none, which is what many lines of data hold.
_EMPTY: Final = (
    rb"(?![=: \"'\\]{1,4}"
    rb"(?:\[redacted:[a-z0-9-]{1,40}\]|null|none|nil|true|false|(?<=[=: ])[\"']{2})"
    rb"(?:[\s\"'\\,;)}\]]|\Z))"
)
_FOLLOWED: Final = (
    rb"(?=(?x:"
    + _ENDING
    + rb")(?:[\s\"'`*\]\\=:?><,]|%|&|\([ \t]*[\"'`]|\)[ \t]*[.{]|\xef\xbc[\x9a\x9d])"
    + _EMPTY
    + rb")"
)
KEYWORDS: Final = {
    b"passw": rb"(?:(?:or)?d|ort)", b"passp": rb"hrase", b"passc": rb"ode", b"secret": b"",
    b"token": b"", b"credential": rb"s?", b"key": b"", b"pwd": b"", b"_pass": b"",
    b"psk": b"", b"kennwort": b"", b"senha": b"", b"wachtwoord": b"", b"contrasena": b"",
    b"parola": b"(?: d'ordine)?", b"heslo": b"", b"salasana": b"", b"adgangskode": b"",
    b"passord": b"", b"pass =": None, b"pw for": None, b"pw is": None, b"pass=": None,
    b"pass:": None, b'pass"': None, b"pass'": None, b"_auth": b"", b"sandi": b"",
    b"pw:": None, b"pw=": None, b'pw"': None, b"mot de passe": b"",
}  # fmt: skip
"""The literals that announce a name, and the rest of its telling part where that is not all."""


def gate(keyword: bytes) -> bytes:
    """Return what a name looks like that a value may follow, in lower case."""
    rest = KEYWORDS[keyword]
    if rest is None:
        return re.escape(keyword) + _EMPTY
    # Not: the name of a rule, in what stands where it cut something.
    named = rb"(?:(?<![:-]%s)|(?!%s(?:-value)?\]))" % (keyword, rest)
    return keyword + named + rest + _FOLLOWED + (_qualified_key() if keyword == b"key" else b"")


def _qualified_key() -> bytes:
    """Return what asks, behind a bare ``key``, for a word before it that makes it telling."""
    before = [
        rb"(?<=%s%skey)" % (word, between) for between in (b"", b"[_. -]") for word in _QUALIFIERS
    ]
    return rb"(?:%s|(?<=[a-z0-9_]_key)|(?<=-key))" % b"|".join(before)


def locate_assignment(text: bytes, at: int) -> tuple[int, int] | None:
    """Return the span of the value of the secret-like name whose telling part begins at *at*."""
    name = _NAME.match(text, at)
    if name is None:
        return None
    before = text[max(0, at - 64) : at]
    if _INSIDE_MARKER.search(before):
        return None
    strength = _strength(name, before)
    if strength is None:
        return None
    for form in _forms(before, strength):
        match = form.pattern.match(text, name.end())
        if match is not None:
            return _judged(text, match, form, strength, at)
    return None


def _strength(name: re.Match[bytes], before: bytes) -> _Strength | None:
    """Return how telling the whole name is, None if it names something else."""
    head = before[len(before.rstrip(_LETTERS + b".$")) :]
    if _OTHER_NAME.search(head[-_NEAR:]) or _PATH_OF_NAMES.search(
        before[: len(before) - len(head)]
    ):
        return None
    if name["password"]:
        return _Strength.PASSWORD
    if name["weak"]:
        return _strength_of_short(name["weak"], head)
    if name["key"].lower() != b"key" or _QUALIFIED_KEY.search(before[-_NEAR:]):
        return _Strength.KEY
    if _HEADER_KEY.search(head):
        return _Strength.KEY
    return _Strength.WEAK if _ENVIRONMENT_KEY.search(head) else None


def _strength_of_short(name: bytes, head: bytes) -> _Strength | None:
    """Return the strength of ``pwd``, ``pass`` and ``_auth``, which also end or are other words."""
    if name in (b"_PASS", b"_PWD") or (name.lower() == b"_pass" and _ACCOUNT.search(head)):
        return _Strength.PASSWORD
    if name == b"PASS" and not head:  # the verdict of a test
        return None
    starts_word = not head[-1:].isalpha() or name[:1].isupper() or name[:1] == b"_"
    return _Strength.WEAK if starts_word else None


def _forms(before: bytes, strength: _Strength) -> list[Form]:
    forms = [PAIR, TYPED, ENCODED, ASSIGNED, NAMED_ELEMENT]
    outside = before.rstrip(_LETTERS)
    if before[len(outside) :].startswith(b"-") and outside[-1:] in _BEFORE_FLAG:
        forms.append(FLAG)
    if not _ASKING_NAME.search(before[len(outside) :]):
        forms.append(CALLED)
    if before.rstrip(_LETTERS + b":.").endswith(b"<"):
        forms.append(ELEMENT)
    return [*forms, LISTED, FILLED, SENTENCE, BESIDE]


def _judged(
    text: bytes, match: re.Match[bytes], form: Form, strength: _Strength, at: int
) -> tuple[int, int] | None:
    if match["quoted"]:
        start, end = match.span("quoted")
        return (start, end) if _is_quoted_secret(text[start:end], form, strength) else None
    start, end = match.span("plain")
    before = text[max(0, at - 64) : at]
    whole = form.sure or (_LINE_START.search(before) is not None and b"?" not in before)
    end = _trimmed(text, start, end, whole=whole)
    place = _Place(before, text[end : end + 1], _line_until(text, start), form, strength)
    is_member = text[end - 1 : end + 1] == b"->"  # $this->token
    if (
        end == start
        or is_member
        or not _is_secret(text[start:end], place)
        or is_placeholder(match["plain"])
    ):
        return None
    longer = _REMAINDER.match(text, end) if end - start == _LONGEST_PLAIN else None
    return start, longer.end() if longer else end


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an unquoted value stands."""

    before_name: bytes
    after: bytes
    line: bytes
    form: Form
    strength: _Strength


def _trimmed(text: bytes, start: int, end: int, *, whole: bool) -> int:
    """Return the end of the unquoted word without the punctuation around it."""
    separator = None if whole else _SEPARATOR.search(text, start, end)
    end = separator.start() if separator else end
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return end


def _line_until(text: bytes, start: int) -> bytes:
    first = max(0, start - 200)
    return text[max(first, text.rfind(b"\n", first, start) + 1) : start]


def _is_quoted_secret(value: bytes, form: Form, strength: _Strength) -> bool:
    if len(value) < 3 or is_harmless(value) or is_prose(value):
        return False
    if strength is _Strength.PASSWORD and not form.needs_digit:
        return not is_named_after_secret(value) and not is_label(value)
    if form.sure and strength is not _Strength.WEAK:
        return not is_named_after_secret(value)
    if form.needs_digit and (strength is _Strength.WEAK or not _has_digit(value)):
        return False
    return b" " not in value and is_opaque(value) and not is_named_after_secret(value)


def _is_secret(value: bytes, place: _Place) -> bool:
    """Return whether the unquoted *value* is a secret; the cheap questions come first."""
    password = place.strength is _Strength.PASSWORD
    if place.form.sure:
        shouted = _SHOUTED.fullmatch(value) is not None
        return len(value) >= 3 and value[:1] != b"-" and not shouted and not is_harmless(value)
    if password and re.fullmatch(rb"[0-9]{4,12}", value):
        return not place.form.needs_digit
    if not place.form.prose and _ENVIRONMENT_LINE.match(place.line):
        return _is_environment_value(value, place.strength)
    if place.form.needs_digit and not _stands_alone(value, place.strength):
        return False
    if is_word(value):
        return password and len(value) >= 6 and _is_lone_word(value, place)
    if place.form.prose and value[:1] in b"*(~":
        return False
    return is_opaque(value) and not is_named_after_secret(value)


def _has_digit(value: bytes) -> bool:
    return re.search(rb"[0-9]", value) is not None


def _is_environment_value(value: bytes, strength: _Strength) -> bool:
    if len(value) < 4 or is_harmless(value):
        return False
    match strength:
        case _Strength.PASSWORD:
            return True
        case _Strength.KEY:
            return not is_word(value)
        case _Strength.WEAK:
            return is_opaque(value)
        case _:
            assert_never(strength)


def _stands_alone(value: bytes, strength: _Strength) -> bool:
    """Return whether *value* is a secret with nothing but a name beside it."""
    if strength is _Strength.PASSWORD:
        return _has_digit(value)
    long = re.fullmatch(rb"[A-Za-z0-9+/=_-]{20,}", value) is not None
    return strength is _Strength.KEY and long and _has_digit(value)


def _is_lone_word(value: bytes, place: _Place) -> bool:
    """Return whether a plain word is a password: alone on its YAML or INI line, or in a query."""
    if is_placeholder(value):
        return False
    if _IN_QUERY.search(place.before_name):
        return True
    alone = _LINE_START.search(place.before_name) is not None and place.after in (b"", b"\n", b"\r")
    return alone and value.islower() and not is_named_after_secret(value)
