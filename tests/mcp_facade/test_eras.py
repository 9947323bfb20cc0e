"""Both eras on one connection, in any order: which versions, which requests, which errors."""

import pytest
from support.wire import MODERN, Wire, initialize, modern, request

HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26")
PV = "io.modelcontextprotocol/protocolVersion"


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_handshake_of_each_older_revision_is_served(real: Wire, version: str) -> None:
    real.open(version)
    assert len(real.ask(request(1, "tools/list"))["result"]["tools"]) == 10


@pytest.mark.parametrize("version", ["2026-07-28", "9999", "2025-07-01", "latest"])
def test_an_unknown_newer_version_is_offered_our_newest(shared: Wire, version: str) -> None:
    answer = shared.ask(initialize(version=version))
    assert answer["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("version", ["2024-11-05", "1999-01-01", "1.0.0", "", None, 20251125])
def test_a_version_below_the_oldest_is_refused_with_what_we_have(
    real: Wire, version: object
) -> None:
    error = real.ask(initialize(version=version))["error"]
    requested = version if isinstance(version, str) else None
    assert error == {
        "code": -32602,
        "message": "Unsupported protocol version",
        "data": {"supported": list(HANDSHAKES), "requested": requested},
    }
    assert real.ask(request(1, "tools/list"))["error"]["code"] == -32600
    real.open()


def test_an_initialize_without_a_version_is_refused(real: Wire) -> None:
    assert real.ask(request(1, "initialize", {"capabilities": {}}))["error"]["code"] == -32602
    assert real.ask(request(2, "initialize"))["error"]["code"] == -32602


def test_server_discover_tells_all_versions(real: Wire) -> None:
    told = real.ask(modern(1, "server/discover"))["result"]
    assert told["supportedVersions"] == [MODERN, *HANDSHAKES]
    assert told["capabilities"] == {"tools": {"listChanged": False}}
    assert (told["ttlMs"], told["cacheScope"]) == (3_600_000, "public")
    assert told["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memprove"
    assert "pack" in told["instructions"]


def test_the_eras_mix_in_any_order(real: Wire) -> None:
    assert real.ask(modern(1, "tools/list"))["result"]["resultType"] == "complete"
    assert real.ask(request(2, "tools/list"))["error"]["code"] == -32600
    real.open("2025-06-18")
    assert "resultType" not in real.ask(request(3, "tools/list"))["result"]
    assert real.ask(modern(4, "tools/list"))["result"]["resultType"] == "complete"
    real.open("2025-11-25")
    assert real.ask(request(5, "ping"))["result"] == {}
    assert real.ask(modern(6, "server/discover"))["result"]["resultType"] == "complete"


def test_an_initialize_in_a_modern_envelope_shakes_hands(real: Wire) -> None:
    params = initialize()["params"]
    assert "protocolVersion" in real.ask(modern(1, "initialize", params))["result"]
    assert "tools" in real.ask(request(2, "tools/list"))["result"]


@pytest.mark.parametrize("version", ["1900-01-01", "2025-11-25", "2027-01-01"])
def test_an_envelope_of_another_version_is_told_which_there_are(shared: Wire, version: str) -> None:
    id = shared.new_id()
    error = shared.ask(modern(id, "tools/list", protocolVersion=version))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": [MODERN, *HANDSHAKES], "requested": version}


@pytest.mark.parametrize("key", ["protocolVersion", "clientCapabilities"])
def test_an_envelope_that_lacks_a_key_is_told_which(shared: Wire, key: str) -> None:
    message = modern(shared.new_id(), "tools/list")
    del message["params"]["_meta"][f"io.modelcontextprotocol/{key}"]
    error = shared.ask(message)["error"]
    assert error["code"] == -32602
    assert key in error["message"]


def test_a_version_that_is_no_text_is_a_wrong_parameter(shared: Wire) -> None:
    error = shared.ask(modern(shared.new_id(), "tools/list", protocolVersion=20260728))["error"]
    assert error["code"] == -32602


@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}, {"_meta": {"progressToken": 1}}])
def test_server_discover_without_an_envelope_is_told_what_it_lacks(
    shared: Wire, params: dict[str, object] | None
) -> None:
    error = shared.ask(request(shared.new_id(), "server/discover", params))["error"]
    assert error["code"] == -32602
    assert PV in error["message"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "prompts/list", "nosuch"])
def test_what_2026_does_not_have_or_we_do_not_is_not_found(shared: Wire, method: str) -> None:
    assert shared.ask(modern(shared.new_id(), method))["error"]["code"] == -32601


def test_nothing_to_listen_to_is_no_method(shared: Wire) -> None:
    listen = modern(shared.new_id(), "subscriptions/listen", {"notifications": {}})
    assert shared.ask(listen)["error"]["code"] == -32601


def test_before_initialize_only_ping_is_answered(real: Wire) -> None:
    assert real.ask(request(1, "ping"))["result"] == {}
    assert real.ask(request(2, "tools/list"))["error"]["code"] == -32600
    call = request(3, "tools/call", {"name": "context", "arguments": {}})
    assert real.ask(call)["error"]["code"] == -32600
    assert real.ask(request(4, "nosuch"))["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "completion/complete"])
def test_a_method_that_we_have_not_is_not_found_whatever_its_parameters(
    real: Wire, method: str
) -> None:
    assert real.ask(request(1, method))["error"]["code"] == -32601
    real.open()
    for params in (None, {}, {"uri": 5}):
        assert real.ask(request(2, method, params))["error"]["code"] == -32601


def test_a_bare_initialized_does_not_open_the_gate(real: Wire) -> None:
    real.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert real.ask(request(1, "tools/list"))["error"]["code"] == -32600


def test_what_is_sent_right_behind_initialize_is_of_its_session(real: Wire) -> None:
    real.send(initialize(), request(1, "tools/list"), request(2, "ping"))
    answers = {real.read()["id"] for _ in range(3)}
    assert answers == {"initialize", 1, 2}


@pytest.mark.parametrize("build", [request, modern])
def test_an_unknown_tool_is_a_protocol_error(real: Wire, build: object) -> None:
    assert callable(build)
    real.open()
    for name in ("nosuch", "", "x" * 5000, "pack\x1b[2J"):
        error = real.ask(build(1, "tools/call", {"name": name, "arguments": {}}))["error"]
        assert error["code"] == -32602
        assert error["message"].startswith("Unknown tool")
        assert len(error["message"]) < 200
        assert error["message"].isprintable()


@pytest.mark.parametrize(
    "params", [None, {}, {"name": 5}, {"name": "context", "arguments": [1]}], ids=str
)
def test_a_call_that_is_none_is_a_wrong_parameter(
    real: Wire, params: dict[str, object] | None
) -> None:
    real.open()
    error = real.ask(request(1, "tools/call", params))["error"]
    assert error == {"code": -32602, "message": "Invalid request parameters"}


def test_a_cursor_that_we_did_not_give_is_refused(real: Wire) -> None:
    real.open()
    assert real.ask(request(1, "tools/list", {"cursor": "2"}))["error"]["code"] == -32602


def test_tools_list_may_be_kept_by_everybody(shared: Wire) -> None:
    listed = shared.ask(modern(shared.new_id(), "tools/list"))["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (3_600_000, "public")
