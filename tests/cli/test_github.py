"""Workflow commands: the runner reads back what was meant, and stored text gives it no order."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memprove.cli import document
from memprove.cli.github import MOST, Annotation, annotations, defused, here

NOTICE = Annotation("memprove verify", "done")
_COMMAND = re.compile(r"::(error|notice) (.*?)::(.*)", re.S)


def read_as_a_runner_does(line: str) -> tuple[str, dict[str, str], str]:
    """Return what a runner makes of *line*: the command, its properties, its data."""
    match = _COMMAND.fullmatch(line)
    assert match is not None
    pairs = (pair.split("=", 1) for pair in match[2].split(","))
    properties = {name: unescaped(value, {"%3A": ":", "%2C": ","}) for name, value in pairs}
    return match[1], properties, unescaped(match[3], {})


def unescaped(text: str, more: dict[str, str]) -> str:
    for escape, char in {"%0D": "\r", "%0A": "\n", **more, "%25": "%"}.items():
        text = text.replace(escape, char)
    return text


@given(st.text(), st.text(), st.text(min_size=1))
def test_what_is_told_is_what_is_read(title: str, message: str, file: str) -> None:
    (error, _) = annotations([Annotation(title, message, file)], NOTICE)
    assert "\n" not in error
    assert "\r" not in error
    told = {"file": file, "title": title}
    assert read_as_a_runner_does(error) == ("error", told, message)


def test_no_more_than_a_runner_shows_are_made() -> None:
    errors = [Annotation(f"t{n}", "m") for n in range(MOST + 5)]
    lines = annotations(errors, NOTICE)
    assert len(lines) == MOST + 2 == 11
    assert lines[MOST:] == [
        "::error title=memprove verify::5 more",
        "::notice title=memprove verify::done",
    ]
    assert len(annotations(errors[:MOST], NOTICE)) == MOST + 1


def test_text_cannot_give_a_runner_an_order() -> None:
    assert defused(["so ##[add-mask]secret"]) == [r"so ##\x5badd-mask]secret"]
    line = document.encode({"a": "##[error]x"})
    assert line == b'{"a":"##\\u005berror]x"}\n'


def test_only_a_runner_of_github_is_one() -> None:
    assert here({"GITHUB_ACTIONS": "true"})
    assert not here({"GITHUB_ACTIONS": "false"})
    assert not here({})
