"""Labels, citations, and the brackets at the end of a fact."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.expected import problem
from support.texts import anything

from memprove.ledger.domain.labels import (
    Citation,
    parse_citation,
    parse_label,
    split_evidence,
    split_label,
)
from memprove.ledger.problems import Problem

numbers = st.integers(1, 999_999_999)
tests = st.from_regex(r"[^\s\[\]]{1,20}", fullmatch=True)
run_citations = st.builds(lambda n, t: Citation(f"r{n}", t), numbers, st.just("") | tests)
other_citations = st.builds(lambda c, n: Citation(f"{c}{n}"), st.sampled_from("cd"), numbers)
failed_citations = st.builds(lambda n: Citation(f"r{n}", failed=True), numbers)
citations = run_citations | other_citations | failed_citations


@given(citations)
def test_a_citation_reads_as_it_is_written(citation: Citation) -> None:
    assert parse_citation(str(citation)) == citation
    assert parse_citation(f"  {citation}\n") == citation
    assert citation.is_run == citation.label.startswith("r")


@pytest.mark.parametrize(
    ("text", "label", "test", "failed"),
    [
        ("r3", "r3", "", False),
        ("!r1", "r1", "", True),
        ("r3:tests/test_x.py::test_y[a]", "r3", "tests/test_x.py::test_y[a]", False),
        ("c2", "c2", "", False),
        ("d1", "d1", "", False),
    ],
)
def test_a_citation_names_a_label(text: str, label: str, test: str, failed: bool) -> None:
    assert parse_citation(text) == Citation(label, test, failed)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "r", "3", "r0", "r03", "r3 ", "R3", "x3", "o4", "w1", "t1", "s1", "ws1", "r3:"),
        *("r3:a b", "!c1", "!d1", "!r1:test", "!!r1", "c1:test", "r3,", "r3 r4", "r1234567890"),
        *("r٣", "r3\x00", "see r3", "r-3", "r3.0"),
    ],
)
def test_what_is_no_citation_is_refused(text: str) -> None:
    if text.strip() != text and text.strip():
        return
    with problem("label_invalid"):
        parse_citation(text)


@given(anything)
def test_any_text_is_a_citation_or_refused(text: str) -> None:
    with suppress(Problem):
        assert str(parse_citation(text)) == text.strip()


@given(st.sampled_from("rcodw"), numbers)
def test_a_label_may_be_given_as_its_number_alone(letter: str, number: int) -> None:
    others = letter + "rcodw".replace(letter, "")
    assert parse_label(f" {number} ", others) == f"{letter}{number}"
    assert parse_label(f"{letter}{number}", others) == f"{letter}{number}"


@pytest.mark.parametrize(
    "text",
    ["", "0", "c0", "01", "d1", "c", "cc1", "c1x", "-1", "١", "c1234567890", "!r1", "9" * 5000],
)
def test_what_is_no_label_of_the_wanted_letters_is_refused(text: str) -> None:
    with problem("label_invalid"):
        parse_label(text, "cr")


@given(st.sampled_from(["r", "c", "o", "d", "t", "s", "w", "ws"]), numbers)
def test_a_label_splits_into_letters_and_number(letters: str, number: int) -> None:
    assert split_label(f"{letters}{number}") == (letters, number)


@pytest.mark.parametrize("label", ["", "r", "7", "r0", "abc1", "R1", "r1\n", "r1234567890"])
def test_what_is_no_label_does_not_split(label: str) -> None:
    with problem("label_invalid"):
        split_label(label)


@pytest.mark.parametrize(
    ("text", "fact", "evidence"),
    [
        ("it works [r1]", "it works", ("r1",)),
        ("it works [r1 !r2,d1]  \n", "it works", ("r1", "!r2", "d1")),
        ("it works[r1:tests/a.py::t]", "it works", ("r1:tests/a.py::t",)),
        ("so [r1:t.py::x[a], r2:t.py::y[b,c]]", "so", ("r1:t.py::x[a]", "r2:t.py::y[b,c]")),
        ("a [b] c [r1]", "a [b] c", ("r1",)),
        ("a [r2] [r1]", "a [r2]", ("r1",)),
        ("[r1]", "", ("r1",)),
        ("it works", "it works", ()),
        ("it works []", "it works []", ()),
        ("it works [ ]", "it works [ ]", ()),
        ("it works [r1] now", "it works [r1] now", ()),
        ("it works [r1, see there]", "it works [r1, see there]", ()),
        ("it works [o1]", "it works [o1]", ()),
        ("it works [a[r1]]", "it works [a[r1]]", ()),
        ("it works r1]", "it works r1]", ()),
        ("it works [r1", "it works [r1", ()),
        ("x [[r1]", "x [", ("r1",)),
        ("x [r1:t]]", "x [r1:t]]", ()),
    ],
)
def test_the_last_group_counts_if_all_of_it_is_labels(
    text: str, fact: str, evidence: tuple[str, ...]
) -> None:
    assert split_evidence(text) == (fact, evidence)


@given(st.one_of(anything, st.text("[]r1!cd:, \n", max_size=30)))
@example("x  [r1]")
def test_no_text_is_lost(text: str) -> None:
    fact, evidence = split_evidence(text)
    if not evidence:
        assert fact == text
        return
    assert text.startswith(fact)
    group = text[len(fact) :].strip()
    assert (group[0], group[-1]) == ("[", "]")
    assert tuple(group[1:-1].replace(",", " ").split()) == evidence


@given(anything, st.lists(citations, min_size=1, max_size=4))
def test_what_is_written_at_the_end_is_read_as_evidence(text: str, cited: list[Citation]) -> None:
    if any(set("[],") & set(citation.test) for citation in cited):
        return
    words = tuple(map(str, cited))
    assert split_evidence(f"{text} [{' '.join(words)}]") == (text.rstrip(), words)


def test_a_long_text_of_blanks_is_read_at_once() -> None:
    text = " " * 300_000 + "x"
    assert split_evidence(text) == (text, ())
