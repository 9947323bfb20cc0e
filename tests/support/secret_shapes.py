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
}


def split(sample: str) -> tuple[str, str]:
    """Return the text of a positive and the secret in it."""
    before, _, rest = sample.partition("«")
    secret, _, after = rest.partition("»")
    return before + secret + after, secret
