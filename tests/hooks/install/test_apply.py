"""All files change, or none; and everything that can stand in the way is told."""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest
from support.children import exit_code_of
from support.client_files import LOCAL, SERVER, SHARED, Desk, new_client_desk
from support.expected import problem
from support.git_repository import isolate

from memprove.hooks.install import files
from memprove.hooks.install.entries import Program
from memprove.hooks.install.plan import Plan
from memprove.hooks.install.receipts import Receipts

SETTINGS = '{\n  "model": "opus"\n}\n'
SERVERS = '{"mcpServers": {"a": {"command": "a"}}}'


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = new_client_desk(tmp_path)
    desk.write(SERVER, SERVERS)
    desk.write(LOCAL, SETTINGS)
    return desk


def check_nothing_left(desk: Desk) -> None:
    assert not list(desk.folder.rglob(".*.tmp"))
    assert not list(desk.config.rglob(".*.tmp"))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_the_mode_stays(desk: Desk, mode: int) -> None:
    (desk.folder / LOCAL).chmod(mode)
    desk.install()
    assert stat.S_IMODE((desk.folder / LOCAL).stat().st_mode) == mode
    desk.uninstall()
    assert stat.S_IMODE((desk.folder / LOCAL).stat().st_mode) == mode


def test_backups_and_receipts_are_private(desk: Desk) -> None:
    desk.install()
    kept = [path for path in desk.config.rglob("*") if path.is_file()]
    assert SETTINGS.encode() in [path.read_bytes() for path in kept]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in kept} == {0o700}


def test_a_file_that_changes_after_the_plan_is_noticed_and_all_is_put_back(desk: Desk) -> None:
    planned = desk.plan()
    desk.write(LOCAL, '{"model": "haiku"}')
    before = desk.bytes()
    with problem("client_file_changed", LOCAL):
        desk.apply(planned)
    assert desk.bytes() == before
    assert not list((desk.config / "receipts").iterdir())
    check_nothing_left(desk)


def test_two_at_once_that_want_the_same_are_both_content(desk: Desk) -> None:
    before = desk.bytes()
    first, second = desk.plan(), desk.plan()
    desk.apply(first)
    desk.apply(second)
    check_nothing_left(desk)
    desk.uninstall()
    assert desk.bytes() == before


def test_a_file_that_appears_after_the_plan_is_noticed(tmp_path: Path, desk: Desk) -> None:
    (desk.folder / LOCAL).unlink()
    planned = desk.plan()
    desk.write(LOCAL, SETTINGS)
    with problem("client_file_changed", LOCAL):
        desk.apply(planned)
    assert desk.text(LOCAL) == SETTINGS
    assert desk.text(SERVER) == SERVERS


def test_a_link_that_appears_after_the_plan_is_not_followed(tmp_path: Path, desk: Desk) -> None:
    planned = desk.plan()
    elsewhere = tmp_path / "elsewhere"
    (desk.folder / ".claude").rename(elsewhere)
    (desk.folder / ".claude").symlink_to(elsewhere)
    with problem("client_file_changed", LOCAL):
        desk.apply(planned)
    assert (elsewhere / "settings.local.json").read_text() == SETTINGS


STEPS = ("open", "mkdir", "replace", "fsync", "close", "unlink")


def counted(step: int, fail: Callable[[], NoReturn]) -> Callable[[Any], Any]:
    """Return what makes the *step*-th call of several functions *fail*."""
    made = 0

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal made
            made += 1
            if made == step:
                fail()
            return real(*arguments, **options)

        return call

    return wrap


def full() -> NoReturn:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", range(1, 13))
def test_a_disk_that_is_full_at_any_step_leaves_all_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    planned = desk.plan()
    before = desk.bytes()
    wrap = counted(step, full)
    with monkeypatch.context() as patch:
        for name in ("fsync", "replace"):
            patch.setattr(os, name, wrap(getattr(os, name)))
        with problem("disk_full"):
            desk.apply(planned)
    assert desk.bytes() == before
    check_nothing_left(desk)
    desk.install()
    desk.uninstall()
    assert desk.bytes() == before


def die() -> NoReturn:
    os._exit(9)


