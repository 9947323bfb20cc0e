"""Whether a word that stands where a secret would is one: placeholders, code and prose are not.

All functions take the bytes between the quotes, or the unquoted word, and judge by shape alone.
"""

import re
from typing import Final

from memprove.ledger.domain.lazy import lazily

MARKER: Final = lazily(rb"\[REDACTED:[a-z0-9-]{1,40}\]")
"""What stands where a secret was cut."""


_PLACEHOLDER: Final = lazily(
    rb"""(?ix)
    \[REDACTED:[a-z0-9-]{1,40}\] | \[[\w -]*\]     # cut before, by us or others
    | (?:[*x.\#_?-]|\xe2\x80[\xa2\xa6]|\xe2\x97\x8f|\xc2\xb7)+ # masked
    | <[^<>]*>? | \{+[\w .:()\[\]'"@!-]*\}* | \$\(.* | \$+[a-z_][\w:.]*  # templates
    | \#\{.* | %[\w@]+ | %\w+% | @\w+@ | \+\w+\+ | __\w+__ | !\w+.*
    | \W{0,3}
    | (?:your|change|insert|enter|replace|placeholder|dummy|fake|todo|fixme)(?:[-_ ]?\w.*)?
    | (?:put|add|paste|use|type|set)[-_ ].*
    | (?:my|the|an?|some|test|example|sample|new|old|user|db|app|api|invalid|valid|bad|wrong|good
        |expected|actual|correct|incorrect|current|default|super|top|access|auth|client|root|admin
        |refresh|bearer|plain|raw|random|secure|strong|weak)?[-_ ]?
      (?:example|sample|test|tests|secret|password|passwd|pass|passphrase|pwd|token|credentials?
        |(?:api|access|secret|private|auth)?[-_ ]?key|value|string|pw)s?(?:[-_ ]?(?:here|value|\d))?
    """,
    re.DOTALL,
)

# Anywhere in a value: an ellipsis, a template, a format.
_LONGEST_PHRASE: Final = 96
_GAP: Final = lazily(
    rb"\*{3}|\.{3}|\xe2\x80\xa6|\$\{[\w.:?|-]+\}?|\$\{\{|\{[a-z_][a-z_.]*\}|%(?:\(\w+\))?[srv]"
)
_EXPRESSION: Final = lazily(rb"\(\?[:i=!<]|\[\^|\\[wdsWDSbn](?![A-Za-z0-9])")  # regular

