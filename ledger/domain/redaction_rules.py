r"""What a secret looks like: one table of the formats that vendors and standards document.

A rule is found in two steps. Its *keyword*, a literal, is looked for with ``bytes.find``; only
there its *pattern* is matched, anchored at the keyword, so ordinary output costs substring searches
and no regular expression. Another engine may replace the first step (the keywords are literals):
the second decides alone. Patterns end in one greedy class or have bounded repeats, so that a
hostile line costs linear time. The span to cut is the group ``secret`` of a
pattern, else the whole match.

Order is precedence: where two rules overlap, the first in the table names what was cut.
"""

import re
from typing import Final

from memprove.ledger.domain.redaction_assignments import KEYWORDS, gate, locate_assignment
from memprove.ledger.domain.redaction_commands import COMMAND_LINES
from memprove.ledger.domain.redaction_pem import PRIVATE_KEYS
from memprove.ledger.domain.redaction_protocols import PROTOCOLS
from memprove.ledger.domain.redaction_random import RANDOM
from memprove.ledger.domain.redaction_rule import Rule, pattern
from memprove.ledger.domain.redaction_structures import STRUCTURES
from memprove.ledger.domain.redaction_tokens import TOKENS
from memprove.ledger.domain.redaction_values import is_opaque

# "password" as people write it in other scripts, and what may stand before the value.
_PASSWORD_WORDS: Final = tuple(
    word.replace("_", " ").encode()
    for word in [
        "密码",
        "密碼",
        "口令",
        "密钥",
        "密鑰",
        "パスワード",
        "비밀번호",
        "암호",
        "пароль",
        "пароля",
        "пароли",
        "contraseña",
        "hasło",
        "şifre",
        "lösenord",
        "κωδικός",
        "סיסמה",
        "كلمة_المرور",
        "पासवर्ड",
        "รหัสผ่าน",
        "jelszó",
        "mật_khẩu",
    ]
)
_WHOSE: Final = rb"(?:[ \t][^\s:=]{1,64}){0,2}?"
_IS: Final = (
    "(?:[ \\t]{0,4}(?:是|为|為|は|:|：|=|＝|-|—|(?:es|est|è|é|jest|är|là|это|είναι) ))".encode()
)

_ASSIGNMENTS: Final = (
    Rule(
        "secret-value",
        _PASSWORD_WORDS,
        pattern(
            rb"(?:" + b"|".join(_PASSWORD_WORDS) + rb")" + _WHOSE + _IS + rb"{1,2}[ \t]{0,4}"
            rb"(?:\xe2\x80\x9c|\xe3\x80\x8c|[\"'`])?"
            rb"(?P<secret>[\x21\x23-\x26\x28-\x5f\x61-\x7e]{4,128})",
            lambda word: is_opaque(word) or re.fullmatch(rb"[0-9]{4,12}", word) is not None,
        ),
    ),
    Rule(
        "secret-value",
        _PASSWORD_WORDS,
        pattern(
            rb"(?:" + b"|".join(_PASSWORD_WORDS) + rb")[ \t]{1,4}[\"'`]?"
            rb"(?P<secret>[\x21\x23-\x26\x28-\x5f\x61-\x7e]{6,128})",
            is_opaque,
        ),
    ),
    Rule(
        "secret-value",
        tuple(KEYWORDS),
        locate_assignment,
        folded=True,
        wraps=True,
        gate=gate,
    ),
)

RULES: Final[tuple[Rule, ...]] = (
    *TOKENS,
    *PRIVATE_KEYS,
    *STRUCTURES,
    *_ASSIGNMENTS,
    *PROTOCOLS,
    *COMMAND_LINES,
    *RANDOM,
)
"""All rules, in the order of precedence."""
