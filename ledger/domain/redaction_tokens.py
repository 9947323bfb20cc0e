"""Tokens that begin with a vendor's documented prefix."""

import re
from typing import Final

from memprove.ledger.domain.redaction_rule import BROKEN, Gate, Locate, Rule, Span, pattern


def _has_digit(word: bytes) -> bool:
    return re.search(rb"[0-9]", word) is not None


def _token(
    name: str, keywords: str, rest: bytes, *, prose: bool = False, least: int = 0, lead: int = 0
) -> Rule:
    """Return the rule of a vendor's token: one of *keywords* at the start of a word, then *rest*.

    *prose* marks prefixes that also begin ordinary words: there the token must hold a digit.
    *least* alphanumeric characters follow the keyword, which is asked before *rest* is compiled.
    *lead* characters of the token stand before the keyword: letters, digits, ``_~.-``.
    """
    before = rb"[A-Za-z0-9_-]" if prose else rb"[A-Za-z0-9]"
    first = rb"(?<=[A-Za-z0-9_~.-]{%d})" % lead if lead else rb"(?<!%s)" % before
    literals = tuple(word.encode() for word in keywords.split())
    union = b"|".join(map(re.escape, literals))
    locate = pattern(rb"%s(?:%s)%s" % (first, union, rest), _has_digit if prose else None)
    if least or lead:
        locate = _opening(locate, literals, least, lead)
    gate = _gate(b"" if lead else before, rest)
    return Rule(name, literals, locate, wraps=not lead, gate=gate, at_start=not lead)


def _opening(locate: Locate, literals: tuple[bytes, ...], least: int, lead: int) -> Locate:
    longest = max(map(len, literals))

    def located(text: bytes, at: int) -> Span | None:
        opening = text[at + longest : at + longest + least]
        if least and not (len(opening) == least and opening.isalnum()):
            return None
        span = locate(text, at)
        return span and (span[0] - lead, span[1])

    return located


def _gate(before: bytes, rest: bytes) -> Gate:
    """Return the gate that asks for a word's start in front of the keyword, and *rest* behind."""

    def gate(keyword: bytes) -> bytes:
        literal = re.escape(keyword)
        start = rb"(?<!%s[\s\S]{%d})" % (before, len(keyword)) if before else b""
        return rb"%s%s(?=%s|%s)" % (literal, start, rest, BROKEN)

    return gate