# Words that stand beside "password:" and "token is" in schemas, messages, forms and code.
_WORDS: Final = frozenset(
    b"""none null nil true false undefined nan empty unset required optional missing invalid valid
    expired revoked rejected accepted denied allowed enabled disabled incorrect correct wrong weak
    strong short long changed updated reset set unknown unavailable available redacted hidden masked
    filtered removed deleted stored hashed encrypted encoded protected generated created issued
    found present absent known ignored skipped passed failed error errors warning success ok yes no
    on off any all auto never always default standard basic bearer simple string str int integer
    bytes byte bool boolean object array list dict map number float char varchar text type types
    unicode literal field fields input output label name names username email user users login
    include inherit omit same-origin write read readonly read-only admin root localhost internal
    external public private shared global local static self this that it a an the to not is was be
    been being should must can cannot could will would may might for from of in at by with as and
    or but if then when where which what who how why has have had do does done now only also still
    yet too very just more less than new old same different first last next here there file path
    kubernetes opaque generic custom basic-auth provided supplied needed used using given expected
    actual got received sent nothing something anything ssl tls https http ssh oauth oauth2 jwt
    sensitive secure insecure plain plaintext raw random unique confidential classified safe ready
    option options flag flags argument arguments parameter parameters prompt
    authentication authorization verification validation configuration environment variable manager
    salah wajib benar kosong harus tidak belum sudah diubah baru lama anda saya""".split()
)
_PROSE: Final = lazily(
    rb"(?i)(?:^|[^\w])(?:is|are|was|must|should|cannot|can|not|no|the|a|an|to|of|for|in|your|you|and|or"
    rb"|field|required|invalid|missing|please|enter|expected|with|has|have|be|from|does|do|this|that"
    rb"|at|least|characters|new|confirm|forgot|reset|change|forgotten|lupa|baru|anda)(?:[^\w]|$)"
)
_CODE: Final = lazily(
    rb"""(?x)
    [&*!~@-]?[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][\w$]*)*(?:\(.*|\[.*|\{.*|!\(.*)
    | [&*]?(?:self|this|cls|args?|kwargs|opts?|options?|config|cfg|conf|settings|request|req|res
        |resp|response|os|process|env|params?|ctx|context|data|user|props|state|event|e|std|c|s|r|m|p|t
        |node|item|obj|result|app|client|session|secrets|vars?|local|module|inputs?|steps|github|each
        )(?:\.|::|->|\?\.).*
    | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,8}\??
    | \w+(?:::|->)[\w:<>]*.*
    | q[qrwx]?[/{(|!\[].*
    | (?:lambda|await|new|not|if|else|f|b|r|async|func|function|return)\b.*
    """
)
# A part of a dotted token: no name is as long and has digits in two places.
_RANDOM_NAME: Final = lazily(rb"(?:^|\.)(?=[A-Za-z0-9_-]{20})[A-Za-z]+[0-9]+[A-Za-z]+[0-9]")
_DIGEST: Final = lazily(rb"(?i)(?:sha|md)-?\d{1,3}[-:=].*|\$?blake\w*[:=].*")
_ALGORITHM: Final = lazily(
    rb"(?i)(?:(?:scram-)?sha|md|base|utf|aes|aws|rsa|argon|bcrypt|pbkdf|scrypt|hs|rs|es|ps|ed|x|v|oauth|http|h|tls"
    rb"|ssl|ecdsa|hmac|cl100k|gpt|o|p|line|step|test|case|python|py|version|type|level)"
    rb"-?_?\d{1,5}(?:$|[-_.:,/].{0,30})"
)
_REFERENCE: Final = lazily(
    rb"(?is)[a-z_]+(?::[\w,.]+)?(?:\|[a-z_]+(?::[\w,.]+)?)+"
    rb"|[a-z][a-z0-9+.-]{1,30}://.*|arn:.*|(?:env|file|vault|secret|ref|op|ssm|aws|gcp|var)[:.].*"
    rb"|-----.*|projects/.*|ssh-(?:rsa|ed25519)\b.*|ecdsa-.*|data:.*"
)
_PATH: Final = lazily(
    rb"(?i)(?:~|\.{1,2})?/[\w.@%~ -]*(?:/[\w.@%~ :-]*)*|[A-Z]:\\.*"
    rb"|(?:[\w.-]+/)+[\w.-]+\.\w{1,5}(?:::?.*)?"
    rb"|[\w-]+(?:\.[\w-]+)*\.(?:pyi?|[jt]sx?|json|ya?ml|toml|txt|go|rs|rb|md|pem|key|crt|env|ini|cfg"
    rb"|html?|css|xml|log|lock|sh|sql|java|kt|php|c|h|cc|cpp|hpp|proto|csv|gz|zip|db|pub)(?::\d.*)?"
)
_NUMBER: Final = lazily(
    rb"\#[0-9a-fA-F]{3,8}|[-+]?[0-9][0-9_,]*(?:\.[0-9]+)*(?:[eE][-+]?[0-9]+)?(?:ms|us|ns|s|m|h|d|k|kb|mb|gb|px|em|%)?|0x(?:[0-9a-fA-F]{1,32}|[0-9a-fA-F]{40})"
    rb"|v?[0-9]+(?:\.[0-9]+){1,3}(?:[-+.][\w.]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}:[0-9]{2}.*"
    rb"|[A-Za-z][\w.-]*:[0-9]{2,5}"
)
_SECRET_STEM: Final = lazily(rb"(?i)pass|pwd|token|secret|cred|key|auth|^pw")
_IDENTIFIER: Final = lazily(rb"[A-Za-z_$][\w$]*")


