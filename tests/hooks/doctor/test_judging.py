"""What doctor says of answers, documents, versions and modes: pure."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memprove.hooks.doctor import trial
from memprove.hooks.doctor.expansion import expanded
from memprove.ledger import health
from memprove.ledger.findings import Check, Finding, State, checked, fault, ok
from memprove.ledger.problems import KINDS

TOOLS = {"result": {"tools": [{"name": "pack"}, {"name": "begin"}]}}
ANSWERS: dict[str, dict[str, Any]] = {
    "discover": {"result": {"supportedVersions": ["2026-07-28", "2025-11-25"]}},
    "hello": {"result": {"protocolVersion": "2025-11-25"}},
    "newer": TOOLS,
    "older": TOOLS,
}


def test_expansion_is_that_of_the_client() -> None:
    env = {"A": "a", "EMPTY": ""}
    for text, wanted in {
        "${A}/x": "a/x",
        "${A:-b}": "a",
        "${EMPTY:-b}": "b",
        "${NONE:-}": "",
        "${NONE}": "${NONE}",
        "$A": "$A",
    }.items():
        assert expanded(text, env) == wanted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"discover": {"error": {"code": -32601}}}, "server/discover"),
        ({"hello": {"result": {"protocolVersion": "2024-11-05"}}}, "initialize"),
        ({"newer": {"result": {"tools": []}}}, "tools/list"),
        ({"older": {"result": {"tools": "x"}}}, "tools/list"),
    ],
)
def test_both_eras_must_answer(change: Mapping[str, Any], said: str) -> None:
    assert said in "".join(trial.faults_of({**ANSWERS, **change}))
    assert bool(trial.faults_of({**ANSWERS, **change})) == bool(said)


def test_what_ends_a_check_is_a_fault_of_that_check_alone() -> None:
    def raising(error: Exception) -> Check[None]:
        def check(subject: None) -> Iterator[Finding]:
            yield ok("first")
            raise error

        return check

    errors = (ValueError("a secret"), TypeError(), RecursionError(), PermissionError(13, "no", "f"))
    checks = {type(error).__name__: raising(error) for error in errors}
    found = list(checked({**checks, "last": lambda subject: iter([ok("last")])}, None))
    faults = [one for one in found if one.state is State.FAULT]
    assert [one.check for one in faults] == list(checks)
    assert all(one.cure for one in faults)
    assert faults[0].what.startswith("this check of memprove itself is broken: ValueError at test_")
    assert "a secret" not in str(found)
    assert found[-1].what == "last"


FINE = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x"}}\n'


@pytest.mark.parametrize(
    ("code", "output", "state"),
    [
        (0, FINE, State.OK),
        (1, FINE, State.FAULT),
        (0, FINE * 2, State.FAULT),
        (0, b"hello", State.FAULT),
        (0, b'{"hookSpecificOutput":[]}', State.FAULT),
        (0, b"", State.FAULT),
    ],
)
def test_a_hook_answers_with_one_document(code: int, output: bytes, state: State) -> None:
    assert trial.judged_hook("x", code, output, b"", registered=True).state is state


def test_a_silent_hook_says_why_and_what_to_do() -> None:
    reason = b"noise\nmemprove hook: token_missing: no token; run ...\n"
    found = trial.judged_hook("x", 0, b"", reason, registered=True)
    assert "says nothing: token_missing: no token" in found.what
    assert found.cure == "run `memprove init`, or set MEMPROVE_TOKEN"
    elsewhere = trial.judged_hook("x", 0, b"", reason, registered=False)
    assert elsewhere.state is State.WARNING


def test_an_old_sqlite_is_a_fault() -> None:
    assert health.judged_sqlite("3.51.3").state is State.OK
    assert health.judged_sqlite("3.54.0").state is State.OK
    for version in ("3.51.2", "3.9.9", "3.46.1"):
        assert health.judged_sqlite(version).state is State.FAULT


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("git version 2.39.5 (Apple Git-154)", State.OK),
        ("git version 2.45.1.windows.1", State.OK),
        ("git version 2.37.0", State.WARNING),
        ("git version 2.30.9", State.FAULT),
        ("nonsense", State.FAULT),
    ],
)
def test_the_version_of_git_decides(told: str, state: State) -> None:
    assert health.judged_git(told).state is state


@pytest.mark.parametrize(
    ("mode", "secret", "said"),
    [
        (0o600, True, None),
        (0o640, True, "can be read by others"),
        (0o644, False, None),
        (0o664, False, "can be written by others"),
    ],
)
def test_modes_decide(tmp_path: Path, mode: int, secret: bool, said: str | None) -> None:
    file = tmp_path / "token"
    file.write_text("")
    file.chmod(mode)
    assert health.exposed(file, secret) == (None if said is None else (file, said))


def test_a_secret_behind_a_link_is_none(tmp_path: Path) -> None:
    (tmp_path / "token").symlink_to(tmp_path / "other")
    assert health.exposed(tmp_path / "token", True) == (tmp_path / "token", "is no regular file")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_problem_is_a_fault_with_a_cure(kind: Any) -> None:
    found = fault(kind("it"))
    assert found.what.startswith(f"{kind.code}: ")
    assert found.cure