def apply_and_die_at(step: int, desk: Desk, planned: Plan) -> None:
    wrap = counted(step, die)
    for name in STEPS:
        setattr(os, name, wrap(getattr(os, name)))
    desk.apply(planned)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_death_at_any_step_init_goes_on_and_uninstall_leads_back(tmp_path: Path) -> None:
    for step in range(1, 200, 4):
        desk = new_client_desk(tmp_path / str(step), repository=False)
        desk.write(SERVER, SERVERS)
        before = desk.bytes()
        planned = desk.plan()
        code = exit_code_of(partial(apply_and_die_at, step, desk, planned))
        assert code in (0, 9)
        for left in desk.folder.rglob(".*.tmp"):
            os.utime(left, (0, 0))
        if step % 8 == 1:
            desk.install()
        desk.uninstall()
        assert {n: d for n, d in desk.bytes().items() if not n.endswith(".tmp")} == before
        desk.install()
        check_nothing_left_in(desk.folder)
        if code == 0:
            break
    assert step > 20


def check_nothing_left_in(folder: Path) -> None:
    assert not list(folder.rglob(".*.tmp"))


# What stands in the way


@pytest.mark.parametrize("name", [SERVER, LOCAL])
def test_a_pipe_is_no_file(desk: Desk, name: str) -> None:
    (desk.folder / name).unlink()
    os.mkfifo(desk.folder / name)
    with problem("path_unsafe", f"{name} is no regular file"):
        desk.install()


def test_a_folder_is_no_file(desk: Desk) -> None:
    (desk.folder / SERVER).unlink()
    (desk.folder / SERVER).mkdir()
    with problem("path_unsafe", SERVER):
        desk.install()
    assert desk.text(LOCAL) == SETTINGS


def test_a_file_without_end_is_refused(desk: Desk) -> None:
    desk.write(SERVER, b" " * (files.LARGEST + 1))
    with problem("client_file_invalid", f"{SERVER} has more than"):
        desk.install()


def test_a_file_of_another_user_is_refused(desk: Desk) -> None:
    try:
        os.chown(desk.folder / SERVER, 65534, -1)
    except OSError:
        pytest.skip("only root gives files away")
    with problem("path_unsafe", f"{SERVER} belongs to another user"):
        desk.install()