def is_placeholder(value: bytes) -> bool:
    """Return whether *value* only stands for a secret: a mask, a template, a word, a type."""
    if len(value) > 256:
        return False
    return (
        value.lower() in _WORDS
        or _GAP.search(value) is not None
        or (len(value) <= _LONGEST_PHRASE and _PLACEHOLDER.fullmatch(value) is not None)
    )


def is_opaque(value: bytes) -> bool:
    """Return whether *value* reads like nothing but a secret: mixed characters and no code."""
    return len(value) >= 5 and _mixture(value) and not is_harmless(value)


def is_harmless(value: bytes) -> bool:
    """Return whether *value* is a placeholder, code, a path, a number, a digest or a reference."""
    if (
        value[:1] in b" ,);]>|"
        or is_placeholder(value)
        or _DIGEST.fullmatch(value)
        or _NUMBER.fullmatch(value)
    ):
        return True
    if len(value) > 512:
        return False
    if _is_one_word(value):  # neither code nor a path: the rest of the questions takes long
        return _ALGORITHM.fullmatch(value) is not None
    if (
        _REFERENCE.fullmatch(value)
        or (_CODE.fullmatch(value) and not _RANDOM_NAME.search(value))
        or _EXPRESSION.search(value)
        or _ALGORITHM.fullmatch(value)
    ):
        return True
    return _PATH.fullmatch(value) is not None and not _has_random_part(value)


def _is_one_word(value: bytes) -> bool:
    """Return whether *value* is letters and digits alone, and more than a keyword of a language."""
    return len(value) > 16 and value.isalnum()


def is_prose(value: bytes) -> bool:
    """Return whether *value* is a sentence or a label rather than a passphrase."""
    return b" " in value and (
        _PROSE.search(value[:512]) is not None or _SECRET_STEM.search(value[:512]) is not None
    )


def is_named_after_secret(value: bytes) -> bool:
    """Return whether *value* is an identifier such as ``auth_token2``: a variable, not a value."""
    if re.match(rb"[A-Z]\w*[0-9][A-Za-z]", value) and not re.search(rb"(?i)key|token|cred", value):
        return False  # N3wPass
    if re.search(rb"[0-9][A-Za-z]+[0-9]", value):
        return False  # r4dius9key
    return _IDENTIFIER.fullmatch(value) is not None and _SECRET_STEM.search(value) is not None


def is_label(value: bytes) -> bool:
    """Return whether *value* is what a form calls a field, in any script: Пароль, 密码."""
    if value.isascii():
        return value.istitle() and is_word(value)
    text = value.decode("utf-8", "replace")
    return all(part.isalpha() for part in text.split())


def is_word(value: bytes) -> bool:
    """Return whether *value* is letters (with hyphens or underscores), short enough for words."""
    return len(value) < 24 and re.fullmatch(rb"[A-Za-z]+(?:[-_ ][A-Za-z]+)*", value) is not None


def _mixture(value: bytes) -> bool:
    has = [
        re.search(kind, value) is not None
        for kind in (rb"[0-9]", rb"[A-Za-z\x80-\xff]", rb"[!@#$%^&*+]")
    ]
    digit, letter, symbol = has
    long_letters = value.isalpha() and len(value) >= 20 and _is_mixed_case(value)
    return (digit and letter) or (symbol and letter) or (digit and symbol) or long_letters


def _is_mixed_case(value: bytes) -> bool:
    """Return whether more than a third are capitals: more than in CamelCase words."""
    return 3 * len(re.findall(rb"[A-Z]", value)) > len(value)


def _has_random_part(value: bytes) -> bool:
    return any(
        len(part) >= 12 and all(re.search(kind, part) for kind in (rb"[0-9]", rb"[a-z]", rb"[A-Z]"))
        for part in re.split(rb"[/\\. ]", value)
    )
