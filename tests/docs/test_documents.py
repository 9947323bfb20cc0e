"""The documents fit each other and the code: links, tables, words."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from memprove.ledger.domain.capsule import Capsule
from memprove.ledger.domain.decide import TRANSITIONS
from memprove.ledger.domain.events import KINDS
from memprove.ledger.domain.evidence import ProofState
from memprove.ledger.domain.record import Actor, Leaf
from memprove.ledger.domain.run import Verdict
from memprove.ledger.log.report import CHECKS
from memprove.ledger.operations.keys import RotateKey
from memprove.ledger.operations.tokens import IssueToken
from memprove.ledger.service import Ledger
from memprove.ledger.settings import Caller
from memprove.ledger.setup import set_up
from memprove.ledger.storage.sqlite_schema import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
MACHINE = re.compile(r"(?<![\w.~<>/])/(?:work|root|home|Users|private|tmp)/")
OUTSIDE = ("https://", "http://", "mailto:")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(page: Path) -> str:
    """Return the page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links(page: Path) -> Iterator[str]:
    """Yield the targets of the page's links."""
    plain = re.sub(r"`[^`\n]*`", lambda match: "x" * len(match[0]), prose(page))
    yield from re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", plain)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    names: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", prose(page), re.M):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def table(page: str, before: str) -> list[list[str]]:
    """Return the cells of the first table after the text *before*, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8").split(before, 1)[1]
    rows = re.search(r"(?:^\|.*\n)+", text, re.M)
    assert rows is not None
    lines = rows[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def words(cell: str) -> list[str]:
    """Return what stands between backticks in *cell*."""
    return re.findall(r"`([^`]+)`", cell)


@pages
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(OUTSIDE):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@pages
def test_no_page_names_a_path_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert MACHINE.search(text) is None
    assert str(ROOT) not in text
    assert str(Path.home()) + "/" not in text


@pages
def test_every_block_of_a_page_ends(page: Path) -> None:
    fences = re.findall(r"^```", page.read_text(encoding="utf-8"), re.M)
    assert len(fences) % 2 == 0


def test_the_log_format_names_every_field_of_leaf_and_actor() -> None:
    rows = table("log-format.md", "### The leaf")
    assert {words(row[0])[0] for row in rows} == set(Leaf.__struct_fields__)
    rows = table("log-format.md", "### The actor")
    assert {words(row[0])[0] for row in rows} == set(Actor.__struct_fields__)


def test_the_log_format_names_every_kind() -> None:
    assert [words(row[0])[0] for row in table("log-format.md", "## Kinds")] == list(KINDS)


def test_the_log_format_has_the_tables_as_they_are_made() -> None:
    text = (DOCS / "log-format.md").read_text(encoding="utf-8")
    for statement in SCHEMA:
        if statement.startswith("CREATE TABLE"):
            assert f"{statement};\n" in text


def test_the_verifier_of_the_log_format_accepts_a_ledger_of_ours(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    env = {
        "MEMPROVE_CONFIG_DIR": str(tmp_path / "config"),
        "MEMPROVE_DATA_DIR": str(tmp_path / "data"),
    }
    caller = Caller(face="cli", cwd=tmp_path / "project", env=env)
    set_up(caller)
    Ledger(caller).execute(RotateKey())
    Ledger(caller).execute(RotateKey())
    Ledger(caller).execute(IssueToken(name="another"))
    text = (DOCS / "log-format.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    vkey = (tmp_path / "config" / "trust").read_text(encoding="utf-8").split()[-1]
    command = [sys.executable, "-I", "-c", program, str(tmp_path / "data" / "ledger.db"), vkey]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("7 events are as they were signed\n", "")


def test_the_log_format_names_every_check_of_verify() -> None:
    text = prose(DOCS / "log-format.md").split("\n`memprove verify` reports these as")[1]
    assert tuple(words(text)[: len(CHECKS)]) == CHECKS


def test_the_concepts_have_every_verdict_and_proof_in_order() -> None:
    verdicts = [words(row[0])[0] for row in table("concepts.md", "## Runs and their verdicts")]
    assert verdicts == list(Verdict)
    proofs = [words(row[0])[0] for row in table("concepts.md", "## Proofs")]
    assert proofs == list(ProofState)


def test_the_concepts_have_every_transition() -> None:
    rows = table("concepts.md", "### States of a Task")
    told = {source: set(words(row[1])) for row in rows for source in words(row[0])}
    assert told == {source: set(targets) for source, targets in TRANSITIONS.items()}


def test_the_concepts_show_the_pack_of_the_snapshot() -> None:
    pack = (ROOT / "tests" / "snapshots" / "pack" / "example.txt").read_text(encoding="utf-8")
    assert f"```text\n{pack}```\n" in (DOCS / "concepts.md").read_text(encoding="utf-8")


def test_the_architecture_names_files_that_exist() -> None:
    text = prose(DOCS / "architecture.md")
    inside = re.findall(r"`((?:ledger|cli|tests|docs)/[\w./]+)`", text)
    assert inside
    for name in inside:
        assert (ROOT / name).exists(), name
    assert Capsule.__module__.replace(".", "/").removeprefix("memprove/") + ".py" in inside
