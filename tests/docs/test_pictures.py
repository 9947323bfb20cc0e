"""The pictures are those of the story, and show what they are there to show."""

import html
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHOWN = {
    "run": ("16 passed", "memprove: r1 passed", "c1 recorded"),
    "stale": ("Stale (2)", "memprove: evidence_stale: "),
    "log": ("completed", "run.started", "events verified"),
}


def test_the_pictures_are_drawn_from_commands_that_run(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-P", DOCS / "pictures.py", tmp_path],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    for folder in (tmp_path, DOCS / "pictures"):
        assert {path.stem for path in folder.iterdir()} == set(SHOWN)
        for name, texts in SHOWN.items():
            drawn = (folder / f"{name}.svg").read_text(encoding="utf-8")
            assert "@font-face" not in drawn
            text = html.unescape(re.sub(r"<[^>]+>", "", drawn)).replace("\xa0", " ")
            for shown in texts:
                assert shown in text
