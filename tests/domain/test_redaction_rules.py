"""What is asked of all rules: that nothing which spares work leaves a secret out."""

import re
from functools import cache

import pytest
from support.secret_samples import CHUNKS

from memprove.ledger.domain.redaction_rules import RULES
from memprove.ledger.domain.redaction_vocabulary import Keywords

KEYWORDS = Keywords(RULES)
_compiled = cache(re.compile)  # more patterns than re itself remembers


@pytest.mark.parametrize("texts", CHUNKS, ids=len)
def test_a_gate_lets_every_place_through_that_a_rule_confirms(texts: list[str]) -> None:
    for text in texts:
        _check_gates(text)


def _check_gates(text: str) -> None:
    data = text.encode()
    folded = data.lower()
    for rule in RULES:
        if rule.gate is None:
            continue
        for keyword in rule.keywords:
            searched = folded if rule.folded else data
            if keyword not in searched:
                continue
            kept = {match.start() for match in _compiled(rule.gate(keyword)).finditer(searched)}
            for found in _compiled(re.escape(keyword)).finditer(searched):
                if span := rule.locate(data, found.start()):
                    cut = data[slice(*span)].startswith(b"[REDACTED:")
                    assert cut or found.start() in kept, (rule.name, keyword)


@pytest.mark.parametrize("texts", CHUNKS, ids=len)
def test_the_vocabulary_of_a_text_holds_every_keyword_that_counts(texts: list[str]) -> None:
    for text in texts:
        _check_vocabulary(text)


def _check_vocabulary(text: str) -> None:
    data = text.encode()
    folded = data.lower()
    asked = {(rank, word) for rank, _, word in KEYWORDS.in_words(folded, [(0, len(data))])}
    for rank, rule in enumerate(RULES):
        for keyword in rule.keywords:
            searched = folded if rule.folded else data
            if keyword not in searched:
                continue
            found = _compiled(re.escape(keyword)).finditer(searched)
            if any(rule.locate(data, match.start()) for match in found):
                assert (rank, keyword) in asked, (rule.name, keyword)
