"""``token``: secrets go to private files and nowhere else."""

import stat
from pathlib import Path

import pytest
from support.command_line import Desk, Inside


def token_id(file: Path) -> str:
    return file.read_text().split("_")[1]


def private(file: Path) -> bool:
    return stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_token_is_issued_into_a_private_file(desk: Desk, inside: Inside) -> None:
    done = inside("token", "issue", "reader", "--scope", "mcp-read")
    file = desk.config / "token-reader"
    assert done.out == f"{token_id(file)} issued, in `{file}`\n"
    assert private(file)
    assert file.read_text().strip() not in done.out + done.err
    env = {"MEMPROVE_TOKEN_FILE": str(file)}
    assert desk.memprove("tasks", env=env).code == 0
    refused = desk.memprove("begin", "t", env=env)
    assert refused.problem == "role_forbidden"
    assert "mcp-write" in refused.err


def test_a_file_that_is_there_is_never_overwritten(desk: Desk, inside: Inside) -> None:
    file = desk.base / "mine"
    file.write_text("precious")
    before = inside("log", "--json").json["size"]
    refused = inside("token", "issue", "x", "-o", str(file))
    assert (refused.problem, str(file) in refused.err) == ("argument_invalid", True)
    assert inside("token", "issue", "a/b").problem == "argument_missing"
    assert file.read_text() == "precious"
    assert inside("log", "--json").json["size"] == before


def test_a_name_is_not_issued_twice(desk: Desk, inside: Inside) -> None:
    assert inside("token", "issue", "reader").code == 0
    file = desk.config / "token-reader"
    kept = file.read_text()
    again = inside("token", "issue", "reader")
    assert (again.problem, str(file) in again.err) == ("argument_invalid", True)
    assert file.read_text() == kept


def test_nothing_is_left_of_a_token_that_was_not_issued(desk: Desk, inside: Inside) -> None:
    file = desk.base / "new"
    assert inside("token", "issue", "x" * 101, "-o", str(file)).problem == "text_too_long"
    assert not file.exists()


@pytest.mark.parametrize("name", ["token", "owner-token"])
def test_a_token_is_rotated_where_it_is(desk: Desk, inside: Inside, name: str) -> None:
    file = desk.config / name
    old = file.read_text()
    done = inside("token", "rotate", token_id(file), "--json")
    assert done.json["revoked"] == old.split("_")[1]
    assert done.json["id"] == token_id(file)
    assert private(file)
    assert not list(desk.config.glob(".*.tmp"))
    listed = {told["id"]: told for told in inside("token", "list", "--json").json["tokens"]}
    assert listed[old.split("_")[1]]["revoked"]
    assert not listed[token_id(file)]["revoked"]
    assert inside("begin", "t").code == 0
    assert desk.memprove("tasks", env={"MEMPROVE_TOKEN": old.strip()}).problem == "token_revoked"


def test_a_revoked_token_opens_nothing(desk: Desk, inside: Inside) -> None:
    id = token_id(desk.config / "token")
    assert inside("token", "revoke", id).out == f"{id} revoked\n"
    assert inside("tasks").problem == "token_revoked"
    assert inside("token", "revoke", id).problem == "token_revoked"
    assert inside("token", "rotate", id).problem == "token_revoked"
    assert inside("token", "rotate", "nosuch").problem == "token_unknown"
    rows = [line.split() for line in inside("token", "list").out.splitlines()]
    assert [id, "agent", "revoked"] in [row[:3] for row in rows]
