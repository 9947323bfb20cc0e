"""Where a Workspace is must not matter: in any locale, whatever the environment names it."""

from pathlib import Path

import pytest
from support.command_line import Desk, new_desk

LOCALES = (
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "größe").mkdir()
    return new_desk(tmp_path / "größe")


@pytest.mark.parametrize("made_in", LOCALES)
@pytest.mark.parametrize("used_in", LOCALES)
def test_a_root_that_is_not_ascii_is_found_again_in_any_locale(
    desk: Desk, made_in: dict[str, str], used_in: dict[str, str]
) -> None:
    below = desk.folder / "tiefe"
    below.mkdir()
    assert desk.memprove("init", env=made_in).code == 0
    assert desk.memprove("begin", "Umlaut", env=used_in).code == 0
    assert desk.memprove("run", "--strict", "--", "true", env=used_in, cwd=below).code == 0
    assert desk.memprove("rerun", "r1", env=made_in).code == 0
    shown = desk.memprove("show", "--json", "r2", env=made_in).json
    assert "tiefe" in str(shown)


def test_a_root_that_a_variable_names_is_stored_as_it_is(desk: Desk) -> None:
    env = {"PWD": str(desk.folder), "OLDPWD": str(desk.folder), "APP_SECRET": str(desk.folder)}
    assert desk.memprove("init", env=env).code == 0
    assert desk.memprove("begin", "try it", env=env).code == 0
    assert desk.memprove("run", "--strict", "--", "true", env=env).code == 0
