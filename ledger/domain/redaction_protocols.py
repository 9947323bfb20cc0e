"""Secrets in what programs say to each other, to a terminal, and to their users' wallets."""

from base64 import b64decode
from binascii import Error
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_rule import Rule, Span, followed_by, pattern
from memprove.ledger.domain.redaction_values import is_opaque, is_placeholder

_CREDENTIALS: Final = lazily(rb"[\x20-\x7e]{1,128}:[\x20-\x7e]{1,512}")


def _is_credentials(word: bytes) -> bool:
    """Return whether *word* is ``user:password`` in base64."""
    try:
        return _CREDENTIALS.fullmatch(b64decode(word, validate=True)) is not None
    except Error:
        return False


def _is_told(word: bytes) -> bool:
    return is_opaque(word) and not is_placeholder(word)


def _is_coded(word: bytes) -> bool:
    return _HEXADECIMAL.fullmatch(word) is not None or _is_told(word)


_HEXADECIMAL: Final = lazily(rb"[0-9A-F]{8,}")


def _is_named(word: bytes) -> bool:
    return not is_placeholder(word)


_KEY_OBJECT: Final = lazily(rb"\"kty\"[ \t]{0,2}:")


def _locate_private_member(text: bytes, at: int) -> Span | None:
    """Return a private member of a JSON Web Key (RFC 7518)."""
    match = _PRIVATE_MEMBER.match(text, at)
    if match is None:
        return None
    start, end = max(0, text.rfind(b"{", 0, at)), text.find(b"}", match.end())
    end = end if end >= 0 else len(text)
    if max(at - start, end - at) > 8192 or not _KEY_OBJECT.search(text, start, end):
        return None
    return match.span("secret")


_PRIVATE_MEMBER: Final = lazily(
    rb"\"(?:d|k|p|q|dp|dq|qi)\"[ \t]{0,4}:[ \t]{0,4}\"(?P<secret>[A-Za-z0-9_-]{16,4096})\""
)

_FROM_CLIENT: Final = rb"(?:(?<=[><] )|(?<=C: ))"
_ARGUMENT: Final = rb"(?:[^()\n'\",]|'[^'\n]{0,128}'|\"[^\"\n]{0,128}\"){1,64},[ \t]{0,4}"
_IN_CALL: Final = (
    rb"[ \t]{0,4}(?(at)" + _ARGUMENT + rb")[\"'][^\"'\n]{1,64}[\"'],[ \t]{0,4}"
    rb"[\"'](?P<secret>[^\"'\n]{3,128})[\"'][ \t]{0,4}[,)]"
)

