"""Secrets that a standard or a command line gives away: JWTs, URLs, headers, known tools."""

from base64 import urlsafe_b64decode
from typing import Final

from memprove.ledger.domain.lazy import lazily
from memprove.ledger.domain.redaction_rule import BROKEN, Rule, Span, followed_by, pattern
from memprove.ledger.domain.redaction_values import is_opaque, is_placeholder

_CLAIMS: Final = lazily(rb'"(?:alg|typ|iss|sub|exp|[\w-]*(?:token|secret|passw|auth|key)\w*)"')


def _locate_base64_json(text: bytes, at: int) -> Span | None:
    """Return a JWT (RFC 7519), whole or cut, or another base64 object with a telling member."""
    match = _BASE64_JSON.match(text, at)
    if match is None or text.endswith(b"base64,", 0, at):
        return None
    head = match["head"][:4096]
    opened = urlsafe_b64decode(head.translate(_TO_URL)[: len(head) // 4 * 4])
    return match.span() if _CLAIMS.search(opened.lower()) else None


_BASE64_JSON: Final = lazily(
    rb"(?<![A-Za-z0-9+/_-])(?P<head>eyJ[A-Za-z0-9_+/-]{12,}=*)(?:\.[A-Za-z0-9_-]*){0,4}"
)


_TO_URL: Final = bytes.maketrans(b"+/", b"-_")


_SOURCE_NAME: Final = lazily(rb"[\w.-]{1,64}:(?P<secret>[^\s\"'`:/]{1,128})\Z")


def _locate_source_name(text: bytes, at: int) -> Span | None:
    before = max(0, at - 200)
    match = _SOURCE_NAME.search(text[before:at])
    if match is None or is_placeholder(match["secret"]):
        return None
    return before + match.start("secret"), at


def _not_placeholder(word: bytes) -> bool:
    return not is_placeholder(word)


# Between a header's name and value: HTTP, curl, JSON, a dict or a pair of Python, PHP.
_AFTER_HEADER: Final = (
    rb"(?:\\?[\"']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}\[?"
    rb"|[\"'][ \t]{0,4},[ \t]{0,4}(?=b?[\"']))b?\\?[\"']?"
)

_LOGGING_IN: Final = b"docker podman az oc cf ibmcloud registry skopeo buildah oras auth".split()
_GATE_OF_HEADER: Final = followed_by(rb"\\?[\"']?[ \t]{0,4}[:=,]")
_GATE_OF_URL: Final = followed_by(rb"[^\s/\"'<>]{0,769}@")

STRUCTURES: Final = (
    Rule(
        "jwt",
        (b"eyJ",),
        _locate_base64_json,
        wraps=True,
        gate=followed_by(rb"(?<![A-Za-z0-9+/_-]eyJ)(?:[A-Za-z0-9_+/-]{12}|" + BROKEN + rb")"),
    ),
    Rule(
        "webhook",
        (b"hooks.slack.com/", b"/api/webhooks/"),
        pattern(
            rb"(?:hooks\.slack\.com/(?:services|workflows|triggers)|/api/webhooks)/"
            rb"(?P<secret>[A-Za-z0-9/_-]{20,})"
        ),
    ),
    Rule(
        "telegram-token",
        (b":AA",),
        pattern(rb"(?<=[0-9]{8}):(?P<secret>AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
        gate=followed_by(rb"[A-Za-z0-9_-]{33}"),
    ),
    Rule(
        "mailchimp-key",
        (b"-us",),
        pattern(rb"(?<=[0-9a-f]{32})(?P<secret>-us[0-9]{1,2})\b"),
        gate=followed_by(rb"(?<=[0-9a-f]{32}-us)[0-9]"),
    ),
    Rule(
        "url-credentials",
        (b"://",),
        pattern(rb"://[^\s/:\"'<>]{0,256}:(?P<secret>[^\s/\"'<>]{1,512})@", _not_placeholder),
        gate=_GATE_OF_URL,
    ),
    Rule(
        "url-credentials",
        (b"://",),
        pattern(rb"://(?P<secret>[A-Za-z0-9_.-]{20,512})(?::x-oauth-basic|:)?@", is_opaque),
        gate=_GATE_OF_URL,
    ),
    Rule(
        "url-credentials",  # a data source name of Go: user:password@tcp(host)/database
        (b"@tcp(", b"@unix("),
        _locate_source_name,
    ),
    Rule(
        "url-credentials",  # of Oracle: jdbc:oracle:thin:user/password@host
        (b":thin:", b"sqlplus "),
        pattern(
            rb"(?::thin:|sqlplus[ \t]+)[\w$#]{1,64}/(?P<secret>[^\s@/]{3,128})@", _not_placeholder
        ),
    ),
    Rule(
        "url-credentials",  # a line of .pgpass: host:port:database:user:password
        (b":5432:", b":6432:"),
        pattern(
            rb":[0-9]{4}:[\w*-]{1,64}:[\w.@*-]{1,64}:(?P<secret>[^\s:]{3,128})(?=\s|\Z)", is_opaque
        ),
    ),
    Rule(
        "url-signature",
        (b"sig=", b"signature="),
        pattern(rb"(?<=[?&;])(?i:(?:x-amz-)?sig(?:nature)?)=(?P<secret>[A-Za-z0-9%_+/=-]{20,})"),
        folded=True,
        gate=followed_by(rb"[A-Za-z0-9%_+/=-]{20}"),
    ),
    Rule(
        "authorization",
        (b"authorization",),
        pattern(
            rb"(?<![A-Za-z:])(?i:authorization)"
            + _AFTER_HEADER
            + rb"(?:(?i:Basic|Bearer|Token|ApiKey|Api-Key|Bot|GenieKey|SSWS|Splunk|Key|JWT"
            rb"|PRIVATE-TOKEN|OAuth2)[ \t]+"
            rb"(?P<secret>[^\s\"'\\,<>]{4,})"
            rb")",
            _not_placeholder,
        ),
        folded=True,
        gate=_GATE_OF_HEADER,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        pattern(
            rb"(?<![A-Za-z:])(?i:authorization)"
            + _AFTER_HEADER
            + rb"(?:(?i:Digest|AWS4-HMAC-SHA256|Negotiate|NTLM|Hawk|OAuth|Signature)[ \t]+"
            rb"(?P<secret>[^\n\r'<>]{8,}))",
        ),
        folded=True,
        gate=_GATE_OF_HEADER,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        pattern(
            rb"(?<![A-Za-z:])(?i:authorization)"
            + _AFTER_HEADER
            + rb"(?P<secret>[^\s\"'\\,<>]{8,})",
            is_opaque,
        ),
        folded=True,
        gate=_GATE_OF_HEADER,
    ),
    Rule(
        "authorization",  # set-header Authorization "Basic …"
        (b"authorization",),
        pattern(
            rb"(?i:authorization)[ \t]+\\?[\"']?(?i:Basic|Bearer|Token|ApiKey)\\?[ \t]+"
            rb"(?P<secret>[^\s\"'\\,;<>]{8,})",
            is_opaque,
        ),
        folded=True,
        gate=followed_by(rb"[ \t]+\\?[\"']?(?:basic|bearer|token|apikey)"),
    ),
    Rule(
        "bearer",
        (b"bearer ",),
        pattern(rb"(?<![A-Za-z])(?i:bearer) +(?P<secret>[A-Za-z0-9_.~+/=-]{8,})", is_opaque),
        folded=True,
        wraps=True,
        gate=followed_by(rb" *(?:[A-Za-z0-9_.~+/=-]{8}|" + BROKEN + rb")"),
    ),
    Rule(
        "basic-credentials",
        (b"basic ",),
        pattern(rb"(?<![A-Za-z])(?i:basic) (?P<secret>[A-Za-z0-9+/]{12,}={1,2})(?![\w=])"),
        folded=True,
        gate=followed_by(rb"[A-Za-z0-9+/]{12}"),
    ),
    Rule(
        "cookie",
        (b"cookie",),
        pattern(
            rb"(?i:(?<!set-)cookie)"
            + _AFTER_HEADER
            + rb"(?P<secret>[A-Za-z0-9_.%~-]{1,80}=[^\n\r\"'<>]{4,8192})",
            lambda pairs: not is_placeholder(pairs.partition(b"=")[2].partition(b";")[0]),
        ),
        folded=True,
        gate=_GATE_OF_HEADER,
    ),
    Rule(
        "cookie",
        (b"set-cookie",),
        pattern(
            rb"(?i:set-cookie)"
            + _AFTER_HEADER
            + rb"[A-Za-z0-9_.%~-]{1,80}=(?P<secret>[^\s;\"'<>\\]{4,})",
            _not_placeholder,
        ),
        folded=True,
        gate=_GATE_OF_HEADER,
    ),
    Rule(
        "command-password",
        (b"mysql", b"mariadb", b"sshpass"),
        pattern(
            rb"(?i:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|sshpass)\b"
            rb"(?:[ \t]+[^\s|;&]{1,80}){0,8}?[ \t]+-p['\"]?(?P<secret>[^\s'\"|;&<>]{3,})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"sshpass -p ", b"redis-cli ", *(tool + b" login" for tool in _LOGGING_IN)),
        pattern(
            rb"(?i:(?P<cache>redis-cli)|sshpass|(?:" + b"|".join(_LOGGING_IN) + rb") login)\b"
            rb"(?:[ \t]+[^\s|;&]{1,80}){0,8}?[ \t]+(?(cache)(?:-a|--pass)|-p)[ =]"
            rb"['\"]?(?P<secret>[^\s'\"|;&<>]{3,})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "cookie",
        (b"curl ",),
        pattern(
            rb"(?i:curl)(?:[ \t]+[^\s|;&]{1,200}){0,8}?[ \t]+(?:-b|--cookie)[ =]?['\"]?"
            rb"(?P<secret>[^\s='\"|]{1,80}=[^'\"|\n]{4,2048})",
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"curl ", b"http ", b"https ", b"wget "),
        pattern(
            rb"(?i:curl|https?|wget)(?:[ \t]+[^\s|;&]{1,200}){0,8}?[ \t]+"
            rb"(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?['\"]?[^\s'\":|;&<>]{1,64}:"
            rb"(?P<secret>[^\s'\"|<>]{1,200})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"-passin ", b"-passout ", b"passin="),
        pattern(rb"(?:-?passin|-passout)[ =]pass:(?P<secret>[^\s'\"]{3,})", _not_placeholder),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"requirepass ", b"masterauth "),
        pattern(rb"(?i:requirepass|masterauth)[ \t]+[\"']?(?P<secret>[^\s\"']{3,})", is_opaque),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"identified by ",),
        pattern(
            rb"(?i:identified by (?:password )?)['\"](?P<secret>[^'\"\n]{1,256})", _not_placeholder
        ),
        folded=True,
    ),
)
