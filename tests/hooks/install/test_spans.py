"""JSON is read strictly, and each value where it stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_layouts import documents

from memprove.hooks.install.spans import DEEPEST, NotJson, Value, parse


def check_spans(text: str, value: Value) -> None:
    """Check that every value's span holds just that value."""
    for element in value.elements:
        inner = element if isinstance(element, Value) else element.value
        assert value.start < inner.start < inner.end < value.end
        json.loads(text[inner.start : inner.end])
        check_spans(text, inner)


@given(documents())
def test_what_python_reads_is_read_with_every_span(text: str) -> None:
    root = parse(text)
    expected = json.loads(text.removeprefix("\ufeff"))
    assert json.loads(text[root.start : root.end]) == expected
    assert [member.name for member in root.members] == list(expected)
    check_spans(text, root)


@given(st.text('{}[]":,\\u0dD8 \n/*-1e.truefalsn', max_size=30))
def test_what_is_read_python_reads_too(text: str) -> None:
    try:
        root = parse(text)
    except NotJson:
        return
    json.loads(text[root.start : root.end])


@given(st.text(max_size=40))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    try:
        parse(text)
    except NotJson as error:
        line = error.line
    else:
        line = 1
    assert line >= 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1: the text ends early"),
        ('{"a": 1', "line 1: a comma or } is missing"),
        ("[1 2]", "line 1: a comma or ] is missing"),
        ('{\n"a": 1,\n}', "line 2: a trailing comma, which JSON does not have"),
        ("[1,]", "line 1: a trailing comma, which JSON does not have"),
        ('{\n// so\n"a": 1}', "line 2: a comment, which JSON does not have"),
        ("[/* so */]", "line 1: a comment, which JSON does not have"),
        ('{"a": 1, "\\u0061": 2}', "line 1: the name 'a' for the second time"),
        ('{"x": {"a": 1, "a": 2}}', "line 1: the name 'a' for the second time"),
        ("{a: 1}", "line 1: a name in double quotes is missing"),
        ('{"a" 1}', "line 1: a colon is missing"),
        ('"\\ud800"', "line 1: half a surrogate pair"),
        ('"a\nb"', "line 1: a string that does not end in its line"),
        ('"\\x41"', "line 1: an escape that JSON does not have"),
        ('"\\', "line 1: an escape that JSON does not have"),
        ("{} {}", "line 1: something stands after the end"),
        ("NaN", "line 1: a value is missing"),
        ("01", "line 1: something stands after the end"),
        ("1" * 401, "line 1: a number of absurd length"),
        ("[" * (DEEPEST + 1), f"line 1: nested deeper than {DEEPEST}"),
        ("[" * 100_000, f"line 1: nested deeper than {DEEPEST}"),
        ("<<<<<<< ours\n{}", "line 1: a value is missing"),
        ("\ufeff\ufeff{}", "line 1: a value is missing"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(NotJson) as refused:
        parse(text)
    assert str(refused.value) == why


def test_two_escaped_halves_are_one_code_point() -> None:
    assert parse('"\\ud83d\\ude00"').text == "\U0001f600"
