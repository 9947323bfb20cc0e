"""One member is put in, replaced or taken out, and no other byte changes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_layouts import PLAIN, documents

from memprove.hooks.install import splice
from memprove.hooks.install.spans import Value, parse


def plain(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def containers(value: Value) -> list[Value]:
    """Return all objects and arrays in *value*, itself too."""
    inner = [one if isinstance(one, Value) else one.value for one in value.elements]
    own = [value] if value.kind in ("object", "array") else []
    return own + [found for one in inner for found in containers(one)]


def put_in(text: str, parent: Value, value: Any) -> str:
    if parent.kind == "array":
        return splice.add_item(text, parent, value)
    return splice.add_member(text, parent, "ours", value)


@given(documents(), PLAIN, st.data())
def test_what_is_put_in_comes_last_and_every_other_byte_stays(
    text: str, value: Any, data: st.DataObject
) -> None:
    parent = data.draw(st.sampled_from(containers(parse(text))))
    after = put_in(text, parent, value)

    end = parent.elements[-1].end if parent.elements else parent.start + 1
    assert after.startswith(text[:end])
    assert after.endswith(text[parent.end - 1 :])
    found = next(one for one in containers(parse(after)) if one.start == parent.start)
    expected = json.loads(text[parent.start : parent.end])
    if parent.kind == "array":
        expected.append(value)
    else:
        expected["ours"] = value
    assert json.loads(after[found.start : found.end]) == expected


@given(documents(), PLAIN, st.data())
def test_taking_it_out_again_gives_the_old_bytes(
    text: str, value: Any, data: st.DataObject
) -> None:
    parent = data.draw(st.sampled_from(containers(parse(text))))
    after = put_in(text, parent, value)
    found = next(one for one in containers(parse(after)) if one.start == parent.start)
    assert splice.remove(after, found, len(found.elements) - 1) == text


@given(documents(least=1), st.data())
def test_any_element_can_be_taken_out(text: str, data: st.DataObject) -> None:
    parent = data.draw(st.sampled_from([one for one in containers(parse(text)) if one.elements]))
    index = data.draw(st.integers(0, len(parent.elements) - 1))
    after = splice.remove(text, parent, index)
    found = next(one for one in containers(parse(after)) if one.start == parent.start)
    expected = json.loads(text[parent.start : parent.end])
    del expected[list(expected)[index] if isinstance(expected, dict) else index]
    assert json.loads(after[found.start : found.end]) == expected


@given(documents(least=1), PLAIN, st.data())
def test_a_replaced_value_is_all_that_changes(text: str, value: Any, data: st.DataObject) -> None:
    member = data.draw(st.sampled_from(parse(text).members))
    after = splice.replace(text, member.value, value)
    assert after.startswith(text[: member.value.start])
    assert after.endswith(text[member.end :])
    assert plain(after) == {**plain(text), member.name: value}


ENTRY = {"a": 1, "b": ["x", "y"], "c": {"d": "e"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{}\n",
            '{\n  "ours": {\n    "a": 1,\n    "b": ["x", "y"],\n    "c": {\n      "d": "e"\n    }\n'
            "  }\n}\n",
        ),
        ('{"x":1}', '{"x":1,"ours":{"a":1,"b":["x","y"],"c":{"d":"e"}}}'),
        ('{"x": 1}', '{"x": 1, "ours": {"a": 1, "b": ["x", "y"], "c": {"d": "e"}}}'),
        (
            '{\n  "x": {"y": 1}\n}',
            '{\n  "x": {"y": 1},\n  "ours": {"a": 1, "b": ["x", "y"], "c": {"d": "e"}}\n}',
        ),
        (
            '{\r\n\t"x": 1\r\n}',
            '{\r\n\t"x": 1,\r\n\t"ours": {\r\n\t\t"a": 1,\r\n\t\t"b": ["x", "y"],\r\n'
            '\t\t"c": {\r\n\t\t\t"d": "e"\r\n\t\t}\r\n\t}\r\n}',
        ),
    ],
)
def test_what_is_put_in_looks_like_what_is_there(text: str, expected: str) -> None:
    assert splice.add_member(text, parse(text), "ours", ENTRY) == expected
