"""docs/reference/ is what the code says."""

import subprocess
import sys
from pathlib import Path

from memprove.ledger import problems
from memprove.ledger.domain.events import KINDS
from memprove.ledger.scopes import WIRE

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def generate(*arguments: str, docs: Path = ROOT / "docs") -> subprocess.CompletedProcess[str]:
    """Run the program that writes the pages of *docs*."""
    command = [sys.executable, "-P", str(docs / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def copy(folder: Path) -> Path:
    """Return a copy of the program with what it reads, and without pages."""
    for name in ("generate.py", "fields.toml", "arguments.toml"):
        (folder / name).write_bytes((ROOT / "docs" / name).read_bytes())
    return folder


def test_every_page_is_up_to_date() -> None:
    done = generate("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_pages_are_written_once_and_alike_everywhere(tmp_path: Path) -> None:
    docs = copy(tmp_path)
    assert generate(docs=docs).returncode == 0
    assert generate(docs=docs).stdout == ""
    written = {page.name: page.read_bytes() for page in (docs / "reference").iterdir()}
    assert written == {page.name: page.read_bytes() for page in REFERENCE.iterdir()}


def test_check_names_a_page_that_is_not_up_to_date_and_writes_nothing(tmp_path: Path) -> None:
    docs = copy(tmp_path)
    generate(docs=docs)
    page = docs / "reference" / "problems.md"
    page.write_text("old", encoding="utf-8")
    done = generate("--check", docs=docs)
    assert done.returncode == 1
    assert done.stderr == "docs/reference/problems.md is not up to date: run `make docs`\n"
    assert page.read_text(encoding="utf-8") == "old"


def test_a_field_without_a_meaning_stops_it(tmp_path: Path) -> None:
    docs = copy(tmp_path)
    meanings = docs / "fields.toml"
    text = meanings.read_text(encoding="utf-8").replace("next_action = ", "next_step = ")
    meanings.write_text(text, encoding="utf-8")
    done = generate(docs=docs)
    assert done.returncode == 1
    assert "CheckpointRecorded.next_action, CheckpointRecorded.next_step" in done.stderr


def test_an_argument_without_a_meaning_stops_it(tmp_path: Path) -> None:
    docs = copy(tmp_path)
    meanings = docs / "arguments.toml"
    text = meanings.read_text(encoding="utf-8").replace("budget = ", "size = ")
    meanings.write_text(text, encoding="utf-8")
    done = generate(docs=docs)
    assert done.returncode == 1
    assert "pack.budget, pack.size" in done.stderr


def test_every_problem_is_in_the_reference() -> None:
    page = (REFERENCE / "problems.md").read_text(encoding="utf-8")
    for code, kind in problems.KINDS.items():
        assert f"| `{code}` | {kind.sentence} |" in page


def test_every_kind_of_event_is_in_the_reference() -> None:
    page = (REFERENCE / "events.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"\n## {kind}\n" in page


def test_every_wire_operation_is_in_the_reference() -> None:
    page = (REFERENCE / "operations.md").read_text(encoding="utf-8")
    for wire, scope in WIRE.items():
        assert f"\n| `{wire}` | `{scope}` |" in page
