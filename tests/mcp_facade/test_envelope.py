"""Lines and envelopes, without a process."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memprove.mcp_facade import envelope
from memprove.mcp_facade.envelope import (
    Batch,
    Lines,
    Notification,
    Request,
    Response,
    Wrong,
    parse,
)

NOT_JSON = {
    "half": b'{"jsonrpc": "2.0"',
    "a word": b"hello",
    "two documents": b"{} {}",
    "not a number": b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
    "another encoding": '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
    "bytes that are no UTF-8": b'{"jsonrpc": "2.0", "id": "\xff", "method": "ping"}',
    "half a character": b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
    "half a character, large": b'{"jsonrpc": "2.0", "id": "\\uDFFF", "method": "ping"}',
    "an encoded half": b'{"jsonrpc": "2.0", "id": "\xed\xa0\x80", "method": "ping"}',
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 129 + b"1" + b"}" * 129,
    "a number of many digits": b'{"jsonrpc": "2.0", "id": ' + b"1" * 5000 + b', "method": "p"}',
}
NO_REQUEST = {
    "a number": b"5",
    "null": b"null",
    "no version": b'{"id": 1, "method": "ping"}',
    "another version": b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    "a version that is a number": b'{"jsonrpc": 2.0, "id": 1, "method": "ping"}',
    "id null": b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    "id a fraction": b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    "id true": b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
    "id a list": b'{"jsonrpc": "2.0", "id": [], "method": "ping"}',
    "params a list": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
    "params a text": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}',
    "method a number": b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "method and result": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}',
}
WORDS = st.text(st.characters(codec="utf-8"), max_size=5)
PARAMS = st.none() | st.dictionaries(WORDS, st.none() | st.booleans() | WORDS, max_size=3)


@pytest.mark.parametrize("line", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_no_json_in_utf_8_is_a_parse_error(line: bytes) -> None:
    wrong = parse(line)
    assert isinstance(wrong, Wrong)
    assert (wrong.id, wrong.code) == (None, -32700)


@pytest.mark.parametrize("line", NO_REQUEST.values(), ids=NO_REQUEST)
def test_what_is_no_message_is_an_invalid_request(line: bytes) -> None:
    wrong = parse(line)
    assert isinstance(wrong, Wrong)
    assert wrong.code == -32600
    document = json.loads(line)
    known = isinstance(document, dict) and type(document.get("id")) is int
    assert wrong.id == (1 if known else None)


@given(st.integers() | WORDS, WORDS, PARAMS)
def test_a_request_is_read_as_it_was_written(
    id: int | str, method: str, params: dict[str, object] | None
) -> None:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    assert parse(envelope.line(message)) == Request(id, method, params)
    del message["id"]
    assert parse(envelope.line(message)) == Notification(method, params)


def test_a_whole_character_written_as_two_halves_is_taken() -> None:
    assert parse(rb'{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"m"}') == Request("😀", "m", None)


def test_as_deep_as_allowed_is_taken() -> None:
    deep = b'{"a":' * 126 + b"1" + b"}" * 126
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + deep + b"}"
    assert isinstance(parse(line), Request)


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b"\t \r"])
def test_a_blank_line_means_nothing(line: bytes) -> None:
    assert parse(line) is None


def test_a_response_means_nothing() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":{}}') == Response()


def test_a_batch_holds_what_its_members_are() -> None:
    parsed = parse(b'[{"jsonrpc":"2.0","method":"m"},7,[]]')
    assert isinstance(parsed, Batch)
    assert [type(message) for message in parsed.messages] == [Notification, Wrong, Wrong]


def test_text_that_is_no_unicode_is_still_one_line() -> None:
    assert envelope.line({"name": "a\udcff\n"}) == b'{"name":"a?\\n"}\n'


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_lines_do_not_depend_on_how_the_bytes_come(pieces: list[bytes], most: int) -> None:
    whole, lines = b"".join(pieces), Lines(most)
    got = [line for piece in pieces for line in lines.feed(piece)]
    got.append(lines.last())
    assert got == [line if len(line) <= most else None for line in whole.split(b"\n")]