PROTOCOLS: Final = (
    Rule(
        "sasl-credentials",
        (b"AUTH PLAIN ", b"AUTH LOGIN ", b"AUTHENTICATE PLAIN ", b"AUTH CRAM-MD5 "),
        pattern(rb"AUTH(?:ENTICATE)? [A-Z0-9-]{5,12} (?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?![\w=])"),
    ),
    Rule(
        "protocol-password",
        (b"PASS ",),  # of FTP, POP3, IRC; not the verdict of a test
        pattern(_FROM_CLIENT + rb"PASS :?(?P<secret>\S{4,128})[ \t]*\r?(?=\n|\Z)", _is_told),
    ),
    Rule(
        "protocol-password",
        (b"USER ",),
        pattern(rb"USER [^\n]{1,128}\n(?:[^\n]{0,128}\n)?PASS :?(?P<secret>\S{4,128})", _is_told),
        gate=followed_by(rb"[^\n]{1,128}\n(?:[^\n]{0,128}\n)?PASS"),
    ),
    Rule(
        "protocol-password",
        (b" LOGIN ",),  # of IMAP
        pattern(rb"(?<=[0-9]) LOGIN \"?[\w.@+-]{1,128}\"? \"?(?P<secret>[^\s\"]{4,128})", _is_told),
    ),
    Rule(
        "protocol-password",
        (b"AUTH ",),  # of Redis
        pattern(
            rb"(?:(?<![\s\S])|(?<=\n)|(?<=> ))AUTH (?:[\w-]{1,64} )?"
            rb"[\"']?(?P<secret>[^\s\"']{6,256})[\"']?[ \t]{0,4}\r?(?=\n|\Z)",
            _is_told,
        ),
    ),
    Rule(
        "protocol-password",
        (b"setuser ",),
        pattern(rb"(?i:setuser) [^\n]{1,200}? >(?P<secret>[^\s\"']{3,})", _is_named),
        folded=True,
    ),
    Rule(
        "protocol-password",
        (b"identify ",),
        pattern(rb"(?<=:|[ /])(?i:identify) (?:[\w-]{1,32} )?(?P<secret>\S{4,})", _is_told),
        folded=True,
        gate=followed_by(rb"\S{4}"),
    ),
    Rule(
        "protocol-password",
        (b"JOIN #",),
        pattern(rb"JOIN #[^\s]{1,64} (?P<secret>\S{4,64})\r?(?=\n|\Z)", _is_told),
    ),
    Rule(
        "websocket-token",
        (b"sec-websocket-protocol",),
        pattern(
            rb"(?i:sec-websocket-protocol)[\"']?: ?[\"']?[^\r\n]{0,64}?"
            rb"(?:token|bearer|auth\w*)[,.] ?"
            rb"(?P<secret>[A-Za-z0-9_.=-]{16,})"
        ),
        folded=True,
    ),
    Rule(
        "url-signature",
        (b"x-amz-signature=", b"x-goog-signature="),
        pattern(rb"(?i:x-(?:amz|goog)-signature)=(?P<secret>[a-f0-9]{32,})"),
        folded=True,
    ),
    Rule(
        "docker-credentials",
        (b'auth"',),
        pattern(
            rb"auth\"[ \t]{0,4}:[ \t]{0,4}\"(?P<secret>[A-Za-z0-9+/]{8,}={0,2})\"", _is_credentials
        ),
    ),
    Rule(
        "json-web-key",
        tuple(f'"{name}"'.encode() for name in ["d", "k", "p", "q", "dp", "dq", "qi"]),
        _locate_private_member,
        gate=followed_by(rb"[ \t]{0,4}:[ \t]{0,4}\"[A-Za-z0-9_-]{16}"),
    ),
    Rule(
        "call-credentials",  # auth=("bob", "…"), basic_auth("bob", "…"), connect(url, "bob", "…")
        (
            b"auth(",
            b"auth=(",
            b"credential(",
            b"credentials(",
            b"getconnection(",
            b"_connect(",
            b"sqli(",
            b"new pdo(",
            b"login(",
            b"authentication(",
        ),
        pattern(
            rb"(?i:auth=?|credentials?|login|authentication|(?:getconnection|_connect|sqli|pdo)(?P<at>))\("
            + _IN_CALL,
            _is_told,
        ),
        folded=True,
    ),
    Rule(
        "secret-value",
        (
            *(b"with%spassword(" % mark for mark in (b"", b"_")),
            *(b"with%s(" % name for name in (b"token", b"_token", b"apikey", b"_api_key", b"key")),
            *(b"bearerauth(", b"bearer_auth(", b"securestring ", b"add-mask::", b"issecret=true]"),
        ),
        pattern(
            rb"(?i:(?:with_?(?:password|token|api_?key|key)|bearer_?auth)\([\"']"
            rb"|securestring (?:-string )?[\"']|add-mask::|issecret=true\])"
            rb"(?P<secret>[^\s\"'()]{3,512})",
            _is_named,
        ),
        folded=True,
    ),
    Rule(
        "secret-value",
        (b"sonar.login=", b"sonar.login ="),
        pattern(rb"(?i:sonar\.login)[ \t]?=[ \t]?(?P<secret>[a-f0-9]{40})"),
        folded=True,
    ),
    Rule(
        "secret-value",
        (b"secret_id", b"secret-id"),
        pattern(
            rb"(?i:secret[_-]id)[\"']?[ \t]{0,2}[:= ][ \t]{0,2}[\"']?"
            rb"(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
        ),
        folded=True,
    ),
    Rule(
        "session-cookie",
        (b"JSESSIONID", b"PHPSESSID", b"sessionid", b"connect.sid", b"ASP.NET_SessionId"),
        pattern(
            rb"[A-Za-z._]{5,20}(?:=|[\"']: ?[\"'])(?P<secret>[A-Za-z0-9%._:]{20,256})(?![\w-])"
        ),
    ),
    Rule(
        "command-password",
        (b"gh secret set ", b"gh variable set "),
        pattern(
            rb"gh (?:secret|variable) set [^\n|;&]{1,120}?(?:-b|--body)[ =]?"
            rb"[\"']?(?P<secret>[^\s\"']{3,})",
            _is_named,
        ),
    ),
    Rule(
        "discord-token",
        (b".login(",),
        pattern(rb"\.login\((?:(?:key|token)=)?[\"'](?P<secret>[A-Za-z0-9_.-]{40,100})[\"']"),
    ),
    Rule(
        "device-password",  # of switches and routers: the digit says how the password is written
        (b"password ", b"secret ", b"key "),
        pattern(
            rb"(?i:password|secret|key) (?:encrypted )?[0-9] (?P<secret>[^\s\"']{4,128})(?=\s|\Z)",
            _is_coded,
        ),
        folded=True,
        gate=followed_by(rb"(?:encrypted )?[0-9] [^\s]{4}"),
    ),
    Rule(
        "directive-password",
        (
            b"bindpw ",
            b"rootpw ",
            b"wpa-psk ",
            b"wpa-passphrase ",
            b"rocommunity ",
            b"rwcommunity ",
            b"snmp-server community ",
            b"auth_pass ",
            b"ascii-text ",
            b"tacacs-server key ",
            b"radius-server key ",
        ),
        pattern(
            rb"(?i:bindpw|rootpw|wpa-psk|wpa-passphrase|r[ow]community6?"
            rb"|snmp-server community|auth_pass|ascii-text"
            rb"|(?:tacacs|radius)-server key)[ \t]{1,16}[\"']?(?P<secret>[^\s\"']{3,128})",
            _is_named,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"identified with ",),
        pattern(
            rb"(?i:identified with )\S{1,64} (?i:by|as) ['\"](?P<secret>[^'\"\n]{1,256})", _is_named
        ),
        folded=True,
    ),
    Rule(
        "login",
        (b"login: ", b"login is ", b"log in with ", b"login with "),
        pattern(
            rb"(?i:login:|login is|log ?in with) [`'\"]?[\w.@-]{1,64}[`'\"]? ?(?:/|and|:) ?[`'\"]?"
            rb"(?P<secret>[^\s`'\",;]{4,128})",
            _is_told,
        ),
        folded=True,
    ),
    Rule(
        "login",
        (
            b"stats auth ",
            b"login=",
            b"credential",
            b"basic-auth",
            b"basicauth",
            b"userpwd",
            b"userpass",
        ),
        pattern(
            rb"(?i:stats auth|login=|credentials?|basic-?auth|userpwd|userpass)(?: are| is)?"
            rb"[ \t:=\"',]{0,6}"
            rb"[\w.@-]{1,64}:(?P<secret>[^\s\"':,;]{4,128})",
            _is_told,
        ),
        folded=True,
        gate=followed_by(rb"(?:s|s? (?:are|is))?[ \t:=\"',]{0,6}[\w.@-]{1,64}:"),
    ),
    Rule(
        "seed-phrase",
        (b"mnemonic", b"seed phrase", b"recovery phrase", b"seed words", b"secret phrase"),
        pattern(
            rb"(?i:mnemonic|(?:seed|recovery|secret) (?:phrase|words))[\"']?(?: is)?"
            rb"[ \t]{0,2}[:=]?[ \t]{0,4}[\"']?"
            rb"(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![\w])"
        ),
        folded=True,
    ),
    Rule(
        "private-key",
        (b"Private-Lines: ",),
        pattern(rb"Private-Lines: [0-9]{1,3}\r?\n(?P<secret>(?:[A-Za-z0-9+/=]{4,76}\r?\n?){1,64})"),
    ),
    Rule(
        "pin",
        (b"PIN",),
        pattern(rb"(?<![A-Za-z_])PIN(?: code)?(?:[:=]| is:?) ?(?P<secret>[0-9]{4,8})(?![\w.:%-])"),
    ),
)
