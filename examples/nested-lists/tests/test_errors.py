"""What is no nested list is refused, with the column."""

import pytest
from nested_lists import MAX_DEPTH, ParseError, parse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column 1: expected '[', found the end"),
        ("5", "column 1: expected '[', found '5'"),
        ("[1] 2", "column 5: expected the end, found '2'"),
        ("[1 2]", "column 4: expected ',' or ']', found '2'"),
        ("[1,]", "column 4: expected a number or a list, found ']'"),
        ("[1, x]", "column 5: 'x' has no meaning here"),
    ],
)
def test_a_fault_is_told_with_its_column(text: str, said: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == said


def test_one_list_too_deep_is_refused_where_it_opens() -> None:
    with pytest.raises(ParseError, match=f"column {MAX_DEPTH + 1}: lists are more than"):
        parse("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
