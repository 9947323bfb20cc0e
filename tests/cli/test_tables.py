"""Lists in a pipe: aligned, nothing behind the last cell."""

import pytest

from memprove.cli import tables
from memprove.cli.output import Output


def test_columns_are_aligned_by_what_people_see(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [("1", "日本", "“x”"), ("22", "e\u0301", "")]
    tables.show(Output(), ("N", "Name", "Title"), rows)
    assert capfd.readouterr().out == "N   Name  Title\n1   日本  “x”\n22  e\u0301\n"
