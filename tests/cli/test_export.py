"""``export``: a file that is whole or not there, and nothing else touched."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from support.command_line import Desk, Inside, without_root_rights


def recorded(inside: Inside) -> None:
    inside("begin", "try it")
    inside("run", "--kind", "build", "sort", "a.txt")
    inside("checkpoint", "--fact", "it builds [r1]")


def test_a_bundle_goes_into_a_file_or_to_stdout(inside: Inside, desk: Desk) -> None:
    recorded(inside)
    file = desk.base / "t.bundle"
    done = inside("export", "--task", "1", "-o", str(file))
    assert done.out == (
        f"Task 1 exported to `{file}` · 6 events of 10, {file.stat().st_size} bytes\n"
    )
    assert inside("export").stdout == file.read_bytes()
    assert inside("export", "-o", "-", "--format", "bundle").stdout == file.read_bytes()
    told = inside("export", "-o", str(file), "--json").json
    assert (told["task"], told["events"], told["size"], told["format"]) == (1, 6, 10, "bundle")


def test_lines_are_events_from_which_the_leaves_can_be_made_again(
    inside: Inside, desk: Desk
) -> None:
    recorded(inside)
    lines = [json.loads(line) for line in inside("export", "--format", "jsonl").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, 11))
    prev = None
    for line in lines:
        payload = canonical(line["payload"])
        salt = bytes.fromhex(line.pop("salt"))
        committed = sha256(b"memprove payload v1\n" + salt + payload).hexdigest()
        assert committed == line["commitment"]
        hash = line.pop("hash")
        leaf = {**line, "payload": line.pop("commitment")}
        del line["payload"]
        leaf.pop("commitment")
        assert sha256(b"\0" + canonical(leaf)).hexdigest() == hash
        assert leaf.get("prev") == prev
        prev = hash


def canonical(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def test_the_lines_of_a_task_are_its_events(inside: Inside) -> None:
    recorded(inside)
    lines = inside("export", "--format", "jsonl", "--task", "1").out.splitlines()
    assert {json.loads(line)["stream"].split("/")[0] for line in lines} == {"task"}
    assert len(lines) == 6


def test_a_file_that_was_there_is_replaced_whole_or_stays(inside: Inside, desk: Desk) -> None:
    recorded(inside)
    file = desk.base / "t.bundle"
    file.write_text("old")
    assert inside("export", "--task", "9", "-o", str(file)).problem == "task_unknown"
    assert file.read_text() == "old"
    assert inside("export", "-o", str(file)).code == 0
    assert file.read_bytes() != b"old"
    assert [path.name for path in desk.base.iterdir() if ".tmp" in path.name] == []


def test_a_link_is_followed_and_stays_a_link(inside: Inside, desk: Desk) -> None:
    recorded(inside)
    (desk.base / "link").symlink_to("target")
    assert inside("export", "-o", str(desk.base / "link")).code == 0
    assert (desk.base / "link").is_symlink()
    assert (desk.base / "target").read_bytes() == inside("export").stdout


@pytest.mark.parametrize("where", ["nosuch/t.bundle", ".", "pipe", "a\0b", "x" * 300])
def test_a_place_where_no_file_can_be_is_refused(inside: Inside, desk: Desk, where: str) -> None:
    recorded(inside)
    os.mkfifo(desk.base / "pipe")
    to = where if "\0" in where else str(desk.base / where)
    assert inside("export", "-o", to).problem == "file_unwritable"
    assert stat.S_ISFIFO((desk.base / "pipe").stat().st_mode)


def test_a_full_disk_is_told_and_leaves_no_file(desk: Desk) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    desk.begin()
    done = desk.shell("memprove export > /dev/full; echo $?")
    assert done.out == "1\n"
    assert "output_unwritable" in done.err


def test_a_folder_that_may_not_be_written_is_told(desk: Desk) -> None:
    desk.begin()
    folder = desk.base / "shut"
    folder.mkdir(mode=0o500)
    done = desk.memprove("export", "-o", str(folder / "t.bundle"), before=without_root_rights())
    assert done.problem == "file_unwritable"


def test_wrong_usage(inside: Inside, desk: Desk) -> None:
    for words in (
        ("--format", "jsonl", "--outputs"),
        ("--format", "jsonl", "--since", "x"),
        ("--json",),
        ("--json", "-o", "-"),
        ("--format", "xml"),
    ):
        assert inside("export", *words).code == 2, words
    assert inside("export", "--since", str(desk.base / "nosuch")).problem == "argument_invalid"
    (desk.base / "head").write_text("x")
    recorded(inside)
    assert inside("export", "--since", str(desk.base / "head")).problem == "argument_invalid"
    head = inside("head").out
    (desk.base / "head").write_text(head.replace("\n", "/x\n", 1))
    assert inside("export", "--since", str(desk.base / "head")).problem == "head_invalid"


def test_an_edited_log_is_not_exported(inside: Inside, desk: Desk, tmp_path: Path) -> None:
    recorded(inside)
    with closing(sqlite3.connect(desk.data / "ledger.db")) as connection, connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type='trigger'")
        triggers = rows.fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            "UPDATE event SET payload = CAST(replace(CAST(payload AS TEXT), 'builds', 'burns')"
            " AS BLOB)"
        )
        for _, sql in triggers:
            connection.execute(sql)
    file = tmp_path / "out"
    assert inside("export", "-o", str(file)).problem == "ledger_damaged"
    assert inside("export", "--format", "jsonl", "-o", str(file)).problem == "ledger_damaged"
    assert not file.exists()
