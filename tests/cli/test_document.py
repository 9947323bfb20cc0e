"""--json: every field by its name, sorted, one line, whatever the text is."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.cli.document import document, encode
from memprove.ledger.domain.events import RunKind, TestCounts


@dataclass(frozen=True, slots=True)
class Box:
    kind: RunKind
    inside: object


def test_fields_with_defaults_are_there_too() -> None:
    assert document(TestCounts(runner="pytest", passed=2)) == {
        "runner": "pytest",
        "source": "output",
        "passed": 2,
        "failed": 0,
        "errors": 0,
        "skipped": 0,
    }


def test_values_become_plain() -> None:
    inside = MappingProxyType({1: (Path("/a"), None), 2: [True, 1.5]})
    box = Box(RunKind.TEST, inside)
    assert encode(box) == b'{"inside":{"1":["/a",null],"2":[true,1.5]},"kind":"test"}\n'


@given(st.text(st.characters(codec=None, exclude_categories=[])))
def test_any_text_makes_one_line_that_reads_back(text: str) -> None:
    line = encode({"text": text})
    assert line.count(b"\n") == 1
    assert json.loads(line)["text"] == text


@pytest.mark.parametrize("text", ["\x7f", "\x9b31m", "\u202e", "\u2028", "\u200b", "\U000e0001"])
def test_what_a_terminal_would_obey_or_hide_is_escaped(text: str) -> None:
    line = encode({"text": f"a{text}bé🙂"})
    assert text not in line.decode()
    assert "é🙂" in line.decode()
    assert json.loads(line) == {"text": f"a{text}bé🙂"}
