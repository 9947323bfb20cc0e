"""The table of situations: each row names a test or a page, and all that is named is there."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
TABLE = (HERE / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
PAGE = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")


@cache
def functions_in(file: Path) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, kinds)}


def rows() -> Iterator[tuple[int, str, str]]:
    for number, what, held in ROW.findall(TABLE):
        yield int(number), what, held


def test_every_row_names_a_test_or_a_page() -> None:
    assert [n for n, _, held in rows() if not TEST.search(held) and not PAGE.search(held)] == []
    numbers = [number for number, _, _ in rows()]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == TABLE.count("\n| ") - 1, "a line of the table is no row"


def test_every_test_that_is_named_is_there() -> None:
    named = TEST.findall(TABLE)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (TESTS / file).is_file() or name not in functions_in(TESTS / file)
    ]
    assert missing == []
    assert len(named) == TABLE.count("::test_")


def test_every_page_that_is_named_is_there() -> None:
    for page, heading in PAGE.findall(TABLE):
        text = (HERE / page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert not heading or heading in {h.lower().replace(" ", "-") for h in headings}


def test_every_test_of_this_folder_is_named() -> None:
    ours = {
        (f"situations/{file.name}", name)
        for file in HERE.glob("test_*.py")
        if file.name not in ("test_table.py", "test_windows.py", "test_surroundings.py")
        for name in functions_in(file)
        if name.startswith("test_")
    }
    assert ours <= set(TEST.findall(TABLE))
