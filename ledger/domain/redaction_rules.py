r"""What a secret looks like: one table of the formats that vendors and standards document.

A rule is found in two steps. Its *keyword*, a literal, is looked for with ``bytes.find``; only there
its *pattern* is matched, anchored at the keyword, so ordinary output costs a substring search and no
regular expression. Another engine may replace the first step (the keywords are literals): the second
decides alone. Patterns end in one greedy class or have bounded repeats, so that a hostile line costs
linear time. The span to cut is the group ``secret`` if the pattern has one, else the whole match.

Order is precedence: where two rules overlap, the first in the table names what was cut.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memprove.ledger.domain.redaction_assignments import locate_assignment
from memprove.ledger.domain.redaction_values import is_opaque, is_placeholder

Span = tuple[int, int]
Locate = Callable[[bytes, int], Span | None]
"""Given the text and where a keyword begins: the span of the secret, or None."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret: its name, the literals that announce it, and how it is confirmed.

    The keywords of a rule with *folded* are lower case and found in any case (ASCII). *wraps* says
    that the secret is one opaque word, which a terminal may have broken over several lines.
    """

    name: str
    keywords: tuple[bytes, ...]
    locate: Locate
    folded: bool = False
    wraps: bool = False


def _pattern(source: bytes, accept: Callable[[bytes], bool] | None = None) -> Locate:
    compiled = re.compile(source)
    group = "secret" if "secret" in compiled.groupindex else 0

    def locate(text: bytes, at: int) -> Span | None:
        match = compiled.match(text, at)
        if match is None or (accept is not None and not accept(match[group])):
            return None
        return match.span(group)

    return locate


def _has_digit(word: bytes) -> bool:
    return re.search(rb"[0-9]", word) is not None


def _token(name: str, keywords: str, rest: bytes, *, prose: bool = False) -> Rule:
    """A vendor's token: one of *keywords* at the start of a word, then *rest*.

    *prose* marks prefixes that also begin ordinary words: there the token must hold a digit.
    """
    source = rb"(?<![A-Za-z0-9])(?:%s)%s"
    literals = tuple(word.encode() for word in keywords.split())
    union = b"|".join(map(re.escape, literals))
    locate = _pattern(source % (union, rest), _has_digit if prose else None)
    return Rule(name, literals, locate, wraps=True)


_TOKENS: Final = (
    # This product: an id of 16 hexadecimal digits and the secret, base64url.
    _token("memprove-token", "mpv_", rb"[0-9a-f]{16}_[A-Za-z0-9_-]{16,}"),
    # Forges
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rb"[A-Za-z0-9_]{20,}", prose=True),
    _token("github-token", "github_pat_", rb"[A-Za-z0-9_]{20,}"),
    _token("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glsoat-", rb"[A-Za-z0-9_.-]{16,}"),
    _token("bitbucket-token", "ATBB", rb"[A-Za-z0-9]{24,}", prose=True),
    _token("atlassian-token", "ATATT3 ATCTT3", rb"[A-Za-z0-9_=-]{40,}"),
    # Clouds
    _token("aws-key-id", "AKIA ASIA", rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("google-api-key", "AIza", rb"[A-Za-z0-9_-]{30,}"),
    _token("google-oauth", "ya29. GOCSPX- 1//0", rb"[A-Za-z0-9_-]{20,}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rb"[a-f0-9]{32,}"),
    _token("alibaba-key-id", "LTAI", rb"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])", prose=True),
    _token("databricks-token", "dapi", rb"[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    _token("supabase-key", "sbp_ sb_secret_", rb"[A-Za-z0-9_-]{20,}", prose=True),
    _token("planetscale-token", "pscale_", rb"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}"),
    _token("heroku-key", "HRKU-", rb"[A-Za-z0-9_-]{30,}"),
    _token("fly-token", "fm2_ fo1_", rb"[A-Za-z0-9_+/=,-]{30,}"),
    # Models
    _token("anthropic-key", "sk-ant-", rb"[A-Za-z0-9_-]{16,}"),
    _token(
        "openai-key", "sk-", rb"(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", prose=True
    ),
    _token("huggingface-token", "hf_", rb"[A-Za-z0-9]{30,}(?![A-Za-z0-9_])"),
    _token("groq-key", "gsk_", rb"[A-Za-z0-9]{40,}"),
    _token("xai-key", "xai-", rb"[A-Za-z0-9]{40,}"),
    _token("perplexity-key", "pplx-", rb"[A-Za-z0-9]{40,}"),
    _token("replicate-token", "r8_", rb"[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    # Packages
    _token("npm-token", "npm_", rb"[A-Za-z0-9]{30,}(?![A-Za-z0-9_])"),
    _token("pypi-token", "pypi-AgE", rb"[A-Za-z0-9_-]{16,}"),
    _token("rubygems-key", "rubygems_", rb"[a-f0-9]{40,}"),
    _token("nuget-key", "oy2", rb"[a-z0-9]{43}(?![A-Za-z0-9])"),
    _token("docker-token", "dckr_pat_ dckr_oat_", rb"[A-Za-z0-9_-]{20,}"),
    # Payment, messages, services
    _token("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", rb"[A-Za-z0-9]{16,}"),
    _token("stripe-webhook", "whsec_", rb"[A-Za-z0-9+/=]{24,}"),
    _token("shopify-token", "shpat_ shpss_ shpca_ shppa_", rb"[a-fA-F0-9]{32}"),
    _token("square-token", "sq0atp- sq0csp-", rb"[A-Za-z0-9_-]{22,}"),
    _token("slack-token", "xoxb- xoxp- xoxa- xoxe xoxr- xoxs- xapp-", rb"[A-Za-z0-9.-]{10,}"),
    _token("mailgun-key", "key-", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("sendgrid-key", "SG.", rb"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _token("twilio-key", "SK", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("grafana-token", "glsa_ glc_", rb"[A-Za-z0-9_+/=-]{32,}"),
    _token("newrelic-key", "NRAK-", rb"[A-Z0-9]{27}"),
    _token("postman-key", "PMAK-", rb"[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("linear-key", "lin_api_", rb"[A-Za-z0-9]{32,}"),
    _token("notion-token", "ntn_", rb"[A-Za-z0-9]{40,}"),
    _token("figma-token", "figd_", rb"[A-Za-z0-9_-]{32,}"),
    _token("doppler-token", "dp.pt.", rb"[A-Za-z0-9]{40,}"),
    _token("sentry-token", "sntrys_ sntryu_", rb"[A-Za-z0-9_+/=-]{40,}"),
    _token("vault-token", "hvs. hvb.", rb"[A-Za-z0-9_-]{24,}"),
    _token("age-key", "AGE-SECRET-KEY-1", rb"[A-Z0-9]{40,}"),
)


_CLAIMS: Final = re.compile(rb'"(?:alg|typ|iss|sub|exp|[\w-]*(?:token|secret|passw|auth|key)\w*)"')


def _locate_base64_json(text: bytes, at: int) -> Span | None:
    """Return a JWT (RFC 7519), whole or cut, or another base64 object with a telling member."""
    match = _BASE64_JSON.match(text, at)
    if match is None or text.endswith(b"base64,", 0, at):
        return None
    head = match["head"][:4096]
    opened = urlsafe_b64decode(head.translate(_TO_URL)[: len(head) // 4 * 4])
    return match.span() if _CLAIMS.search(opened.lower()) else None


_BASE64_JSON: Final = re.compile(
    rb"(?<![A-Za-z0-9+/])(?P<head>eyJ[A-Za-z0-9_+/-]{12,}=*)(?:\.[A-Za-z0-9_-]*){0,4}"
)


_TO_URL: Final = bytes.maketrans(b"+/", b"-_")


_BEGIN: Final = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(rb"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_CUT_BODY: Final = re.compile(
    rb"(?:(?:\\[nrt]|[\s>|+\"',\\]){1,16}(?:[A-Za-z-]{1,24}: [^\n]{0,96}|[A-Za-z0-9+/=]{16,}))*"
    rb"(?:(?:\\[nr]|[\s>|+\"',\\]){1,16}[A-Za-z0-9+/]{1,15}={1,2})?"
)
_KEY_LINE: Final = re.compile(rb"[ \t>|+\"',]{0,16}[A-Za-z0-9+/=]{1,128}(?:\\n)?[\"',+ ]{0,4}\r?")
_KEY_MATERIAL: Final = re.compile(rb"[A-Za-z0-9+/=]{16}")
_LONGEST_KEY: Final = 65_536


def _locate_private_key(text: bytes, at: int) -> Span | None:
    """Return a PEM block (RFC 7468, RFC 9580), to its end or as far as it reads like a key."""
    begin = _BEGIN.match(text, at)
    if begin is None:
        return None
    limit = begin.end() + _LONGEST_KEY
    following = text.find(b"-----BEGIN", begin.end(), limit)
    last = text.find(b"-----END", begin.end(), limit if following < 0 else following)
    if last >= 0 and (end := _END.match(text, last)):
        stop = end.end()
    else:
        body = _CUT_BODY.match(text, begin.end())
        stop = body.end() if body else begin.end()
    return (at, stop) if _KEY_MATERIAL.search(text, begin.end(), stop) else None


def _locate_private_key_end(text: bytes, at: int) -> Span | None:
    """Return the rest of a PEM block whose beginning was cut off: base64 lines before its end."""
    end = _END.match(text, at)
    if end is None:
        return None
    start = text.rfind(b"\n", 0, at) + 1
    for _ in range(256):
        previous = text.rfind(b"\n", 0, max(start - 1, 0)) + 1
        if previous >= start or not _KEY_LINE.fullmatch(text, previous, start - 1):
            break
        start = previous
    return (start, end.end()) if _KEY_MATERIAL.search(text, start, at) else None


_SOURCE_NAME: Final = re.compile(rb"[\w.-]{1,64}:(?P<secret>[^\s\"'`:/]{1,128})\Z")


def _locate_source_name(text: bytes, at: int) -> Span | None:
    before = max(0, at - 200)
    match = _SOURCE_NAME.search(text[before:at])
    if match is None or is_placeholder(match["secret"]):
        return None
    return before + match.start("secret"), at


def _not_placeholder(word: bytes) -> bool:
    return not is_placeholder(word)


# Between a header's name and value: HTTP, curl, JSON, a dict or a pair of Python, PHP.
_AFTER_HEADER: Final = rb"(?:\\?[\"']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}|[\"'][ \t]{0,4},[ \t]{0,4}(?=b?[\"']))b?\\?[\"']?"

_STRUCTURES: Final = (
    Rule("private-key", (b"-----BEGIN ",), _locate_private_key),
    Rule("private-key", (b"-----END ",), _locate_private_key_end),
    Rule("jwt", (b"eyJ",), _locate_base64_json, wraps=True),
    Rule(
        "webhook",
        (b"hooks.slack.com/", b"/api/webhooks/"),
        _pattern(
            rb"(?:hooks\.slack\.com/(?:services|workflows|triggers)|/api/webhooks)/"
            rb"(?P<secret>[A-Za-z0-9/_-]{20,})"
        ),
    ),
    Rule(
        "telegram-token",
        (b":AA",),
        _pattern(rb"(?<=[0-9]{8}):(?P<secret>AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    ),
    Rule(
        "mailchimp-key",
        (b"-us",),
        _pattern(rb"(?<=[0-9a-f]{32})(?P<secret>-us[0-9]{1,2})\b"),
    ),
    Rule(
        "url-credentials",
        (b"://",),
        _pattern(rb"://[^\s/@:\"'<>]{0,256}:(?P<secret>[^\s/\"'<>]{1,512})@", _not_placeholder),
    ),
    Rule(
        "url-credentials",
        (b"://",),
        _pattern(rb"://(?P<secret>[A-Za-z0-9_.-]{20,512})(?::x-oauth-basic|:)?@", is_opaque),
    ),
    Rule(
        "url-credentials",  # a data source name of Go: user:password@tcp(host)/database
        (b"@tcp(", b"@unix("),
        _locate_source_name,
    ),
    Rule(
        "url-signature",
        (b"sig=", b"signature="),
        _pattern(rb"(?<=[?&;])(?i:(?:x-amz-)?sig(?:nature)?)=(?P<secret>[A-Za-z0-9%_+/=-]{20,})"),
        folded=True,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        _pattern(
            rb"(?i:authorization)"
            + _AFTER_HEADER
            + rb"(?:(?i:Basic|Bearer|Token|ApiKey|Api-Key|Bot|GenieKey|SSWS)[ \t]+"
            rb"(?P<secret>[^\s\"'\\,<>]{4,})"
            rb")",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        _pattern(
            rb"(?i:authorization)"
            + _AFTER_HEADER
            + rb"(?:(?i:Digest|AWS4-HMAC-SHA256|Negotiate|NTLM|Hawk|OAuth|Signature)[ \t]+"
            rb"(?P<secret>[^\n\r'<>]{8,}))",
        ),
        folded=True,
    ),
    Rule(
        "authorization",
        (b"authorization",),
        _pattern(
            rb"(?i:authorization)" + _AFTER_HEADER + rb"(?P<secret>[^\s\"'\\,<>]{8,})",
            is_opaque,
        ),
        folded=True,
    ),
    Rule(
        "bearer",
        (b"bearer ",),
        _pattern(rb"(?<![A-Za-z])(?i:bearer) +(?P<secret>[A-Za-z0-9_.~+/=-]{8,})", is_opaque),
        folded=True,
        wraps=True,
    ),
    Rule(
        "basic-credentials",
        (b"basic ",),
        _pattern(rb"(?<![A-Za-z])(?i:basic) (?P<secret>[A-Za-z0-9+/]{12,}={1,2})(?![\w=])"),
        folded=True,
    ),
    Rule(
        "cookie",
        (b"cookie",),
        _pattern(
            rb"(?i:(?<!set-)cookie)"
            + _AFTER_HEADER
            + rb"(?P<secret>[A-Za-z0-9_.%~-]{1,80}=[^\n\r\"'<>]{4,})",
            lambda pairs: not is_placeholder(pairs.partition(b"=")[2].partition(b";")[0]),
        ),
        folded=True,
    ),
    Rule(
        "cookie",
        (b"set-cookie",),
        _pattern(
            rb"(?i:set-cookie)"
            + _AFTER_HEADER
            + rb"[A-Za-z0-9_.%~-]{1,80}=(?P<secret>[^\s;\"'<>\\]{4,})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"mysql", b"mariadb", b"sshpass"),
        _pattern(
            rb"(?i:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|sshpass)\b"
            rb"(?:[ \t]+[^\s|;&]{1,80}){0,8}?[ \t]+-p['\"]?(?P<secret>[^\s'\"|;&<>]{3,})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"sshpass -p ", b"redis-cli ", b"docker login", b"podman login"),
        _pattern(
            rb"(?i:sshpass|redis-cli|(?:docker|podman) login)\b(?:[ \t]+[^\s|;&]{1,80}){0,8}?"
            rb"[ \t]+(?:-p|-a|--pass)[ =]['\"]?(?P<secret>[^\s'\"|;&<>]{3,})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"curl ", b"http ", b"https ", b"wget "),
        _pattern(
            rb"(?i:curl|https?|wget)(?:[ \t]+[^\s|;&]{1,200}){0,8}?[ \t]+"
            rb"(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?['\"]?[^\s'\":|;&<>]{1,64}:"
            rb"(?P<secret>[^\s'\"|<>]{1,200})",
            _not_placeholder,
        ),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"-passin ", b"-passout ", b"passin=", b"-u "),
        _pattern(rb"(?:-?passin|-passout)[ =]pass:(?P<secret>[^\s'\"]{3,})", _not_placeholder),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"requirepass ", b"masterauth "),
        _pattern(rb"(?i:requirepass|masterauth)[ \t]+[\"']?(?P<secret>[^\s\"']{3,})", is_opaque),
        folded=True,
    ),
    Rule(
        "command-password",
        (b"identified by ",),
        _pattern(
            rb"(?i:identified by (?:password )?)['\"](?P<secret>[^'\"\n]{1,256})", _not_placeholder
        ),
        folded=True,
    ),
)

# "password" as people write it in other scripts, and what may stand before the value.
_PASSWORD_WORDS: Final = tuple(
    word.encode() for word in "密码 密碼 口令 パスワード 비밀번호 пароль contraseña".split()
)
_IS: Final = "(?:[ \\t]{0,4}(?:是|为|為|は|:|：|=|＝|es|это|-|—))".encode()

_ASSIGNMENTS: Final = (
    Rule(
        "secret-value",
        _PASSWORD_WORDS,
        _pattern(
            rb"(?:" + b"|".join(_PASSWORD_WORDS) + rb")" + _IS + rb"{1,2}[ \t]{0,4}"
            rb"(?:\xe2\x80\x9c|\xe3\x80\x8c|[\"'`])?(?P<secret>[\x21\x23-\x26\x28-\x5f\x61-\x7e]{4,128})",
            lambda word: is_opaque(word) or re.fullmatch(rb"[0-9]{4,12}", word) is not None,
        ),
    ),
    Rule(
        "secret-value",
        (
            b"passw", b"passp", b"passc", b"secret", b"token", b"credential", b"key",
            b"pwd", b"_pass", b"pass=", b"pass:", b'pass"', b"pass'", b"_auth", b"sandi", b"pw:", b"pw=",
            b'pw"', b"mot de passe",
        ),
        locate_assignment,
        folded=True,
        wraps=True,
    ),
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = _TOKENS + _STRUCTURES + _ASSIGNMENTS
