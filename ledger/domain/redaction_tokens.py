"""Tokens that begin with a vendor's documented prefix."""

import re
from typing import Final

from memprove.ledger.domain.redaction_rule import Rule, pattern


def _has_digit(word: bytes) -> bool:
    return re.search(rb"[0-9]", word) is not None


def _token(name: str, keywords: str, rest: bytes, *, prose: bool = False) -> Rule:
    """Return the rule of a vendor's token: one of *keywords* at the start of a word, then *rest*.

    *prose* marks prefixes that also begin ordinary words: there the token must hold a digit.
    """
    before = rb"[A-Za-z0-9_-]" if prose else rb"[A-Za-z0-9]"
    literals = tuple(word.encode() for word in keywords.split())
    union = b"|".join(map(re.escape, literals))
    locate = pattern(rb"(?<!%s)(?:%s)%s" % (before, union, rest), _has_digit if prose else None)
    return Rule(name, literals, locate, wraps=True)


TOKENS: Final = (
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
