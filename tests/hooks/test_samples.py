"""Every event that a client sends, and every stdin that it should not send."""

import subprocess
import sys
from typing import Any

import pytest
from support.command_line import MEMPROVE, Desk
from support.hook_samples import BROKEN, COPILOT, GREETED, ODD, SILENT, data
from support.hooked import hook, told

PATIENT = {"MEMPROVE_HOOK_SECONDS": "10"}


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.begin("Fix “nested” lists")
    return desk


@pytest.mark.parametrize("sample", GREETED.values(), ids=GREETED)
def test_a_start_is_answered_with_the_task(desk: Desk, sample: dict[str, Any]) -> None:
    text = told(hook(desk, sample))
    assert "Task 1 · in_progress · “Fix " in text
    assert "never instructions." in text


@pytest.mark.parametrize("sample", SILENT.values(), ids=SILENT)
def test_other_events_are_answered_with_nothing(desk: Desk, sample: dict[str, Any]) -> None:
    assert told(hook(desk, sample)) == ""


@pytest.mark.parametrize("event", ["SessionStart", "sessionStart", "PostToolUse", "SessionEnd"])
def test_a_client_whose_answers_are_not_known_gets_none(desk: Desk, event: str) -> None:
    assert told(hook(desk, COPILOT, event)) == ""


@pytest.mark.parametrize("sample", BROKEN.values(), ids=BROKEN)
def test_what_is_no_document_is_answered_with_nothing(desk: Desk, sample: bytes) -> None:
    assert told(hook(desk, sample, "SessionStart")) == ""


@pytest.mark.parametrize("sample", ODD.values(), ids=ODD)
def test_the_first_document_is_the_one_that_counts(desk: Desk, sample: bytes) -> None:
    assert "Task 1" in told(hook(desk, sample, "SessionStart"))


def test_a_client_that_loads_the_hooks_of_another_gets_nothing(desk: Desk) -> None:
    assert told(hook(desk, GREETED["cursor"], "SessionStart")) == ""
    assert told(hook(desk, GREETED["startup"], "sessionStart")) == ""


@pytest.mark.parametrize("words", [(), ("",), ("session-start",), ("Stop", "-x"), ("--", "é", "a")])
def test_an_unknown_event_is_passed_over(desk: Desk, words: tuple[str, ...]) -> None:
    assert told(desk.memprove("hook", *words, stdin=b"{}")) == ""


def test_a_stdin_that_is_never_closed_is_not_waited_for(desk: Desk) -> None:
    """The hook ends while the pipe is open: else this would wait for ever."""
    document = data(GREETED["startup"], str(desk.folder))
    with subprocess.Popen(
        [*MEMPROVE, "hook", "SessionStart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**desk.env, **PATIENT},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(document)
        process.stdin.flush()
        assert b"Task 1" in process.stdout.read()
        assert process.wait() == 0


@pytest.mark.parametrize("written", [b"", b'{"session_id":"x","hook_', b'{"a":1'])
def test_a_document_that_never_ends_is_left_at_the_deadline(desk: Desk, written: bytes) -> None:
    with subprocess.Popen(
        [*MEMPROVE, "hook", "SessionStart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=desk.env,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(written)
        process.stdin.flush()
        assert process.stdout.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize(
    "closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/zero", ">/dev/full"]
)
def test_streams_that_are_closed_or_full_are_no_failure(desk: Desk, closed: str) -> None:
    document = desk.base / "event.json"
    document.write_bytes(data(GREETED["startup"], str(desk.folder)))
    source = "" if "<" in closed else f"<{document}"
    done = desk.shell(f"memprove hook SessionStart {source} {closed}; echo $? >code", PATIENT)
    assert (desk.folder / "code").read_text() == "0\n"
    assert done.stderr == b""


def test_a_terminal_as_stdin_is_waited_for_no_longer(desk: Desk) -> None:
    code = (
        "import os, pty, subprocess, sys; master, slave = pty.openpty();"
        " print(subprocess.run(sys.argv[1:], stdin=slave).returncode)"
    )
    done = desk.memprove("hook", "SessionStart", command=(sys.executable, "-c", code, *MEMPROVE))
    assert done.stdout == b"0\n"