TOKENS: Final = (
    # This product: an id of 16 hexadecimal digits and the secret, base64url.
    _token("memprove-token", "mpv_", rb"[0-9a-f]{16}_[A-Za-z0-9_-]{16,}"),
    # Forges
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rb"[A-Za-z0-9_]{20,}", prose=True),
    _token("github-token", "github_pat_", rb"[A-Za-z0-9_]{20,}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glagent- glimt- glffct- gloas-",
        rb"[A-Za-z0-9_.-]{16,}",
    ),
    _token("gitlab-token", "GR1348941", rb"[A-Za-z0-9_-]{16,}"),
    _token("bitbucket-token", "BBDC-", rb"[A-Za-z0-9+/]{40,}"),
    _token("bitbucket-token", "ATBB", rb"[A-Za-z0-9]{24,}", prose=True),
    _token("atlassian-token", "ATATT3 ATCTT3", rb"[A-Za-z0-9_=-]{40,}"),
    _token("trello-token", "ATTA", rb"[a-f0-9]{64}[A-Fa-f0-9]{8}(?![A-Za-z0-9])", least=64),
    # Clouds
    _token("aws-bedrock-key", "ABSK", rb"[A-Za-z0-9+/]{90,}={0,2}"),
    _token("aws-key-id", "AKIA ASIA ABIA ACCA", rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("google-api-key", "AIza", rb"[A-Za-z0-9_-]{30,}"),
    _token("google-oauth", "ya29. GOCSPX- 1//0", rb"[A-Za-z0-9_-]{20,}"),
    _token("firebase-key", ":APA91b", rb"[A-Za-z0-9_-]{120,}", lead=11),
    _token("azure-key", "JQQJ99", rb"[A-Za-z0-9]{18}[A-Za-z0-9+/]{4}[A-Za-z0-9]{4,8}", lead=52),
    _token("azure-key", "+A", rb"(?:St|MC|CR|Sb|Eh|Rm)[A-Za-z0-9+/]{4,8}={1,2}", lead=76),
    _token("cloudflare-origin-key", "v1.0-", rb"[a-f0-9]{24}-[a-f0-9]{100,}"),
    _token("neon-key", "napi_", rb"[a-z0-9]{40,}"),
    _token("scaleway-key-id", "SCW", rb"[A-Z0-9]{17}(?![A-Za-z0-9])", prose=True),
    _token("yandex-key", "AQVN t1.9eu", rb"[A-Za-z0-9_-]{35,}", prose=True),
    _token("oracle-token", "ocid1.auth", rb"[a-z]{0,12}\.oc1\.[a-z0-9.-]{20,}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rb"[a-f0-9]{32,}"),
    _token("alibaba-key-id", "LTAI", rb"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])", prose=True),
    _token("databricks-token", "dapi", rb"[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    _token("supabase-key", "sbp_ sb_secret_", rb"[A-Za-z0-9_-]{20,}", prose=True),
    _token("planetscale-token", "pscale_", rb"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}"),
    _token("azure-secret", "Q~", rb"(?<=[0-9]Q~)[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])", lead=4),
    _token("cloudflare-token", "cfat_ cfut_ cfk_", rb"[A-Za-z0-9_-]{40,}", prose=True),
    _token("terraform-token", ".atlasv1.", rb"[A-Za-z0-9_=-]{60,70}(?![A-Za-z0-9_=-])", lead=14),
    _token("pulumi-token", "pul-", rb"[a-f0-9]{40}(?![A-Za-z0-9])", prose=True, least=40),
    _token("netlify-token", "nfp_ nfc_", rb"[A-Za-z0-9]{36,}(?![A-Za-z0-9_])", least=36),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rb"[A-Za-z0-9]{24,}", prose=True),
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
    _token("nvidia-key", "nvapi-", rb"[A-Za-z0-9_-]{40,}"),
    _token("pinecone-key", "pcsk_", rb"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}"),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", rb"[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("langfuse-key", "sk-lf- pk-lf-", rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _token("tavily-key", "tvly-", rb"(?:dev-|prod-)?[A-Za-z0-9]{24,}"),
    _token("fireworks-key", "fw_", rb"[A-Za-z0-9]{20,}", prose=True),
    _token("firecrawl-key", "fc-", rb"[a-f0-9]{32}(?![A-Za-z0-9])"),
    _token("anyscale-key", "esecret_ essecret_", rb"[a-z0-9]{24,}", prose=True),
    _token("cerebras-key", "csk-", rb"[a-z0-9]{40,}", prose=True),
    _token("elevenlabs-key", "sk_", rb"[a-f0-9]{48}(?![A-Za-z0-9])", least=48),
    _token("jina-key", "jina_", rb"[A-Za-z0-9_-]{40,}", prose=True),
    _token("voyage-key", "pa-", rb"[A-Za-z0-9_-]{40,}", prose=True, least=8),
    _token("e2b-key", "e2b_", rb"[a-f0-9]{40}"),
    _token("runpod-key", "rpa_", rb"[A-Z0-9a-z]{36,}"),
    _token("modal-key", "ak- as-", rb"[A-Za-z0-9]{22}(?![A-Za-z0-9_-])", prose=True, least=22),
    _token("wandb-key", "wandb_v1_", rb"[A-Za-z0-9_-]{40,}"),
    # Packages
    _token("npm-token", "npm_", rb"[A-Za-z0-9]{30,}(?![A-Za-z0-9_])"),
    _token("pypi-token", "pypi-AgE", rb"[A-Za-z0-9_-]{16,}"),
    _token("crates-token", "cio", rb"[A-Za-z0-9]{32}(?![A-Za-z0-9_-])", prose=True, least=32),
    _token("clojars-token", "CLOJARS_", rb"[a-z0-9]{60}(?![A-Za-z0-9])"),
    _token("artifactory-key", "AKCp", rb"[A-Za-z0-9]{60,80}(?![A-Za-z0-9_+/=-])", least=60),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", rb"[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    _token("buildkite-token", "bkua_", rb"[a-f0-9]{40}(?![A-Za-z0-9])"),
    _token("rubygems-key", "rubygems_", rb"[a-f0-9]{40,}"),
    _token("nuget-key", "oy2", rb"[a-z0-9]{43}(?![A-Za-z0-9])"),
    _token("docker-token", "dckr_pat_ dckr_oat_", rb"[A-Za-z0-9_-]{20,}"),
    # Payment, messages, services
    _token("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", rb"[A-Za-z0-9]{16,}"),
    _token("stripe-webhook", "whsec_", rb"[A-Za-z0-9+/=]{24,}"),
    _token("shopify-token", "shpat_ shpss_ shpca_ shppa_", rb"[a-fA-F0-9]{32}"),
    _token("square-token", "EAAA", rb"[A-Za-z0-9_-]{60}(?![A-Za-z0-9_+/=-])", prose=True),
    _token("facebook-token", "EAAC EAAM EAAG", rb"[A-Za-z0-9]{80,}(?![A-Za-z0-9_+/=-])"),
    _token("facebook-token", "EAACEdEose0cBA", rb"[A-Za-z0-9]{20,}"),
    _token("easypost-key", "EZAK EZTK", rb"[A-Za-z0-9]{54}(?![A-Za-z0-9])", least=54),
    _token(
        "hubspot-token",
        "pat-na pat-eu pat-ap",
        rb"[0-9]-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![A-Za-z0-9])",
    ),
    _token("airtable-token", "pat", rb"[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![A-Za-z0-9])", least=14),
    _token("dropbox-token", "sl.", rb"(?:u\.)?[A-Za-z0-9_-]{100,}", prose=True),
    _token("square-token", "sq0atp- sq0csp-", rb"[A-Za-z0-9_-]{22,}"),
    _token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxc- xoxd- xoxe xoxr- xoxs- xapp- xwfp-",
        rb"[A-Za-z0-9.-]{10,}",
    ),
    _token("brevo-key", "xkeysib- xsmtpsib-", rb"[a-f0-9]{64}-[A-Za-z0-9]{12,}"),
    _token("resend-key", "re_", rb"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])", prose=True),
    _token("razorpay-key", "rzp_live_ rzp_test_", rb"[A-Za-z0-9]{14}(?![A-Za-z0-9])"),
    _token("flutterwave-key", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-", rb"[a-fA-F0-9]{12,}(?:-X)?"),
    _token(
        "plaid-token",
        "access-production- access-sandbox- access-development-",
        rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    _token("paypal-token", "access_token$production$ access_token$sandbox$", rb"[a-z0-9$]{40,}"),
    _token("adyen-key", "AQE", rb"[A-Za-z0-9+/=_-]{80,}", least=8),
    _token("mailgun-key", "key-", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("sendgrid-key", "SG.", rb"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _token("twilio-key", "SK", rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("grafana-token", "glsa_ glc_", rb"[A-Za-z0-9_+/=-]{32,}"),
    _token("newrelic-key", "NRAK-", rb"[A-Z0-9]{27}"),
    _token("postman-key", "PMAK-", rb"[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("linear-key", "lin_api_", rb"[A-Za-z0-9]{32,}"),
    _token("notion-token", "secret_", rb"[A-Za-z0-9]{43}(?![A-Za-z0-9_])", prose=True),
    _token("notion-token", "ntn_", rb"[A-Za-z0-9]{40,}"),
    _token("figma-token", "figd_", rb"[A-Za-z0-9_-]{32,}"),
    _token(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        rb"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
    ),
    _token("sonar-token", "sqp_ squ_ sqa_", rb"[a-f0-9]{40}"),
    _token("posthog-key", "phx_ phs_", rb"[A-Za-z0-9]{40,}"),
    _token("honeycomb-key", "hcaik_ hcbik_ hcamk_", rb"[A-Za-z0-9]{26,}"),
    _token("newrelic-key", "NRII- NRIQ- NRJS- NRSP- NRRA-", rb"[A-Za-z0-9_-]{19,}"),
    _token("dbt-token", "dbtc_ dbtu_", rb"[A-Za-z0-9_-]{36,}"),
    _token("prefect-key", "pnu_ pnb_", rb"[A-Za-z0-9]{36}"),
    _token("typeform-token", "tfp_", rb"[A-Za-z0-9_-]{40,}"),
    _token("contentful-token", "CFPAT-", rb"[A-Za-z0-9_-]{40,}"),
    _token("readme-key", "rdme_", rb"[a-z0-9]{60,}"),
    _token("sourcegraph-token", "sgp_ slk_", rb"(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40,}"),
    _token("octopus-key", "API-", rb"[A-Z0-9]{25,32}(?![A-Za-z0-9-])", prose=True),
    _token("defined-token", "dnkey-", rb"[A-Za-z0-9]{26}-[A-Za-z0-9]{40,}"),
    _token("launchdarkly-key", "sdk- mob- api-", rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _token("mapbox-token", "sk.eyJ", rb"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    _token("jfrog-token", "cmVmdGtu", rb"[A-Za-z0-9]{40,}"),
    _token("twitch-token", "oauth:", rb"[a-z0-9]{30}(?![A-Za-z0-9])", prose=True),
    _token("atlas-secret", "mdb_sa_sk_", rb"[A-Za-z0-9_-]{30,}"),
    _token("clickup-token", "pk_", rb"[0-9]{6,9}_[A-Z0-9]{32}"),
    _token("harness-token", "pat.", rb"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _token("scalingo-token", "tk-us-", rb"[A-Za-z0-9_-]{48}"),
    _token("render-key", "rnd_", rb"[A-Za-z0-9]{24,}", prose=True),
    _token("kaggle-token", "KGAT_", rb"[a-f0-9]{32}"),
    _token("huggingface-token", "api_org_", rb"[A-Za-z0-9]{30,}"),
    _token("wallet-key", "xprv yprv zprv tprv", rb"[1-9A-HJ-NP-Za-km-z]{90,}"),
    _token("minisign-key", "RWRTY0Iy", rb"[A-Za-z0-9+/]{100,}={0,2}"),
    _token("sentry-token", "sntrys_ sntryu_", rb"[A-Za-z0-9_+/=-]{40,}"),
    _token(
        "asana-token",
        "1/ 2/",
        rb"[0-9]{12,20}(?:/[0-9]{12,20})?:[a-f0-9]{32}(?![A-Za-z0-9])",
        prose=True,
        least=12,
    ),
    _token(
        "tailscale-key",
        "tskey-",
        rb"(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?",
    ),
    _token(
        "dynatrace-token",
        "dt0c01. dt0s01. dt0s02. dt0s03. dt0s04. dt0s06. dt0s08. dt0s16.",
        rb"[A-Z2-7]{8,24}\.[A-Z2-7]{64}(?![A-Za-z0-9])",
    ),
    _token("onepassword-token", "ops_eyJ", rb"[A-Za-z0-9+/_-]{60,}={0,3}"),
    _token("vault-token", "hvs. hvb. hvr.", rb"[A-Za-z0-9_-]{24,}"),
    _token("vault-token", "s.", rb"[A-Za-z0-9]{24}(?![A-Za-z0-9_.-])", prose=True, least=24),
    _token("age-key", "AGE-SECRET-KEY-1", rb"[A-Z0-9]{40,}"),
)
