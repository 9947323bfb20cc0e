"""Made-up secrets in the shapes that vendors and standards document, and what only looks like one.

A positive is a text with its secret between « and ». Tokens are put together at run time from a
seeded generator, so that no file holds one and no scanner takes this file for a leak.
"""

import base64
import random
import string
from typing import Final

generator = random.Random(20240229)
ALNUM: Final = string.ascii_letters + string.digits
URL: Final = ALNUM + "-_"
_BASE64: Final = ALNUM + "+/"
HEX: Final = "0123456789abcdef"


def make(alphabet: str, length: int) -> str:
    """Return random characters among which are a digit and a letter, the ends alphanumeric."""
    middle = "".join(generator.choice(alphabet) for _ in range(length - 4))
    return "a7" + middle + "3b"


def alnum(length: int) -> str:
    return make(ALNUM, length)


def url(length: int) -> str:
    return make(URL, length)


def hex(length: int) -> str:
    return make(HEX, length)


def upper(length: int) -> str:
    return make(string.ascii_uppercase + "234567", length).upper()


def base64_text(length: int) -> str:
    return make(_BASE64, length)


def segment(json: str) -> str:
    return base64.urlsafe_b64encode(json.encode()).decode().rstrip("=")


JWT: Final = ".".join(
    (segment('{"alg":"HS256","typ":"JWT"}'), segment('{"sub":"1234","exp":1700000000}'), url(43))
)
PEM_LINES: Final = [base64_text(64) for _ in range(6)]
DASHES: Final = "-" * 5


def pem(kind: str, lines: list[str], end: bool = True) -> str:
    head = f"{DASHES}BEGIN {kind}PRIVATE KEY{DASHES}"
    tail = f"{DASHES}END {kind}PRIVATE KEY{DASHES}"
    return "\n".join([head, *lines, *([tail] if end else [])])


TOKENS: Final[dict[str, str]] = {
    "memprove": "mpv" + "_" + hex(16) + "_" + url(43),
    "github classic": "gh" + "p_" + alnum(36),
    "github oauth": "gh" + "o_" + alnum(36),
    "github user": "gh" + "u_" + alnum(36),
    "github server": "gh" + "s_" + alnum(36),
    "github refresh": "gh" + "r_" + alnum(76),
    "github fine-grained": "github" + "_pat_" + alnum(22) + "_" + alnum(59),
    "gitlab": "gl" + "pat-" + url(20),
    "gitlab deploy": "gl" + "dt-" + url(20),
    "gitlab runner": "gl" + "rt-" + url(20),
    "aws key id": "AK" + "IA" + upper(16),
    "aws temporary key id": "AS" + "IA" + upper(16),
    "google api key": "AI" + "za" + url(35),
    "google oauth": "ya" + "29." + url(60),
    "google client": "GO" + "CSPX-" + url(28),
    "slack bot": "xo" + "xb-" + "123456789012-" + alnum(24),
    "slack user": "xo" + "xp-" + "123456789012-123456789012-" + hex(32),
    "slack app": "xa" + "pp-1-A0" + upper(9) + "-123456789-" + hex(40),
    "stripe": "sk" + "_live_" + alnum(24),
    "stripe restricted": "rk" + "_live_" + alnum(24),
    "stripe webhook": "wh" + "sec_" + alnum(32),
    "openai": "s" + "k-" + alnum(48),
    "openai project": "s" + "k-proj-" + url(64),
    "anthropic": "s" + "k-ant-api03-" + url(80),
    "huggingface": "h" + "f_" + alnum(34),
    "npm": "np" + "m_" + alnum(36),
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + url(60),
    "digitalocean": "do" + "p_v1_" + hex(64),
    "sendgrid": "S" + "G." + url(22) + "." + url(43),
    "twilio": "S" + "K" + hex(32),
    "docker": "dc" + "kr_pat_" + url(27),
    "shopify": "sh" + "pat_" + hex(32),
    "databricks": "da" + "pi" + hex(32),
    "grafana": "gl" + "sa_" + alnum(32) + "_" + hex(8),
    "postman": "PM" + "AK-" + hex(24) + "-" + hex(34),
    "linear": "lin" + "_api_" + alnum(40),
    "figma": "fi" + "gd_" + url(40),
    "vault": "hv" + "s." + url(90),
    "rubygems": "ruby" + "gems_" + hex(48),
    "groq": "gs" + "k_" + alnum(52),
    "age": "AGE-" + "SECRET-KEY-1" + upper(58),
    "jwt": JWT,
    "azure client secret": "a7B8" + "Q~" + alnum(34),
    "cloudflare": "cf" + "at_" + alnum(40),
    "terraform": alnum(14) + ".atlas" + "v1." + alnum(67),
    "pulumi": "pu" + "l-" + hex(40),
    "netlify": "nf" + "p_" + alnum(36),
    "vercel": "vc" + "p_" + alnum(56),
    "crates": "ci" + "o" + alnum(32),
    "clojars": "CLO" + "JARS_" + hex(60),
    "artifactory": "AK" + "Cp" + alnum(69),
    "circleci": "CCI" + "PAT_" + alnum(22) + "_" + hex(40),
    "buildkite": "bk" + "ua_" + hex(40),
    "square": "EA" + "AA" + url(60),
    "facebook": "EAA" + "C" + alnum(160),
    "facebook long-lived": "EAAC" + "EdEose0cBA" + alnum(60),
    "easypost": "EZ" + "AK" + alnum(54),
    "easypost test": "EZ" + "TK" + alnum(54),
    "hubspot": "pat-" + "na1-" + "-".join(hex(n) for n in (8, 4, 4, 4, 12)),
    "airtable": "pa" + "t" + alnum(14) + "." + hex(64),
    "dropbox": "s" + "l." + url(135),
    "dropbox user": "s" + "l.u." + url(135),
    "notion old": "sec" + "ret_" + alnum(43),
    "notion": "nt" + "n_" + alnum(46),
    "asana": "1" + "/" + "1204567890123456" + ":" + hex(32),
    "asana new": "2" + "/" + "1204567890123456/1204567890123457" + ":" + hex(32),
    "tailscale": "ts" + "key-auth-" + alnum(12) + "CNTRL-" + alnum(32),
    "dynatrace": "dt0" + "c01." + upper(24) + "." + upper(64),
    "1password": "op" + "s_eyJ" + alnum(300) + "=",
}


def split(sample: str) -> tuple[str, str]:
    """Return the text of a positive and the secret in it."""
    before, _, rest = sample.partition("«")
    secret, _, after = rest.partition("»")
    return before + secret + after, secret
