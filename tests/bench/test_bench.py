"""The benchmark works: what it finds out is not asserted anywhere."""

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).with_name("run.py")


def test_a_quick_row_is_measured_and_told_as_json() -> None:
    command = [sys.executable, str(RUN), "--quick", "--only", "digest", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["name"] == "digest"
    assert row["figure"] > 0
    assert row["floor"] > 0


def test_the_table_has_each_row_with_its_target() -> None:
    command = [sys.executable, str(RUN), "--quick", "--only", "fold"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    heading, row = done.stdout.splitlines()[:2]
    assert heading.split() == ["row", "figure", "floor", "ratio", "target", "what"]
    assert row.startswith("fold ")
    assert "≤ 1.3" in row
