"""Which program a client is to start."""

import sys
from pathlib import Path

from memprove.ledger.executable import executable, on_path


def test_the_program_is_named_as_it_was_started_without_following_links(tmp_path: Path) -> None:
    versioned = tmp_path / "3.11" / "memprove"
    versioned.parent.mkdir()
    versioned.write_text("")
    link = tmp_path / "memprove"
    link.symlink_to(versioned)
    assert executable(str(link)) == link
    installed = Path(sys.executable).parent / "memprove"
    assert executable("/nowhere/cli/__main__.py") == installed


def test_programs_on_the_path_are_named_once_and_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memprove").write_text("#!/bin/sh\n")
        (tmp_path / name / "memprove").chmod(0o755)
    folders = [str(tmp_path / "b"), "a", str(tmp_path / "none"), *[str(tmp_path / "a")] * 2]
    assert on_path(folders) == [tmp_path / "b" / "memprove", tmp_path / "a" / "memprove"]