@pytest.mark.parametrize("target", ["../outside.json", "/etc/hostname", ".git/config"])
def test_a_link_that_leads_out_is_refused(desk: Desk, tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.json").write_text("{}")
    (desk.folder / SERVER).unlink()
    (desk.folder / SERVER).symlink_to(target)
    before = desk.bytes()
    with problem("path_unsafe", f"{SERVER} is a link"):
        desk.install()
    assert desk.bytes() == before
    assert (tmp_path / "outside.json").read_text() == "{}"


def test_a_folder_that_is_a_link_out_is_refused(desk: Desk, tmp_path: Path) -> None:
    (desk.folder / ".claude").rename(tmp_path / "outside")
    (desk.folder / ".claude").symlink_to(tmp_path / "outside")
    with problem("path_unsafe", f"{LOCAL} is a link that leads out"):
        desk.install()
    assert desk.text(SERVER) == SERVERS


def test_a_link_inside_is_written_through_and_stays_a_link(desk: Desk) -> None:
    (desk.folder / SERVER).rename(desk.folder / "dir" / "servers.json")
    (desk.folder / SERVER).symlink_to("dir/servers.json")
    before = desk.bytes()
    desk.install()
    assert (desk.folder / SERVER).is_symlink()
    assert "memprove" in desk.text("dir/servers.json")
    desk.uninstall()
    assert (desk.folder / SERVER).is_symlink()
    assert desk.bytes() == before


def test_settings_that_are_not_written_may_be_anything(desk: Desk) -> None:
    desk.write(SHARED, "// no JSON")
    desk.install()
    assert desk.text(SHARED) == "// no JSON"
    assert "memprove" in desk.text(LOCAL)
    with problem("client_file_invalid", SHARED):
        desk.install(shared=True)


# Back


def test_with_other_changes_since_only_ours_is_taken_out(desk: Desk) -> None:
    desk.install()
    desk.write(LOCAL, desk.text(LOCAL).replace('"opus"', '"haiku"'))
    desk.uninstall()
    assert desk.text(LOCAL) == SETTINGS.replace("opus", "haiku")
    assert desk.text(SERVER) == SERVERS


def test_without_its_receipts_only_our_members_are_taken_out(desk: Desk) -> None:
    desk.install()
    for receipt in (desk.config / "receipts").iterdir():
        receipt.write_bytes(b"broken")
    desk.uninstall()
    assert desk.text(SERVER) == SERVERS
    assert (
        desk.text(LOCAL) == '{\n  "model": "opus",\n  "hooks": {\n    "SessionStart": []\n  }\n}\n'
    )


def test_a_file_that_we_made_and_somebody_used_stays_without_ours(desk: Desk) -> None:
    (desk.folder / LOCAL).unlink()
    desk.install()
    text = desk.text(LOCAL)
    desk.write(LOCAL, text.replace("{\n", '{\n  "model": "opus",\n', 1))
    desk.uninstall()
    assert desk.text(LOCAL) == SETTINGS


def test_a_file_that_we_made_and_somebody_laid_out_anew_goes(desk: Desk) -> None:
    (desk.folder / LOCAL).unlink()
    (desk.folder / ".claude").rmdir()
    desk.install()
    desk.write(LOCAL, desk.text(LOCAL).replace("  ", "\t"))
    desk.uninstall()
    assert not (desk.folder / ".claude").exists()


def test_after_several_changes_the_first_bytes_come_back(desk: Desk) -> None:
    before = desk.bytes()
    desk.install()
    desk.install("SubagentStart")
    desk.install("SessionEnd", "PostToolUse")
    assert desk.text(LOCAL).count('"/opt/bin/memprove"') == 4
    desk.uninstall()
    assert desk.bytes() == before
    desk.uninstall()
    assert desk.bytes() == before


def test_a_receipt_leads_back_even_where_somebody_wrote_between_two_changes(desk: Desk) -> None:
    desk.install()
    desk.write(LOCAL, desk.text(LOCAL).replace('"opus"', '"haiku"'))
    desk.install("SubagentStart")
    desk.uninstall()
    assert desk.text(LOCAL) == SETTINGS.replace("opus", "haiku")


def test_what_somebody_wrote_between_two_changes_stays_in_a_file_that_we_made(desk: Desk) -> None:
    (desk.folder / SERVER).unlink()
    desk.install()
    theirs = '{\n    "theirs": {"command": "x"},'
    desk.write(SERVER, desk.text(SERVER).replace("{", theirs, 2).replace(theirs, "{", 1))
    desk.install(shared=True)
    desk.uninstall()
    assert json.loads(desk.text(SERVER)) == {"mcpServers": {"theirs": {"command": "x"}}}


def test_a_folder_that_was_made_goes_after_the_hooks_moved(desk: Desk) -> None:
    (desk.folder / LOCAL).unlink()
    (desk.folder / ".claude").rmdir()
    desk.install()
    desk.install(shared=True)
    desk.uninstall()
    assert not (desk.folder / ".claude").exists()


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("order", [(0,), (0, 1), (0, 1, 0)])
def test_two_ledgers_lead_back_to_before_both(
    desk: Desk, tmp_path: Path, order: tuple[int, ...], last: int
) -> None:
    before = desk.bytes()
    ways = (desk.config, tmp_path / "here")
    desks = [
        replace(
            desk,
            config=one,
            others=(ways[1 - n],),
            program=Program("/opt/bin/memprove", str(one), default_config=False),
        )
        for n, one in enumerate(ways)
    ]
    for number in order:
        desks[number].install()
    desks[last].uninstall()
    assert desk.bytes() == before
    assert not any(
        (one / "receipts").exists() and any((one / "receipts").iterdir()) for one in ways
    )


def test_a_lost_backup_does_not_stand_in_the_way(desk: Desk) -> None:
    desk.install()
    for backup in (desk.config / "backups").iterdir():
        backup.write_bytes(b"something else")
    desk.uninstall()
    assert desk.text(LOCAL) == SETTINGS
    assert Receipts(desk.config).of(desk.folder / LOCAL) is None
