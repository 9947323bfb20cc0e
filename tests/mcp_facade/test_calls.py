"""Calls in flight: side by side, cancelled, with progress, failing, making noise."""

import pytest
from support.wire import Wire, call, cancelled, initialize, request


def test_a_ping_is_answered_while_a_tool_is_at_work(timed: Wire) -> None:
    timed.send(call("long", "hold"))
    timed.await_file("begun-")
    assert timed.lives()
    assert len(timed.ask(request(2, "tools/list"))["result"]["tools"]) == 6
    timed.go()
    assert timed.read()["id"] == "long"


def test_calls_run_side_by_side(timed: Wire) -> None:
    timed.send(*(call(number, "hold", {"text": str(number)}) for number in range(4)))
    for number in range(4):
        timed.await_file(f"begun-{number}")
    timed.go()
    assert {timed.read()["id"] for _ in range(4)} == {0, 1, 2, 3}


def test_more_calls_than_threads_are_all_answered(timed: Wire) -> None:
    timed.send(*(call(number, "echo", {"text": str(number)}) for number in range(600)))
    answers = [timed.read() for _ in range(600)]
    assert all(a["result"]["content"][0]["text"] == str(a["id"]) for a in answers)
    assert {answer["id"] for answer in answers} == set(range(600))


def test_an_id_in_flight_is_refused_and_its_first_owner_answered(timed: Wire) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    error = timed.ask(call(1, "echo"))
    assert (error["id"], error["error"]["code"]) == (1, -32600)
    assert timed.ask(call("1", "echo", {"text": "another id"}))["id"] == "1"
    timed.go()
    assert timed.read()["result"]["content"][0]["text"] == "held"
    assert timed.ask(call(1, "echo", {"text": "free again"}))["result"]["isError"] is False


def test_a_cancelled_call_gets_no_answer(timed: Wire) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    timed.send(cancelled(1))
    assert timed.lives()
    timed.go()
    timed.await_file("ended-")
    assert timed.lives()
    assert timed.end().messages == []


def test_the_id_of_a_cancelled_call_is_free_and_the_late_answer_is_not_its(timed: Wire) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    timed.send(cancelled(1))
    assert timed.ask(call(1, "echo", {"text": "new"}))["result"]["structuredContent"]["text"]
    timed.go()
    timed.await_file("ended-")
    assert timed.end().messages == []


@pytest.mark.parametrize("other", ["1", 2, True, None, 1.0])
def test_a_cancellation_of_another_id_cancels_nothing(timed: Wire, other: object) -> None:
    timed.send(call(1, "hold"))
    timed.await_file("begun-")
    timed.send(cancelled(other))
    assert timed.lives()
    timed.go()
    assert timed.read()["id"] == 1


def test_a_cancelled_read_stops_at_its_next_word_of_progress(timed: Wire) -> None:
    timed.send(call(1, "count", {"times": 10**9}))
    timed.await_file("begun-")
    timed.send(cancelled(1))
    timed.await_file("ended-")  # no file `go` has let it end
    assert timed.lives()
    assert timed.end().messages == []


def test_a_cancelled_call_that_waits_for_a_thread_never_begins(timed: Wire) -> None:
    timed.send(*(call(number, "hold", {"text": str(number)}) for number in range(8)))
    for number in range(8):
        timed.await_file(f"begun-{number}")
    timed.send(call("late", "hold", {"text": "late"}), cancelled("late"))
    assert timed.lives()
    timed.go()
    assert {timed.read()["id"] for _ in range(8)} == set(range(8))
    timed.end()
    assert not (timed.folder / "begun-late").exists()


def test_progress_is_told_with_the_token_and_only_grows(timed: Wire) -> None:
    timed.send(call(1, "count", {"times": 10**9}, token="t"))
    told = [timed.read() for _ in range(3)]
    timed.go()
    while "id" not in (message := timed.read()):
        told.append(message)
    assert message["result"]["isError"] is False
    assert {message["method"] for message in told} == {"notifications/progress"}
    assert {message["params"]["progressToken"] for message in told} == {"t"}
    steps = [message["params"]["progress"] for message in told]
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, 10**9)
    assert all(message["params"]["total"] == 10**9 for message in told)


@pytest.mark.parametrize("token", [None, True, 1.5, [1]])
def test_without_a_token_there_is_no_progress(timed: Wire, token: object) -> None:
    answer = timed.ask(call(1, "count", {"times": 100}, token=token))
    assert answer["id"] == 1


def test_after_a_cancellation_there_is_no_progress(timed: Wire) -> None:
    timed.send(call(1, "count", {"times": 10**9}, token=7))
    assert timed.read()["params"]["progressToken"] == 7
    timed.send(cancelled(1), request("mark", "ping"))
    while timed.read().get("id") != "mark":
        pass
    timed.await_file("ended-")
    assert timed.end().messages == []


def test_a_cancelled_member_of_a_batch_is_not_waited_for(timed: Wire) -> None:
    assert timed.ask(initialize(version="2025-03-26"))["result"]
    timed.send([call(1, "hold"), request(2, "ping")])
    timed.await_file("begun-")
    assert [answer["id"] for answer in timed.ask(cancelled(1))] == [2]


def test_a_fault_of_ours_names_its_class_and_nothing_else(timed: Wire) -> None:
    told = timed.ask(call(1, "broken", {"text": "hidden"}))["result"]
    assert told["isError"] is True
    assert told["content"][0]["text"].startswith("internal: ")
    assert told["structuredContent"]["code"] == "internal"
    assert "secret" not in str(told)
    assert timed.end().log == ["memprove: internal: RuntimeError in broken"]


def test_a_problem_is_a_result_that_says_its_code(timed: Wire) -> None:
    told = timed.ask(call(1, "refused"))["result"]
    assert told["isError"] is True
    assert told["content"][0]["text"].startswith("task_unknown: ")
    assert list(told["structuredContent"])[:2] == ["task_id", "session_id"]
    assert timed.end().log == []


def test_wrong_arguments_are_named_and_not_repeated(timed: Wire) -> None:
    told = timed.ask(call(1, "echo", {"times": "secret"}))["result"]
    assert told["isError"] is True
    assert told["content"][0]["text"].startswith("argument_invalid: ")
    assert "times" in told["content"][0]["text"]
    assert "secret" not in str(told)


def test_nothing_that_a_tool_or_its_child_prints_reaches_the_client_or_its_log(
    timed: Wire,
) -> None:
    assert timed.ask(call(1, "noise"))["result"]["content"][0]["text"] == "quiet"
    assert timed.lives()
    ended = timed.end()
    assert (ended.code, ended.messages, ended.log) == (0, [], [])
