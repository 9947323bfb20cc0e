"""The canonical form: another encoder agrees with it, and everything outside it is refused."""

import json
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from memprove.ledger.domain import canonical
from memprove.ledger.domain.canonical import MAX_DEPTH, MAX_INT, NotCanonical

keys = st.from_regex(r"[a-z0-9_]{1,64}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=30
)


class Two(msgspec.Struct, omit_defaults=True):
    """A value whose fields are not in order."""

    zeta: str
    alpha: tuple[int, ...] = ()


def nested(depth: int, inner: str = "") -> bytes:
    return ("[" * depth + inner + "]" * depth).encode()


@given(values)
def test_the_bytes_are_those_of_rfc_8785(value: object) -> None:
    assert canonical.encode(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(values)
def test_what_was_encoded_is_in_canonical_form_and_decodes_to_itself(value: object) -> None:
    data = canonical.encode(value)
    canonical.check(data)
    assert json.loads(data) == value


@given(values)
def test_any_other_spelling_of_a_value_is_not_canonical(value: object) -> None:
    spelled = json.dumps(value, indent=1).encode()
    if spelled != canonical.encode(value):
        with pytest.raises(NotCanonical):
            canonical.check(spelled)


@given(st.binary(max_size=200))
def test_any_bytes_are_canonical_or_refused(data: bytes) -> None:
    try:
        canonical.check(data)
    except NotCanonical:
        return
    assert rfc8785.dumps(json.loads(data)) == data


def test_fields_are_sorted_and_defaults_left_out() -> None:
    assert canonical.encode(Two(zeta="z")) == b'{"zeta":"z"}'
    assert canonical.encode(Two(zeta="z", alpha=(2, 1))) == b'{"alpha":[2,1],"zeta":"z"}'


def test_control_characters_are_escaped_as_jcs_says() -> None:
    assert canonical.encode('\b\t\n\f\r\x00\x1f\x7f"\\/é\u2028') == (
        '"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\\"\\\\/é\u2028"'.encode()
    )


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        0.5,
        float("nan"),
        float("inf"),
        MAX_INT + 1,
        -MAX_INT - 1,
        2**64,
        10**400,
        "\ud800",
        "a\udfffb",
        {"a": "\udc80"},
        {"A": 1},
        {"": 1},
        {"é": 1},
        {"a-b": 1},
        {"a b": 1},
        {"a\n": 1},
        {"a" * 65: 1},
        {1: 2},
        [1, [2.5]],
    ],
    ids=repr,
)
def test_a_value_outside_the_profile_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical.encode(value)


@pytest.mark.parametrize("value", [MAX_INT, -MAX_INT, 0, "", [], {}, "a" * 5_000, {"a" * 64: None}])
def test_a_value_at_the_edge_of_the_profile_is_taken(value: object) -> None:
    canonical.check(canonical.encode(value))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"1.0",
        b"1e2",
        b"-0",
        b"NaN",
        b"Infinity",
        b"01",
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        b'{"a":1}\n',
        b"\xef\xbb\xbf1",
        b'"\\u0041"',
        b'"\\/"',
        b'"\\ud800"',
        b'"\xed\xa0\x80"',
        b'"\xff"',
        '"a"'.encode("utf-16"),
        b"9007199254740992",
        b"1" * 5_000,
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:20]),
)
def test_bytes_outside_the_profile_are_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        canonical.check(data)


@pytest.mark.parametrize("inner", ["", "1"])
def test_a_value_may_be_nested_as_deep_as_the_profile_says_and_no_deeper(inner: str) -> None:
    canonical.check(nested(MAX_DEPTH, inner))
    for depth in (MAX_DEPTH + 1, MAX_DEPTH + 2, 500, 900, 5_000):
        with pytest.raises(NotCanonical):
            canonical.check(nested(depth, inner))


def test_a_value_that_is_nested_without_end_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotCanonical):
        canonical.encode(value)
