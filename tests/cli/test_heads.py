"""``head``, ``key rotate`` and ``verify --require-head``: a head kept elsewhere, and demanded."""

import subprocess
from pathlib import Path

import pytest
from support.command_line import Desk, desk_with_ledger
from support.git_repository import isolate


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    return desk_with_ledger(tmp_path)


def git(desk: Desk, *arguments: str) -> str:
    command = ["git", "-C", str(desk.folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_head_prints_the_signed_head_and_saves_it(desk: Desk) -> None:
    printed = desk.memprove("head")
    assert (printed.code, printed.err) == (0, "")
    origin, size, root = printed.out.splitlines()[:3]
    assert printed.out.splitlines()[4].startswith(f"— {origin} ")
    saved = desk.memprove("head", "--save", "head.txt")
    assert saved.out == f"{size} events · saved to `head.txt`\n"
    assert (desk.folder / "head.txt").read_bytes() == printed.stdout
    told = desk.memprove("head", "--json").json
    assert (told["origin"], told["size"], told["epoch"]) == (origin, int(size), 1)
    assert told["note"] == printed.out
    assert bytes.fromhex(told["root"]) != b""
    assert root


def test_a_head_is_stored_under_a_ref_that_never_goes_back(desk: Desk) -> None:
    first = desk.memprove("head").stdout
    origin = first.decode().splitlines()[0]
    ref = f"refs/memprove/{origin}"
    stored = desk.memprove("head", "--git-ref")
    assert (stored.code, stored.out.endswith("…`\n") or ref in stored.out) == (0, True)
    assert git(desk, "cat-file", "-t", ref) == "blob\n"
    assert git(desk, "cat-file", "blob", ref).encode() == first
    desk.begin()
    assert desk.memprove("head", "--git-ref").code == 0
    second = desk.memprove("head").stdout
    assert git(desk, "cat-file", "blob", ref).encode() == second != first
    newer = second.decode().replace(f"\n{second.decode().splitlines()[1]}\n", "\n999\n")
    blob = subprocess.run(
        ["git", "-C", str(desk.folder), "hash-object", "-w", "--stdin"],
        input=newer.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    git(desk, "update-ref", ref, blob.strip())
    assert desk.memprove("head", "--git-ref").problem == "argument_invalid"


def test_a_ref_needs_a_repository(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / ".git").rename(tmp_path / "elsewhere")
    assert desk.memprove("head", "--git-ref").problem in (
        "argument_invalid",
        "workspace_unregistered",
    )


def test_a_head_that_cannot_be_saved_is_a_problem_and_leaves_nothing(desk: Desk) -> None:
    done = desk.memprove("head", "--save", "missing/head.txt")
    assert done.problem == "output_unwritable"
    (desk.folder / "folder").mkdir()
    assert desk.memprove("head", "--save", "folder").problem == "output_unwritable"
    assert not list(desk.folder.glob(".*.tmp"))


def test_verify_demands_a_saved_head(desk: Desk, tmp_path: Path) -> None:
    older = (desk.data / "ledger.db").read_bytes(), (desk.data / "ledger.db-wal").read_bytes()
    desk.begin()
    desk.memprove("head", "--save", "head.txt")
    desk.memprove("end")
    done = desk.memprove("verify", "--require-head", "head.txt")
    assert done.code == 0
    assert "ok     required\n" in done.out
    for name, data in zip(("ledger.db", "ledger.db-wal"), older, strict=True):
        (desk.data / name).write_bytes(data)
    (desk.data / "ledger.db-shm").unlink(missing_ok=True)
    elsewhere = {"MEMPROVE_STATE_DIR": str(tmp_path / "elsewhere")}
    assert desk.memprove("verify", env=elsewhere).code == 0
    done = desk.memprove("verify", "--require-head", "head.txt", env=elsewhere)
    assert done.code == 3
    assert "FAILED required\n" in done.out
    assert "required: ledger_truncated: it was seen with " in done.out
    done = desk.memprove("verify")
    assert done.code == 3
    assert "remembered: ledger_truncated: " in done.out
    assert desk.memprove("tasks").problem == "ledger_truncated"


@pytest.mark.parametrize("text", [None, b"", b"nonsense\n", b"x" * 70_000])
def test_a_file_that_holds_no_head_is_refused(desk: Desk, text: bytes | None) -> None:
    if text is not None:
        (desk.folder / "head.txt").write_bytes(text)
    assert desk.memprove("verify", "--require-head", "head.txt").problem == "argument_invalid"


def test_the_owner_rotates_the_key(desk: Desk) -> None:
    done = desk.memprove("key", "rotate")
    assert done.code == 0
    assert done.out.startswith("epoch 2 begins after event ")
    assert desk.memprove("key", "rotate", "--json").json["epoch"] == 3
    assert desk.memprove("key", "rotate", env={"CLAUDECODE": "1"}).problem == "owner_in_agent_shell"
    assert desk.memprove("verify").code == 0
