"""Which Session a conversation goes on with, when its client gives it another id."""

import json

import pytest
from support.command_line import Desk
from support.hook_samples import FORKED, NEW, OLD, claude
from support.hooked import hook, told

OTHER = "99999999-aaaa-4bbb-8ccc-999999999999"


def window(session: str, pid: str = "4711") -> dict[str, str]:
    """Return what Claude Code puts into the environment of its hooks, and of its shell."""
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PID": pid}


def start(desk: Desk, source: str, session: str, env: dict[str, str]) -> str:
    return told(hook(desk, claude("SessionStart", session, source=source), env=env))


def current(desk: Desk, session: str) -> int | None:
    """Return the Session that the context of *session* points to."""
    file = desk.folder / ".memprove" / "context" / f"{session}.json"
    return json.loads(file.read_bytes())["session_number"] if file.exists() else None


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """Two windows, each in a Session of its own."""
    for session, pid in ((OLD, "4711"), (OTHER, "4712")):
        start(desk, "startup", session, window(session, pid))
        assert desk.memprove("begin", "it", env=window(session, pid)).code == 0
    return desk


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "teleport"])
def test_a_client_session_keeps_its_session(desk: Desk, source: str) -> None:
    assert "this is Session 1." in start(desk, source, OLD, window(OLD))
    assert "this is Session 2." in start(desk, source, OTHER, window(OTHER, "4712"))


@pytest.mark.parametrize("source", ["clear", "fork"])
def test_a_cleared_or_forked_conversation_goes_on_with_the_session(desk: Desk, source: str) -> None:
    assert "this is Session 1." in start(desk, source, NEW, window(NEW))
    assert (current(desk, NEW), current(desk, OLD), current(desk, OTHER)) == (1, 1, 2)
    assert desk.memprove("checkpoint", "--fact", "so", env=window(NEW)).code == 0
    assert "Session 1 " in desk.memprove("resume", "--pack", env=window(NEW)).out
    assert "this is Session 1." in start(desk, "clear", FORKED, window(FORKED)), "and again"


def test_the_environment_may_still_name_the_session_before(desk: Desk) -> None:
    env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": OTHER}
    assert "this is Session 2." in start(desk, "fork", FORKED, env)
    assert current(desk, FORKED) == 2


@pytest.mark.parametrize("source", ["startup", "resume", "compact", "teleport"])
def test_nothing_is_handed_to_another_conversation(desk: Desk, source: str) -> None:
    text = start(desk, source, NEW, window(NEW))
    assert "no Session of yours is open here" in text
    assert "Sessions 1, 2 are open here: name yours with --session." in text
    assert current(desk, NEW) is None


def test_an_unknown_window_is_handed_nothing(desk: Desk) -> None:
    assert "no Session of yours" in start(desk, "clear", NEW, window(NEW, "4799"))
    assert current(desk, NEW) is None


def test_a_window_that_was_started_anew_forgets_what_it_showed(desk: Desk) -> None:
    start(desk, "startup", FORKED, window(FORKED))
    assert "no Session of yours" in start(desk, "clear", NEW, window(NEW))


def test_a_sub_agent_moves_no_pointer(desk: Desk) -> None:
    sample = claude("SessionStart", NEW, source="clear", agent_id="a1", agent_type="Explore")
    assert "no Session of yours" in told(hook(desk, sample, env=window(NEW)))
    assert current(desk, NEW) is None
    assert "this is Session 1." in start(desk, "clear", NEW, window(NEW))


def test_a_context_that_does_not_fit_is_not_handed_on(desk: Desk) -> None:
    file = desk.folder / ".memprove" / "context" / f"{OLD}.json"
    file.write_bytes(file.read_bytes().replace(b'"session_number":1', b'"session_number":2'))
    assert "no Session of yours" in start(desk, "clear", NEW, window(NEW))
    assert current(desk, NEW) is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"4711": 5}', b'{"4711": "../../x"}', b"\xff"])
def test_a_false_list_of_windows_is_no_failure(desk: Desk, content: bytes) -> None:
    (desk.folder / ".memprove" / "context" / "windows").write_bytes(content)
    assert "no Session of yours" in start(desk, "clear", NEW, window(NEW))


def test_a_named_context_comes_first(desk: Desk) -> None:
    env = {**window(OLD), "MEMPROVE_CONTEXT": OTHER}
    assert "this is Session 2." in start(desk, "startup", OLD, env)


def test_a_client_without_ids_in_its_shell_shares_one_context(desk: Desk) -> None:
    assert desk.memprove("begin", "third").code == 0
    assert "this is Session 3." in start(desk, "startup", NEW, {})
    assert "this is Session 1." in start(desk, "startup", OLD, {}), "its context is there"
