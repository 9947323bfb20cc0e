"""How a value may follow the name of a secret: after ``=``, in JSON, as an argument, in prose."""

import re
from dataclasses import dataclass
from typing import Final

from memprove.ledger.domain.lazy import lazily

_QUOTED: Final = (
    rb"(?:[bfru@]{0,2}|\$|(?:Some|Just|Ok|Optional|Secret(?:Str|String)?|String|Zeroizing)\()"
    rb"(?P<q>\\{0,3}[\"'`])(?P<quoted>(?:(?!(?P=q))(?:\\.|[^\n\\]|\\)){1,2048})"
)
_PLAIN: Final = rb"(?P<plain>[^\s\"'`<>]{1,128})"
_VALUE: Final = rb"(?:" + _QUOTED + rb"|" + _PLAIN + rb")"
_CLOSING: Final = rb"\\{0,3}[\"'`*\]]{0,3}"


@dataclass(frozen=True, slots=True)
class Form:
    """How a value may follow a name; *sure* forms hold nothing but a secret."""

    pattern: re.Pattern[bytes]
    sure: bool = False
    prose: bool = False
    needs_digit: bool = False


PAIR: Final = Form(
    # {"name": "DB_PASSWORD", "value": "…"}, <add key="Password" value="…"/>, and in YAML
    lazily(
        rb"(?:[\"'][ \t]{0,4}\{[^{}]{0,200}?default[ \t]{0,16}=[ \t]{0,4}"  # of Terraform
        rb"|[\"']\s{0,4}:\s{0,16}\{\s{0,32}[\"']value[\"']\s{0,4}:\s{0,4}"
        rb"|[\"']?(?:[ \t]{0,8},[ \t]{0,8}|[ \t]{1,8}|[ \t]{0,8},?\r?\n[ \t]{0,16})"
        rb"[\"']?(?i:value)[\"']?"
        rb"[ \t]{0,4}[:=][ \t]{0,4})" + _VALUE
    ),
    sure=True,
)
ASSIGNED: Final = Form(
    lazily(
        _CLOSING
        + rb"[ \t]{0,16}(?:=>|:=|\?=|<-|=(?![=~>])|:(?!:)|\xef\xbc\x9a|\xef\xbc\x9d)"
        + rb"\*{0,2}(?:[ \t]{0,16}|\s{1,16}(?=string\())"
        + rb"(?:!!?\w{1,16}[ \t]+|string\([0-9]{1,5}\)[ \t]+)?"
        + _VALUE
    )
)
LISTED: Final = Form(
    lazily(rb"\\?[\"'][ \t]{0,4},[ \t]{0,4}" + _QUOTED + rb"(?P<plain>)"), needs_digit=True
)
ELEMENT: Final = Form(
    lazily(rb"(?:\s[^<>\n]{0,80})?>(?P<quoted>)(?P<plain>[^<>\n]{1,255})</"), sure=True
)
NAMED_ELEMENT: Final = Form(  # <string name="api_key">…</string>, <key>Token</key><string>…
    lazily(
        rb"(?:[\"'](?:\s[^<>\n]{0,80})?>|</key>\s{0,16}<string>)(?P<quoted>)"
        rb"(?P<plain>[^<>\s]{4,255})</"
    )
)
FLAG: Final = Form(lazily(rb"(?:[ \t]{1,4}|,[ \t]{0,4})" + _VALUE), sure=True)
CALLED: Final = Form(  # setPassword("…"), SecretString::new("…"), PASSWORD('…')
    lazily(rb"(?:::(?:new|from))?\([ \t]{0,4}" + _QUOTED + rb"(?P<plain>)(?P=q)[ \t]{0,4}[,).]"),
    needs_digit=True,
)
_ENCODED_QUOTE: Final = rb"(?:%(?:25)?2[27]|&quot;|&#0?3[49];|&#x2[27];|\\u002[27])"
ENCODED: Final = Form(  # in a query, in HTML: %22password%22%3A%22…%22, password%3D…%26
    lazily(
        rb"(?:"
        + _ENCODED_QUOTE
        + rb"(?:%3[AaDd]|[:=])|%3[AaDd])(?:%20|\+| )?"
        + _ENCODED_QUOTE
        + rb"?(?P<quoted>)"
        rb"(?P<plain>(?:[A-Za-z0-9_.~!*/+@$^-]|%(?!2[2670c]|0[Aa]|7[Dd])[0-9A-Fa-f]{2}){3,128})"
    ),
    sure=True,
)
_WHOSE: Final = (
    rb"(?:[ \t]+(?:for|of|on|untuk|f\xc3\xbcr|de|del|da|di|du|van|para|pour|voor)"
    rb"(?:[ \t]+[\w@./-]{1,40}){1,3}?"
    rb"|[ \t]+(?:saya|kamu|anda|baru|barunya|lama|database|db|akun|admin|root|user))?"
)
SENTENCE: Final = Form(
    lazily(
        rb"(?i)" + _WHOSE + rb"(?:[ \t]+(?:(?:(?:has|have)[ \t]+been|was|is|got|now)[ \t]+)?"
        rb"(?:(?:set|changed|reset|updated|rotated)[ \t]+)?(?:from[ \t]\S{1,64}[ \t])?to"
        rb"|(?:[ \t]+(?:is|was|are|adalah|ialah|yaitu|ist|lautet"
        rb"|es|est|\xc3\xa8|\xc3\xa9|jest|er)|'s)"
        rb"(?:[ \t]+(?:now|still))?"
        rb"|[ \t]+(?:->|=|\|)|:):?[ \t]+" + _VALUE
    ),
    prose=True,
)
TYPED: Final = Form(  # token: String = "…" of Rust, TypeScript, Kotlin, Python
    lazily(rb"[ \t]{0,4}:[ \t]{0,4}[\w<>&'.\[\]|? ]{1,40}=[ \t]{0,4}" + _QUOTED + rb"(?P<plain>)")
)
BESIDE: Final = Form(
    lazily(rb"(?i)(?:[ \t]+(?:saya|baru|barunya))?[ \t]{1,4}" + _VALUE),
    prose=True,
    needs_digit=True,
)

FILLED: Final = Form(  # typed into a field, handed to a test: .type("…"), with: "…", { "…" }
    lazily(
        rb"[\]'\")}]{0,4}(?:\.(?:type|fill|send_?[kK]eys|set_?[vV]alue|enter_?[tT]ext|input)\("
        rb"[ \t]{0,4}"
        rb"|[ \t]{0,4},[ \t]{0,4}(?:with:[ \t]{0,4}|\[[ \t]{0,4})?|[ \t]{0,4}\{[ \t]{0,4})"
        + _QUOTED
        + rb"(?P<plain>)"
    ),
    needs_digit=True,
)
