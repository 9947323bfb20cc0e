"""``verify`` on a ledger that somebody changed: always 3 and what is wrong, whatever it was."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.command_line import Desk
from support.ledgers import Project

from memprove.ledger.storage.registry import FILE_NAME


def project(desk: Desk) -> Project:
    return Project(desk.folder, desk.config, desk.data, desk.env)


def settle(desk: Desk) -> Path:
    """Move everything into the one file, and return it."""
    file = desk.data / FILE_NAME
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in desk.data.iterdir():
        if path != file:
            path.unlink()
    return file


def plainly(statement: str) -> Callable[[Desk], None]:
    """Return what executes *statement* and puts nothing back."""

    def damage(desk: Desk) -> None:
        with closing(sqlite3.connect(desk.data / FILE_NAME)) as connection, connection:
            connection.execute(statement)

    return damage


def tampered(statement: str) -> Callable[[Desk], None]:
    """Return what executes *statement* with the triggers out of the way."""
    return lambda desk: project(desk).tamper(statement)


def filled(content: bytes) -> Callable[[Desk], None]:
    """Return what puts *content* in the place of the ledger."""

    def damage(desk: Desk) -> None:
        settle(desk).write_bytes(content)

    return damage


def flipped(at: int) -> Callable[[Desk], None]:
    """Return what changes one byte of the file."""

    def damage(desk: Desk) -> None:
        file = settle(desk)
        data = bytearray(file.read_bytes())
        data[at] ^= 0xFF
        file.write_bytes(data)

    return damage


def cut(desk: Desk) -> None:
    os.truncate(settle(desk), 3 * 4096)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (plainly("DROP TABLE blob"), "store"),
        (plainly("DROP TRIGGER event_is_never_deleted"), "store"),
        (plainly("CREATE TRIGGER t AFTER INSERT ON row BEGIN SELECT 1; END"), "store"),
        (plainly("CREATE VIEW v AS SELECT 1"), "store"),
        (plainly("CREATE INDEX i ON head(keep)"), "store"),
        (plainly("PRAGMA application_id = 1"), "store"),
        (plainly("DELETE FROM format"), "store"),
        (plainly("UPDATE format SET min_writer = -99"), "store"),
        (plainly("UPDATE head SET keep = 7"), "store"),
        (plainly("UPDATE head SET keep = 0"), "heads"),
        (cut, "store"),
        (filled(bytes(20_000)), "store"),
        (filled(b"not a database\n" * 900), "store"),
        (filled(b""), "store"),
        (flipped(0), "store"),
        (flipped(19), "store"),
        (flipped(100), "store"),
        (plainly("UPDATE row SET key = 'that' WHERE tbl = 'ledger'"), "projections"),
        (plainly("UPDATE row SET value = x'7b7d' WHERE tbl = 'ledger'"), "projections"),
        (plainly("UPDATE row SET value = x'ff' WHERE tbl = 'token'"), "projections"),
        (plainly("DELETE FROM row WHERE tbl = 'token'"), "projections"),
        (plainly("DELETE FROM row"), "projections"),
        (plainly("UPDATE row SET value = x'30' WHERE tbl = 'format'"), "projections"),
        (tampered("DELETE FROM event"), "head"),
        (tampered("DELETE FROM event WHERE seq = 1"), "leaves"),
        (tampered("DELETE FROM event WHERE seq = 2"), "leaves"),
        (tampered("UPDATE event SET payload = x'7b7d' WHERE seq = 2"), "payloads"),
        (plainly("DELETE FROM head"), "head"),
    ],
)
def test_damage_is_found_and_named(desk: Desk, damage: Callable[[Desk], None], check: str) -> None:
    desk.begin()
    damage(desk)
    done = desk.memprove("verify", "--json")
    assert (done.code, done.json["ok"], done.err) == (3, False, "")
    assert check in [finding["check"] for finding in done.json["findings"]]
    assert {"check": check, "ok": False} in done.json["checks"]


def test_damage_is_told_in_every_format(desk: Desk) -> None:
    plainly("DROP TABLE blob")(desk)
    what = "store: the tables of this database are not those of a ledger"
    found = "1 finding in 0 events · the newest head that holds: 0"
    text = desk.memprove("verify")
    assert (text.code, text.err) == (3, "")
    assert text.out == f"FAILED store\n  {what}\n{found}\n"
    github = desk.memprove("verify", "--format", "github")
    assert github.code == 3
    assert github.out.splitlines() == [
        f"::error title=memprove verify::{what}",
        f"::notice title=memprove verify::{found}",
    ]
    assert desk.memprove("tasks").problem == "ledger_damaged"


def test_looking_repairs_nothing(desk: Desk) -> None:
    plainly("DELETE FROM row")(desk)
    before = desk.memprove("verify")
    stored = (desk.data / FILE_NAME).read_bytes()
    assert desk.memprove("tasks").problem == "ledger_damaged"
    assert desk.memprove("verify") == before
    assert (desk.data / FILE_NAME).read_bytes() == stored


def no_ledger(desk: Desk) -> None:
    settle(desk).unlink()


def unknown_token(desk: Desk) -> None:
    (desk.config / "token").write_text("mpv_0000000000000000_c2VjcmV0\n")


def revoked_token(desk: Desk) -> None:
    id = (desk.config / "token").read_text().split("_")[1]
    assert desk.memprove("token", "revoke", id).code == 0


@pytest.mark.parametrize(
    ("lack", "problem"),
    [
        (no_ledger, "data_dir_unreadable"),
        (unknown_token, "token_unknown"),
        (revoked_token, "token_revoked"),
        (lambda desk: (desk.config / "token").unlink(), "token_missing"),
        (lambda desk: (desk.config / "trust").unlink(), "trust_missing"),
    ],
)
def test_what_is_no_damage_is_no_finding(
    desk: Desk, lack: Callable[[Desk], None], problem: str
) -> None:
    lack(desk)
    assert desk.memprove("verify").problem == problem


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("format", ["text", "json", "github"])
def test_findings_that_cannot_be_written_still_end_with_3(desk: Desk, format: str) -> None:
    plainly("DELETE FROM head")(desk)
    done = desk.shell(f"memprove verify --format {format} > /dev/full; echo $?")
    assert done.out == "3\n"
    assert done.err.startswith("memprove: output_unwritable: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "damage",
    [
        plainly("UPDATE blob SET data = substr(data, 1, length(data) - 5)"),
        plainly("UPDATE blob SET data = x'789c4bcc4901000297013c'"),
        plainly("DELETE FROM blob"),
    ],
    ids=["shorter", "another", "gone"],
)
def test_output_that_is_not_what_the_command_wrote_is_not_shown(
    desk: Desk, damage: Callable[[Desk], None]
) -> None:
    desk.begin()
    assert desk.memprove("run", "--", "echo", "genuine").code == 0
    assert desk.memprove("show", "r1", "--output").out == "genuine\n"
    damage(desk)
    assert desk.memprove("show", "r1", "--output").problem == "ledger_damaged"
    assert desk.memprove("verify").code == 3
