"""Configuration, data directory and token: found anew every time, at the first place set."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_config_path, user_state_path
from support.expected import problem
from support.ledgers import seeded

from memprove.ledger import settings
from memprove.ledger.settings import Caller
from memprove.ledger.tokens import Token, new_token, parse_token

ONE, TWO, THREE = (new_token(seeded(seed)) for seed in (1, 2, 3))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = tmp_path / "config"
    config.mkdir()
    (config / "token").write_text(f"{ONE}\n")
    (config / "owner-token").write_text(f"{TWO}\n")
    (config / "data-dir").write_text("/data/one\n")
    return config


def caller(config: Path, **env: str) -> Caller:
    return Caller("cli", config, {"MEMPROVE_CONFIG_DIR": str(config), **env})


def unreadable(file: Path, how: str) -> None:
    file.unlink(missing_ok=True)
    match how:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "bytes":
            file.write_bytes(b"\xff\xfe")
        case "empty":
            file.write_bytes(b" \n")
        case "huge":
            file.write_bytes(b"x" * 5_000)
        case "loop":
            file.symlink_to(file)


HOWS = ["folder", "pipe", "bytes", "empty", "huge", "loop"]


def test_a_variable_that_is_empty_or_was_not_expanded_counts_as_unset(config: Path) -> None:
    for value in ("", "${MEMPROVE_TOKEN}", "${X:-}"):
        at = caller(
            config, MEMPROVE_TOKEN=value, MEMPROVE_TOKEN_FILE=value, MEMPROVE_DATA_DIR=value
        )
        assert settings.token(at) == ONE
        assert settings.data_dir(caller(config, MEMPROVE_DATA_DIR=str(config))) == config
        assert settings.named_data_dir(at) == Path("/data/one")


def test_the_configuration_directory_is_the_option_then_the_variable(config: Path) -> None:
    other = config / "other"
    at = Caller("cli", config, {"MEMPROVE_CONFIG_DIR": str(config)}, config_option=other)
    assert settings.config_dir(at) == other
    assert settings.config_dir(caller(config)) == config
    assert settings.config_dir(Caller("cli", config, {})).name == "memprove"


def test_the_token_is_the_variable_then_the_named_file_then_the_file(
    config: Path, tmp_path: Path
) -> None:
    named = tmp_path / "named"
    named.write_text(str(THREE))
    at = caller(config, MEMPROVE_TOKEN=str(TWO), MEMPROVE_TOKEN_FILE=str(named))
    assert settings.token(at) == TWO
    assert settings.token(caller(config, MEMPROVE_TOKEN_FILE=str(named))) == THREE
    assert settings.token(caller(config)) == ONE
    assert settings.token(caller(config), owner=True) == TWO
    (config / "token").unlink()
    with problem("token_missing"):
        settings.token(caller(config))


def test_a_named_token_file_that_is_not_there_is_a_problem(config: Path, tmp_path: Path) -> None:
    with problem("token_unreadable", "nowhere"):
        settings.token(caller(config, MEMPROVE_TOKEN_FILE=str(tmp_path / "nowhere")))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("name", "code", "read"),
    [
        ("token", "token_unreadable", settings.token),
        ("data-dir", "config_unreadable", settings.named_data_dir),
        ("installation", "config_unreadable", settings.installation),
    ],
)
def test_a_file_that_is_there_but_unreadable_is_a_problem(
    config: Path, how: str, name: str, code: str, read: Callable[[Caller], Any]
) -> None:
    unreadable(config / name, how)
    with problem(code, name):
        read(caller(config))


@pytest.mark.parametrize("how", HOWS)
def test_the_next_source_is_not_tried(config: Path, tmp_path: Path, how: str) -> None:
    unreadable(tmp_path / "named", how)
    with problem("token_unreadable", "named"):
        settings.token(caller(config, MEMPROVE_TOKEN_FILE=str(tmp_path / "named")))


@pytest.mark.parametrize(
    "text", ["x", " ", "mpv_", "mpv_a", "mpv__b", "mpv_a_", "ghp_a_b", f"{ONE}"[4:], "mpv-a-b"]
)
def test_a_text_that_is_no_token_is_a_problem_that_does_not_show_it(
    config: Path, text: str
) -> None:
    with pytest.raises(Exception, match="MEMPROVE_TOKEN holds no memprove token") as caught:
        settings.token(caller(config, MEMPROVE_TOKEN=text))
    assert len(text) < 4 or text not in str(caught.value)


@pytest.mark.parametrize("text", ["relative", "./x", "/a\n/b", ""])
def test_a_data_directory_is_one_absolute_path(config: Path, text: str) -> None:
    (config / "data-dir").write_text(f"{text}\n")
    with problem("config_unreadable" if not text else "data_dir_unreadable"):
        settings.named_data_dir(caller(config))
    if text:
        with problem("data_dir_unreadable", "MEMPROVE_DATA_DIR"):
            settings.data_dir(caller(config, MEMPROVE_DATA_DIR=text))


def test_only_init_makes_a_ledger(config: Path) -> None:
    with problem("data_dir_unreadable", "/data/one"):
        settings.data_dir(caller(config))
    (config / "data-dir").unlink()
    with problem("data_dir_missing"):
        settings.data_dir(caller(config))


@pytest.mark.parametrize(
    ("env", "seen"),
    [
        ({}, False),
        ({"CLAUDECODE": "1"}, True),
        ({"CLAUDECODE": ""}, False),
        ({"GEMINI_CLI": "1"}, True),
        ({"CODEX_SANDBOX": "seatbelt"}, True),
        ({"CODEX": "1"}, False),
        ({"CLAUDE_CODE_SESSION_ID": "x"}, False),
    ],
)
def test_an_agents_environment_is_seen(config: Path, env: dict[str, str], seen: bool) -> None:
    assert caller(config, **env).agent_env is seen


def test_a_token_reads_as_it_is_written_and_never_prints_its_secret() -> None:
    for seed in range(200):
        token = new_token(seeded(seed))
        assert parse_token(f" {token}\n", "x") == token
        assert token.secret not in repr(token)
        assert len(token.secret_hash) == 64
    assert ONE.secret_hash != Token(ONE.id, TWO.secret).secret_hash


def test_the_configuration_directory_is_the_platforms_place_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unnamed = Caller("cli", tmp_path, {})
    for base in ("", str(tmp_path / "base"), "relative", "  ", "~/x"):
        monkeypatch.setenv("XDG_CONFIG_HOME", base)
        assert settings.config_dir(unnamed) == user_config_path("memprove")


def test_the_state_directory_is_the_variable_then_the_platforms_place(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = caller(config, MEMPROVE_STATE_DIR=str(tmp_path / "state"))
    assert settings.state_dir(named) == tmp_path / "state"
    for base in ("", str(tmp_path / "base"), "relative", "  "):
        monkeypatch.setenv("XDG_STATE_HOME", base)
        assert settings.state_dir(caller(config)) == user_state_path("memprove")
