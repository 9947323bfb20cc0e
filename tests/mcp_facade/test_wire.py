"""What comes over the pipe and is no good, against the real executable; it lives on."""

import json
import random

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.wire import Wire, initialize, modern, request

from memprove.mcp_facade.envelope import MOST_BYTES, Batch, Request, Wrong, parse


def test_what_is_no_json_is_a_parse_error_without_an_id(shared: Wire) -> None:
    for line in (b"{", b"hello", b'"\xff"', b"\xef\xbb\xbf{}", b'"\\ud800"', b"[" * 100_000):
        error = shared.ask(line)
        assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert shared.lives()


def test_what_is_no_request_is_refused_with_its_id_if_it_has_one(shared: Wire) -> None:
    assert shared.ask({"id": 5, "method": "ping"})["id"] == 5
    assert shared.ask({"jsonrpc": "2.0", "id": 6})["error"]["code"] == -32600
    assert shared.ask({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})["id"] is None
    assert shared.lives()


def test_an_id_comes_back_as_it_was(shared: Wire) -> None:
    for id in (0, -1, 2**70, "", "7", "ü\n😀"):
        assert shared.ask(request(id, "ping")) == {"jsonrpc": "2.0", "id": id, "result": {}}


def test_params_that_are_null_are_none(shared: Wire) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}
    assert shared.ask(message)["result"] == {}


def test_lines_may_end_in_a_carriage_return_too(shared: Wire) -> None:
    shared.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\r\n\n')
    assert shared.read()["result"] == {}


def test_a_carriage_return_alone_ends_no_line(shared: Wire) -> None:
    shared.write(b'{"jsonrpc":"2.0",\r"id":1,\r"method":"ping"}\n')
    assert shared.read()["result"] == {}
    shared.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r{"a":1}\n')
    assert shared.read()["error"]["code"] == -32700


def test_a_line_may_come_in_pieces(shared: Wire) -> None:
    for byte in b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n':
        shared.write(bytes([byte]))
    assert shared.read()["result"] == {}


def test_a_line_of_the_most_bytes_is_taken_and_one_more_is_refused_once(shared: Wire) -> None:
    ping = request(1, "ping", {"padding": ""})
    ping["params"]["padding"] = "x" * (MOST_BYTES - len(json.dumps(ping)))
    assert shared.ask(ping)["result"] == {}
    ping["params"]["padding"] += "x"
    error = shared.ask(ping)
    assert (error["id"], error["error"]["code"]) == (None, -32600)
    assert shared.ask(b"x" * (3 * MOST_BYTES))["error"]["code"] == -32600
    assert shared.lives()


def test_the_last_line_needs_no_end(real: Wire) -> None:
    real.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    ended = real.end()
    assert (ended.code, ended.messages) == (0, [{"jsonrpc": "2.0", "id": 1, "result": {}}])


def test_batches_are_refused_but_in_a_session_of_the_revision_that_has_them(real: Wire) -> None:
    batch = [request(1, "ping"), request(2, "tools/list")]
    assert real.ask(batch)["error"]["code"] == -32600
    real.open("2025-06-18")
    assert real.ask(batch)["error"]["code"] == -32600
    real.open("2025-03-26")
    assert {answer["id"] for answer in real.ask(batch)} == {1, 2}
    real.open("2025-11-25")
    assert real.ask(batch)["error"]["code"] == -32600


def test_a_batch_is_answered_in_one_line_with_what_asks_for_an_answer(real: Wire) -> None:
    real.open("2025-03-26")
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = real.ask([request(1, "ping"), notification, 5, request("b", "nosuch")])
    codes = {answer["id"]: answer.get("error", {}).get("code") for answer in answers}
    assert codes == {1: None, None: -32600, "b": -32601}
    real.send([notification, notification])
    assert real.lives()
    empty = real.ask([])["error"]
    assert (empty["code"], empty["message"]) == (-32600, "Invalid Request: an empty batch")
    refused = real.ask([initialize(1), modern(2, "tools/list"), request(3, "ping")])
    assert [answer["id"] for answer in refused if "error" in answer] == [1, 2]


def test_responses_and_unknown_notifications_get_no_answer(shared: Wire) -> None:
    shared.send(
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
        {"jsonrpc": "2.0", "method": "notifications/nosuch"},
        {"jsonrpc": "2.0", "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
    )
    assert shared.lives()


_GOOD = json.dumps(request(1, "ping")).encode()
_MALFORMED = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(str.encode)
    | st.integers(0, len(_GOOD) - 1).map(lambda cut: _GOOD[:cut])
    | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5).map(
        lambda value: json.dumps(value).encode()
    )
    | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result"]),
        st.none() | st.booleans() | st.integers() | st.just("2.0") | st.lists(st.integers()),
    ).map(lambda value: json.dumps(value).encode())
)


@settings(
    max_examples=1000,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(line=_MALFORMED.filter(lambda line: b"\n" not in line))
def test_whatever_comes_the_next_good_line_is_answered(shared: Wire, line: bytes) -> None:
    shared.send(line)
    if isinstance(parse(line), Request | Wrong | Batch):
        assert "error" in shared.read()
    assert shared.lives()


def test_many_bad_lines_at_once_are_all_answered(real: Wire) -> None:
    seed = random.Random(1)
    lines = [b"{" + seed.randbytes(20).hex().encode() for _ in range(1000)]
    real.send(*lines, request("end", "ping"))
    answers = [real.read() for _ in range(1001)]
    assert sum(answer.get("error", {}).get("code") == -32700 for answer in answers) == 1000
    assert answers[-1]["id"] == "end"


def test_the_log_has_a_line_for_each_refusal_and_repeats_nothing(real: Wire) -> None:
    real.send(b'{"secret', {"jsonrpc": "1", "id": "secret"}, request(1, "secret", {"a": "secret"}))
    for _ in range(3):
        real.read()
    real.open()
    real.ask(request(2, "tools/call", {"name": "pack", "arguments": {"query": "secret"}}))
    ended = real.end()
    assert ended.code == 0
    assert [line.split(": ")[:3] for line in ended.log] == [
        ["memprove", "refused", "Parse error"],
        ["memprove", "refused", "Invalid Request"],
    ]
    assert not [line for line in ended.log if "secret" in line]
