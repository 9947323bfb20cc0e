"""``backup``: one whole, verified file, or none."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import Desk


def restored(desk: Desk, file: Path) -> dict[str, str]:
    """Return the environment in which *file* is the ledger."""
    data = desk.base / "restored"
    data.mkdir()
    (data / "ledger.db").write_bytes(file.read_bytes())
    return {"MEMPROVE_DATA_DIR": str(data)}


def test_a_backup_is_a_ledger_that_verifies(desk: Desk) -> None:
    desk.begin("Parse lists")
    file = desk.base / "backups" / "one.db"
    file.parent.mkdir()
    done = desk.memprove("backup", str(file), "--json")
    assert done.code == 0
    assert (done.json["file"], done.json["size"]) == (str(file), 7)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ["one.db"]
    there = restored(desk, file)
    assert desk.memprove("verify", env=there).code == 0
    assert "Parse lists" in desk.memprove("tasks", env=there).out


def test_a_file_that_is_there_is_never_replaced(desk: Desk) -> None:
    file = desk.base / "one.db"
    file.write_text("mine")
    for target in (file, desk.base):
        assert desk.memprove("backup", str(target)).problem == "argument_invalid"
    assert file.read_text() == "mine"


def test_what_a_killed_backup_left_goes_with_the_next_one(desk: Desk) -> None:
    folder = desk.base / "backups"
    for name in (".one.db.0a1b2c3d.tmp", ".one.db.11111111.tmp", ".two.db.22222222.tmp"):
        (folder / name).mkdir(parents=True)
        (folder / name / "ledger.db").write_text("half")
    for path in (folder / ".one.db.0a1b2c3d.tmp").iterdir():
        os.utime(path, (1, 1))
    os.utime(folder / ".one.db.0a1b2c3d.tmp", (1, 1))
    assert desk.memprove("backup", str(folder / "one.db")).code == 0
    left = [".one.db.11111111.tmp", ".two.db.22222222.tmp", "one.db"]
    assert sorted(os.listdir(folder)) == left, "one may be at work, another is of another backup"


def test_where_nothing_can_be_written_it_says_so(desk: Desk) -> None:
    done = desk.memprove("backup", str(desk.base / "no" / "one.db"))
    assert done.problem == "backup_unwritable"
    assert "No such file or directory" in done.err


def test_a_damaged_ledger_makes_no_backup(desk: Desk) -> None:
    database = desk.data / "ledger.db"
    data = bytearray(database.read_bytes() + b"\0" * 4096)
    data[100:4096] = b"\xff" * 3996
    for ending in ("-wal", "-shm"):
        (desk.data / f"ledger.db{ending}").unlink(missing_ok=True)
    database.write_bytes(data)
    file = desk.base / "one.db"
    assert desk.memprove("backup", str(file)).problem == "ledger_damaged"
    assert not [name for name in os.listdir(desk.base) if "one" in name]


@pytest.mark.parametrize("size", [40, 60])
def test_a_full_disk_leaves_no_half_backup(desk: Desk, tmp_path: Path, size: int) -> None:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk]).returncode:
        pytest.skip("this system mounts no tmpfs")
    try:
        assert desk.memprove("backup", str(disk / "one.db")).problem == "disk_full"
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_restore_says_what_to_trust_and_what_is_back(desk: Desk) -> None:
    desk.begin("Parse SECRET")
    file = desk.base / "one.db"
    assert desk.memprove("backup", str(file)).code == 0
    (erased,) = desk.memprove("redact", "t1", "--reason", "leak", "--json").json["erased"]
    number = str(erased["event"])
    done = desk.memprove("restore", str(file))
    assert done.code == 0, done
    assert f"  {number}: erase them anew, `memprove redact NUMBER`" in done.out.splitlines()
    trust = (desk.config / "trust").read_text().splitlines()
    assert [f"  {line}" for line in trust if not line.startswith("#")] == done.out.splitlines()[-2:]
    again = desk.memprove("redact", number, "--reason", "leak")
    aside = desk.data / "ledger.db.before-8"
    assert f"not touched: `{aside}`, kept by a restore" in again.out
    assert b"SECRET" not in (desk.data / "ledger.db").read_bytes()
    assert desk.memprove("verify", "--full").code == 0


def test_what_is_no_database_is_not_restored_and_holds_nobody_up(desk: Desk) -> None:
    pipe, text = desk.base / "pipe", desk.base / "text"
    os.mkfifo(pipe)
    text.write_text("not a database\n")
    before = sorted(os.listdir(desk.data))
    for file in (Path("/dev/zero"), pipe, text, desk.base, desk.base / "missing"):
        assert desk.memprove("restore", str(file)).problem == "backup_unfit"
    assert sorted(os.listdir(desk.data)) == before
    assert desk.memprove("verify").code == 0


def test_another_ledger_in_the_place_of_a_restored_one_is_a_finding(desk: Desk) -> None:
    desk.begin("Parse lists")
    file = desk.base / "one.db"
    assert desk.memprove("backup", str(file)).code == 0
    assert desk.memprove("restore", str(file)).code == 0
    other = {"MEMPROVE_CONFIG_DIR": str(desk.base / "c"), "MEMPROVE_DATA_DIR": str(desk.base / "d")}
    assert desk.memprove("init", env=other).code == 0
    assert desk.memprove("backup", str(desk.base / "other.db"), env=other).code == 0
    for ending in ("", "-wal", "-shm"):
        (desk.data / f"ledger.db{ending}").unlink(missing_ok=True)
    (desk.data / "ledger.db").write_bytes((desk.base / "other.db").read_bytes())
    done = desk.memprove("verify")
    assert done.code == 3
    assert "remembered: ledger_replaced" in done.out
