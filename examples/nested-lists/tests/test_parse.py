"""Well-formed text becomes lists."""

import pytest
from nested_lists import MAX_DEPTH, Nested, parse


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[]", []),
        ("[7]", [7]),
        ("[1, 2, 3]", [1, 2, 3]),
        ("[1, [2, 3]]", [1, [2, 3]]),
        ("[[], [[]]]", [[], [[]]]),
        ("  [ -1 ,\n\t[ 002 ] ]  ", [-1, [2]]),
    ],
)
def test_text_becomes_a_list(text: str, read: Nested) -> None:
    assert parse(text) == read


def test_the_deepest_list_is_read() -> None:
    assert str(parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)).count("[") == MAX_DEPTH


def test_lists_side_by_side_are_not_deep() -> None:
    row = ", ".join(["[1]"] * 100)
    assert parse(f"[{row}]") == [[1]] * 100


def test_a_deep_list_leaves_room_for_the_next() -> None:
    half = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    assert len(parse(f"[{half}, {half}]")) == 2
