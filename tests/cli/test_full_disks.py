"""A disk that takes nothing more: told as that, with the file, and nothing half done."""

import shutil
import subprocess
from pathlib import Path

import pytest
from support.command_line import MEMPROVE, Desk, new_desk
from support.git_repository import isolate

ALONE = ("unshare", "--map-root-user", "--mount")
"""Starts a program that may mount what nobody else sees."""


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return (
        subprocess.run([*ALONE, "mount", "-t", "tmpfs", "t", "/mnt"], check=False).returncode == 0
    )


@pytest.mark.skipif(not can_mount(), reason="nothing can be mounted here")
@pytest.mark.parametrize(("pages", "file"), [(1, "1.key"), (2, "trust"), (3, "installation")])
def test_init_says_which_file_the_configurations_disk_did_not_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int, file: str
) -> None:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_desk(tmp_path)
    desk.config.mkdir()
    script = f'mount -t tmpfs -o size={4 * pages}k t "$MEMPROVE_CONFIG_DIR" && exec "$@"'
    done = desk.memprove("init", command=(*ALONE, "sh", "-c", script, "sh", *MEMPROVE))
    assert done.problem == "disk_full"
    assert f"/{file}: No space left on device" in done.err
    assert desk.memprove("init").code == 0


@pytest.mark.parametrize("verb", ["checkpoint --fact so", "tasks"])
def test_a_limit_on_the_size_of_files_is_told_as_what_cannot_be_written(
    desk: Desk, verb: str
) -> None:
    desk.begin()
    for path in (desk.data / "ledger.db-shm", desk.data / "ledger.db-wal"):
        path.unlink()
    done = desk.shell(f"ulimit -f 1; memprove {verb}")
    assert done.problem == "ledger_unwritable"


@pytest.mark.parametrize("verb", ["--help", "verify --help", "token --help"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_help_that_cannot_be_written_is_told(desk: Desk, verb: str) -> None:
    done = desk.shell(f"memprove {verb} > /dev/full; echo $?")
    assert done.out == "1\n"
    assert done.err.startswith("memprove: output_unwritable: ")
    assert done.err.count("\n") == 1
