"""Limits: at one the text is taken, above it nothing is."""

import pytest
from hypothesis import given
from support.expected import problem
from support.texts import anything

from memprove.ledger.domain import limits


def test_a_text_at_its_limit_is_taken_and_one_above_is_not() -> None:
    limits.check_text("fact 1", "é" * 2_000, limits.STATEMENT)
    with problem("text_too_long", "fact 1 has 2001 characters, the limit is 2000"):
        limits.check_text("fact 1", "é" * 2_001, limits.STATEMENT)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003", "\x1f"])
def test_a_blank_text_is_missing_where_one_is_needed(text: str) -> None:
    with problem("argument_missing", "title"):
        limits.check_needed("title", text, limits.TITLE)
    limits.check_text("title", text, limits.TITLE)


@pytest.mark.parametrize("text", ["\ud800", "a\udc80b", "😀\udfff"])
def test_half_a_pair_is_no_text(text: str) -> None:
    with problem("text_invalid", "title"):
        limits.check_text("title", text, limits.TITLE)


def test_so_many_entries_and_no_more() -> None:
    limits.check_count("facts", ["f"] * 50)
    with problem("too_many", "facts has 51 entries, the limit is 50"):
        limits.check_count("facts", ["f"] * 51)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        (" a\n\tb ", "a b"),
        ("a\u00a0b", "a b"),
        ("\u212b", "\u00c5"),
    ],
)
def test_texts_that_differ_in_form_alone_are_equal(one: str, other: str) -> None:
    assert limits.folded(one) == limits.folded(other)


@pytest.mark.parametrize(("one", "other"), [("a", "A"), ("ab", "a b"), ("ﬁ", "fi"), ("a.", "a")])
def test_texts_that_differ_in_words_are_not_equal(one: str, other: str) -> None:
    assert limits.folded(one) != limits.folded(other)


@given(anything)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert limits.folded(limits.folded(text)) == limits.folded(text)
