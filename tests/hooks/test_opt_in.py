"""The hooks that an owner may add: sub-agents, the end, tests outside ``memprove run``."""

import json

import pytest
from support.command_line import Desk
from support.hook_samples import OLD, claude, codex, gemini, shell
from support.hooked import hook, told
from support.ledgers import Project

ENV = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": OLD}


def project(desk: Desk) -> Project:
    return Project(desk.folder, desk.config, desk.data, desk.env)


@pytest.fixture
def desk(desk: Desk) -> Desk:
    assert desk.memprove("begin", "Fix lists", env=ENV).code == 0
    return desk


def kinds(desk: Desk) -> list[str]:
    return [event.kind for event in project(desk).events()]


def test_a_sub_agent_gets_a_short_pack_and_its_parent(desk: Desk) -> None:
    options = [word for n in range(40) for word in ("--open", f"item {n} {'中' * 200}")]
    assert desk.memprove("checkpoint", *options, env=ENV).code == 0
    sample = claude("SubagentStart", agent_id="a1", agent_type="Explore")
    text = told(hook(desk, sample, env=ENV))
    assert text.startswith(
        "You work for Session 1 on Task 1; a Session of your own:"
        " `memprove begin --task 1 --parent 1`. What facts,"
    )
    assert len(text.encode()) <= 2_000
    assert text.splitlines()[-1].startswith("Left out: ")


@pytest.mark.parametrize("reason", ["other", "logout", "prompt_input_exit", "resume"])
def test_the_end_of_the_client_ends_its_session(desk: Desk, reason: str) -> None:
    assert told(hook(desk, claude("SessionEnd", reason=reason), env=ENV)) == ""
    ended = [r for r in project(desk).records() if r.leaf.kind == "session.ended"]
    assert [r.leaf.actor.face for r in ended] == ["hook"]


def test_a_cleared_conversation_does_not_end_its_session(desk: Desk) -> None:
    assert told(hook(desk, claude("SessionEnd", reason="clear"), env=ENV)) == ""
    assert "session.ended" not in kinds(desk)


@pytest.mark.parametrize(
    ("sample", "env"),
    [
        (
            claude("SessionEnd", "another", reason="other"),
            {**ENV, "CLAUDE_CODE_SESSION_ID": "another"},
        ),
        (gemini("SessionEnd", session_id="g", reason="exit"), {}),
    ],
)
def test_nobody_elses_session_is_ended(
    desk: Desk, sample: dict[str, object], env: dict[str, str]
) -> None:
    desk.begin("of the shell")
    assert told(hook(desk, sample, env=env)) == ""
    assert "session.ended" not in kinds(desk)


NOTED = {
    "plain": claude("PostToolUse", **shell("cd src && pytest -q")),
    "failed": claude("PostToolUseFailure", **shell("pytest -q"), error="Exit code 1"),
    "codex": codex("PostToolUse", **shell("cargo test"), tool_response="text alone"),
    "gemini": gemini(
        "AfterTool", tool_name="run_shell_command", tool_input={"command": "npm test"}
    ),
}


@pytest.mark.parametrize("sample", NOTED.values(), ids=NOTED)
def test_tests_outside_run_are_noted_and_prove_nothing(
    desk: Desk, sample: dict[str, object]
) -> None:
    before = desk.memprove("resume", "--pack", env=ENV).out
    assert told(hook(desk, sample, env=ENV)) == ""
    note = project(desk).records()[-1]
    assert note.leaf.kind == "note.recorded"
    assert note.leaf.actor.session == 1
    assert json.loads(project(desk).events()[-1].payload or b"").get("failed", False) is (
        sample["hook_event_name"] == "PostToolUseFailure"
    )
    assert desk.memprove("resume", "--pack", env=ENV).out == before
    assert "note.recorded" in desk.memprove("log", env=ENV).out
    assert desk.memprove("complete", env=ENV).problem == "no_passed_run"


def test_a_note_is_no_operation_of_its_client(desk: Desk) -> None:
    words = ("checkpoint", "--fact", "so", "--json")
    first = desk.memprove(*words, env=ENV).json
    assert told(hook(desk, claude("PostToolUse", **shell("pytest -q")), env=ENV)) == ""
    assert kinds(desk)[-1] == "note.recorded"
    again = desk.memprove(*words, env=ENV).json
    assert again["replayed"]
    assert again["claims"] == first["claims"]
    assert desk.memprove("redact", str(len(kinds(desk))), "--reason", "test").code == 0
    assert desk.memprove("verify", "--full").code == 0


@pytest.mark.parametrize(
    "command",
    [
        "memprove run -- pytest -q",
        "cd src; /opt/bin/memprove run --timeout 5 -- npm test",
        "git status --short",
        "echo pytest",
        "pytest 'unclosed",
        "",
    ],
)
def test_other_commands_are_not_noted(desk: Desk, command: str) -> None:
    size = project(desk).size()
    assert told(hook(desk, claude("PostToolUse", **shell(command)), env=ENV)) == ""
    assert project(desk).size() == size


def test_a_note_has_no_secret_and_says_what_it_left_out(desk: Desk) -> None:
    command = f"API_TOKEN=s3cr3ts3cr3t pytest {'x' * 3_000}"
    assert told(hook(desk, claude("PostToolUse", **shell(command)), env=ENV)) == ""
    note = json.loads(project(desk).events()[-1].payload or b"")
    assert "s3cr3t" not in note["command"]
    assert len(note["command"]) == 2_000
    assert note["cut"] > 900


def test_a_compaction_is_told_after_it_since_no_client_listens_before(desk: Desk) -> None:
    size = project(desk).size()
    assert told(hook(desk, claude("PreCompact", trigger="auto"), env=ENV)) == ""
    assert project(desk).size() == size
