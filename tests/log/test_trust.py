"""Trust files: which key speaks for which log."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from msgspec.structs import replace
from support.expected import problem
from support.texts import anything

from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.trust import format_pin, format_trust, parse_trust, pinned, read_pins
from memprove.ledger.problems import Problem
from memprove.ledger.tlog.note import Signer, format_vkey

ROOT = "cnJycnJycnJycnJycnJycnJycnJycnJycnJycnJycnI="
ONE, TWO = "memprove.local/one", "example.com/a/b"
KEY = {origin: Pin(Signer(origin, origin.encode().ljust(32)).verifier) for origin in (ONE, TWO)}
VKEY = {origin: format_vkey(pin.verifier) for origin, pin in KEY.items()}


def test_what_was_formatted_is_parsed() -> None:
    assert parse_trust(format_trust(ONE, VKEY[ONE])) == {ONE: KEY[ONE]}


@pytest.mark.parametrize("first", [1, 7])
@pytest.mark.parametrize("until", [None, (9, b"r" * 32)])
def test_a_pin_may_begin_and_end(first: int, until: tuple[int, bytes] | None) -> None:
    pin = replace(KEY[ONE], first=first, until=until)
    assert parse_trust(format_pin(pin)) == {ONE: pin}


def test_a_line_says_from_where_and_until_where_a_key_is_believed() -> None:
    text = f"{ONE} {VKEY[ONE]} from 5 until 9 {ROOT} # restored\n"
    assert parse_trust(text) == {ONE: replace(KEY[ONE], first=5, until=(9, b"r" * 32))}


def test_a_file_may_hold_several_origins_comments_and_empty_lines() -> None:
    text = f"# mine\n\n  {ONE}   {VKEY[ONE]} # here\r\n\t{TWO} {VKEY[TWO]}\n#{ONE} x\n"
    assert parse_trust(text) == KEY


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n"])
def test_a_file_may_hold_none(text: str) -> None:
    assert parse_trust(text) == {}


@pytest.mark.parametrize(
    "line",
    [
        ONE,
        f"{ONE} {VKEY[ONE]} from",
        f"{ONE} {VKEY[ONE]} from 0",
        f"{ONE} {VKEY[ONE]} from 03",
        f"{ONE} {VKEY[ONE]} from 3 4",
        f"{ONE} {VKEY[ONE]} from 3 from 3",
        f"{ONE} {VKEY[ONE]} since 3",
        f"{ONE} {VKEY[ONE]} until 3",
        f"{ONE} {VKEY[ONE]} until 3 AAAA",
        f"{ONE} {VKEY[ONE]} until {ROOT} 3",
        f"{ONE} {VKEY[ONE]} until 3 {ROOT} from 1",
        f"{ONE} {VKEY[ONE]} from 4 until 3 {ROOT}",
        f"{ONE} {VKEY[TWO]}",
        f"{ONE} {VKEY[ONE]}x",
        f"{VKEY[ONE]} {ONE}",
        f"memprove {VKEY[ONE]}",
        f"{ONE} {VKEY[ONE].replace('+', ' ', 1)}",
        f"{ONE} key",
        "\ufeff" + f"{ONE} {VKEY[ONE]}",
    ],
)
def test_a_line_with_anything_else_refuses_the_file(line: str) -> None:
    with problem("trust_invalid", "line 2"):
        parse_trust(f"{TWO} {VKEY[TWO]}\n{line}\n")


def test_an_origin_twice_refuses_the_file() -> None:
    with problem("trust_invalid", "line 2"):
        parse_trust(f"{ONE} {VKEY[ONE]}\n{ONE} {VKEY[ONE]}\n")


@given(anything)
def test_any_text_is_a_trust_file_or_refused(text: str) -> None:
    try:
        pins = parse_trust(text)
    except Problem as refused:
        assert refused.code == "trust_invalid"  # noqa: PT017
        return
    assert pins == {}


def test_the_pin_is_read_from_the_configuration_directory(tmp_path: Path) -> None:
    (tmp_path / "trust").write_text(f"{TWO} {VKEY[TWO]}\n{ONE} {VKEY[ONE]}\n")
    assert pinned(tmp_path, ONE) == KEY[ONE]


def test_without_a_pin_nothing_is_trusted(tmp_path: Path) -> None:
    with problem("trust_missing"):
        pinned(tmp_path, ONE)
    (tmp_path / "trust").write_text(f"{TWO} {VKEY[TWO]}\n")
    with problem("trust_missing", f"has no line for {ONE}"):
        pinned(tmp_path, ONE)
    (tmp_path / "trust").write_bytes(b"\xff\xfe")
    with problem("trust_invalid"):
        pinned(tmp_path, ONE)
    (tmp_path / "trust").write_text("nonsense\n")
    with problem("trust_invalid", "line 1"):
        pinned(tmp_path, ONE)


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trust")
    assert read_pins(tmp_path) == {}
