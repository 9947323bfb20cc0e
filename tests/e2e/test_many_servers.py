"""Several servers on one ledger: all calls are answered, and killing one loses nothing told."""

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Desk, desk_with_ledger
from support.wire import EXECUTABLE, Wire, modern, served

SERVERS, AT_ONCE, ROUNDS = 8, 4, 3
KILLS = 5


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = desk_with_ledger(tmp_path)
    desk.begin()
    return desk


def call(id: Any, name: str, **arguments: Any) -> dict[str, Any]:
    return modern(id, "tools/call", {"name": name, "arguments": arguments})


def state(wire: Wire, id: str) -> None:
    """Ask for a fact to be recorded; it says which request it came with."""
    wire.send(call(id, "checkpoint", facts=[f"stated in {id}"]))


def stated(desk: Desk) -> list[str]:
    """Return the requests whose facts are in the ledger."""
    events = desk.memprove("log", "--json", "--limit", "1000").json["events"]
    texts = [fact["text"] for event in events for fact in (event["payload"] or {}).get("facts", [])]
    return sorted(text.removeprefix("stated in ") for text in texts)


def test_eight_servers_with_four_calls_each_at_once(desk: Desk) -> None:
    ids = [f"{s}-{r}-{n}" for r in range(ROUNDS) for s in range(SERVERS) for n in range(AT_ONCE)]
    with ExitStack() as stack:
        wires = [
            stack.enter_context(served(desk.folder, EXECUTABLE, desk.env)) for _ in range(SERVERS)
        ]
        for number in range(ROUNDS):
            for server, wire in enumerate(wires):
                for one in range(AT_ONCE):
                    state(wire, f"{server}-{number}-{one}")
            answers = [wire.read() for wire in wires for _ in range(AT_ONCE)]
            assert [a for a in answers if a["result"]["isError"]] == []
    assert stated(desk) == sorted(ids)
    assert desk.memprove("verify", "--full").code == 0


def test_a_server_that_is_killed_in_the_middle_of_writes_loses_nothing_it_told(desk: Desk) -> None:
    seed = random.Random(7)
    told: set[str] = set()
    for kill in range(KILLS):
        with served(desk.folder, EXECUTABLE, desk.env) as wire:
            for number in range(40):
                state(wire, f"{kill}-{number}")
            for _ in range(seed.randrange(1, 30)):
                answer = wire.read()
                assert not answer["result"]["isError"], answer
                told.add(answer["id"])
            wire.process.kill()
        assert desk.memprove("verify", "--full").code == 0
    assert told <= set(stated(desk))
    with served(desk.folder, EXECUTABLE, desk.env) as wire:
        state(wire, "after")
        assert not wire.read()["result"]["isError"]
