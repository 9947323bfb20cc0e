"""The context: whose it is, what its file is called, and what no file can make it be."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memprove.ledger import problems
from memprove.ledger.workspace import context, files
from memprove.ledger.workspace.context import Context, ContextRead

INVALID = r"^context_invalid: "
ID = "01890a5d-ac96-774b-bcce-b302099a805"

SOME = Context(
    workspace=ID + "1",
    task=ID + "2",
    task_number=3,
    session=ID + "4",
    session_number=6,
    agent="claude-code",
    role="",
    runs=(("r1", "failed"), ("r2", "passed"), ("xab12cd", "passed")),
)

any_text = st.text(st.characters(), max_size=80)


def stored(worktree: Path) -> list[str]:
    return sorted(path.name for path in (worktree / ".memprove" / "context").iterdir())


def plant(worktree: Path, data: bytes) -> None:
    files.write_local(worktree, "context/shell.json", data)


# Whose context


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "shell"),
        ({"CLAUDE_CODE_SESSION_ID": "abc"}, "abc"),
        ({"CLAUDE_CODE_SESSION_ID": "abc", "MEMPROVE_CONTEXT": "mine"}, "mine"),
        ({"CLAUDE_CODE_SESSION_ID": "abc", "MEMPROVE_CONTEXT": ""}, "abc"),
        ({"CLAUDE_CODE_SESSION_ID": "abc", "MEMPROVE_CONTEXT": "${MEMPROVE_CONTEXT}"}, "abc"),
        ({"CLAUDE_CODE_SESSION_ID": "${X:-}", "MEMPROVE_CONTEXT": ""}, "shell"),
    ],
)
def test_the_client_session_is_the_first_variable_that_is_set(
    env: dict[str, str], expected: str
) -> None:
    assert context.client_session(env) == expected


def test_a_safe_name_is_kept_and_another_is_hashed() -> None:
    assert context.file_name("a-B_9") == "a-B_9"
    assert context.file_name("a" * 64) == "a" * 64
    assert context.file_name("a/b") == "x-c14cddc033f64b9dea80ea675cf280a0"
    assert context.file_name("shell\n").startswith("x-")


@given(any_text)
def test_every_file_name_is_safe(client: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", context.file_name(client))


@given(any_text, any_text)
def test_two_clients_do_not_share_a_file(one: str, two: str) -> None:
    assert (context.file_name(one) == context.file_name(two)) == (one == two)


# Reading and writing


def test_what_was_written_is_read_until_it_is_removed(tmp_path: Path) -> None:
    context.write_context(tmp_path, "../a b", SOME)
    assert context.read_context(tmp_path, "../a b") == ContextRead(SOME, "")
    assert context.read_context(tmp_path, "shell") == ContextRead(None, "")
    context.remove_context(tmp_path, "../a b")
    context.remove_context(tmp_path, "../a b")
    assert context.load_context(tmp_path, "../a b") is None


def test_a_context_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(problems.Problem, match=INVALID):
        context.write_context(tmp_path, "shell", msgspec.structs.replace(SOME, task_number=0))
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_file_is_moved_aside_and_said(tmp_path: Path) -> None:
    plant(tmp_path, b"{nonsense")
    found = context.read_context(tmp_path, "shell")
    assert found.context is None
    assert found.note.startswith("context_invalid: ")
    assert found.note.endswith("; moved to .memprove/context/shell.json.unreadable")
    assert stored(tmp_path) == ["shell.json.unreadable"]
    assert context.read_context(tmp_path, "shell") == ContextRead(None, "")


def test_a_link_or_a_huge_file_is_moved_aside_and_said(tmp_path: Path) -> None:
    plant(tmp_path, b"x" * 70_000)
    assert context.read_context(tmp_path, "shell").note.startswith("path_unsafe: ")
    (tmp_path / ".memprove" / "context" / "shell.json").symlink_to("/etc/passwd")
    assert context.read_context(tmp_path, "shell").note.startswith("path_unsafe: ")
    assert stored(tmp_path) == ["shell.json.unreadable", "shell.json.unreadable-2"]


def test_a_linked_folder_is_said_and_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "shell.json").write_bytes(b"nonsense")
    files.ensure_folder(tmp_path)
    (tmp_path / ".memprove" / "context").symlink_to(outside)
    assert "; not moved aside: path_unsafe: " in context.read_context(tmp_path, "shell").note
    assert [path.name for path in outside.iterdir()] == ["shell.json"]


def test_loading_moves_nothing(tmp_path: Path) -> None:
    plant(tmp_path, b"{nonsense")
    with pytest.raises(problems.Problem, match=INVALID):
        context.load_context(tmp_path, "shell")
    assert stored(tmp_path) == ["shell.json"]


# What is no context


def test_the_written_form_is_stable() -> None:
    assert context.encode_context(SOME) == (
        b'{"workspace":"01890a5d-ac96-774b-bcce-b302099a8051",'
        b'"task":"01890a5d-ac96-774b-bcce-b302099a8052","task_number":3,'
        b'"session":"01890a5d-ac96-774b-bcce-b302099a8054","session_number":6,'
        b'"agent":"claude-code","role":"",'
        b'"runs":[["r1","failed"],["r2","passed"],["xab12cd","passed"]]}\n'
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"task_number":3', b'"task_number":"3"'),
        (b'"task_number":3', b'"task_number":3.0'),
        (b'"task_number":3', b'"task_number":true'),
        (b'"task_number":3', b'"task_number":-3'),
        (b'"task_number":3', b'"task_number":1' + b"0" * 5000),
        (b'"task_number":3', b'"task_number":3,"task_number":3'),
        (b'"task_number":3', b'"task_number":4,"task_number":3'),
        (b'"task_number":3,', b""),
        (b'"role":""', b'"role":"","more":1'),
        (b'"role":""', b'"role":null'),
        (b'"role":""', b'"role":"\\ud800"'),
        (b'"role":""', b'"role":"\xff"'),
        (b'"role":""', b'"role":' + b"[" * 60_000),
        (b'"role":""', b'"x":' + b"[" * 60_000),
        (b'"role":""', b'"role":"' + b"a" * 201 + b'"'),
        (b'8051"', b'8051\\n"'),
        (b'8051"', b'../x"'),
        (b'"r1"', b'"c1"'),
        (b'"r1"', b'"r01"'),
        (b'"failed"', b'"FAILED \\u001b[2J"'),
        (b'["r1","failed"]', b'["r1","failed","x"]'),
        (b'["r1","failed"]', b'{"r1":"failed"}'),
        (b"}\n", b"}"),
        (b"}\n", b"}\n\n"),
        (b"}\n", b"} {}\n"),
        (b'{"w', b'\xef\xbb\xbf{"w'),
    ],
)
def test_anything_else_than_the_written_form_is_invalid(old: bytes, new: bytes) -> None:
    changed = context.encode_context(SOME).replace(old, new, 1)
    assert changed != context.encode_context(SOME)
    with pytest.raises(problems.Problem, match=INVALID):
        context.decode_context(changed)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_only_ever_invalid(data: bytes) -> None:
    with pytest.raises(problems.Problem, match=INVALID):
        context.decode_context(data)


@given(st.integers(0, 400), st.binary(max_size=8))
def test_a_damaged_context_is_invalid_or_another_valid_one(at: int, patch: bytes) -> None:
    written = context.encode_context(SOME)
    damaged = written[:at] + patch + written[at + len(patch) :]
    try:
        again, code = context.encode_context(context.decode_context(damaged)), ""
    except problems.Problem as problem:
        again, code = damaged, problem.code
    assert again == damaged
    assert code in ("", "context_invalid")


@given(st.text(max_size=200), st.integers(1, 2**53), st.integers(0, 20))
def test_decoding_is_the_inverse_of_encoding(agent: str, number: int, runs: int) -> None:
    some = msgspec.structs.replace(
        SOME, agent=agent, session_number=number, runs=(("w7", "masked"),) * runs
    )
    assert context.decode_context(context.encode_context(some)) == some


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.binary(max_size=100))
def test_no_file_makes_reading_fail(tmp_path: Path, data: bytes) -> None:
    plant(tmp_path, data)
    found = context.read_context(tmp_path, "shell")
    assert found.context is None
    assert found.note
