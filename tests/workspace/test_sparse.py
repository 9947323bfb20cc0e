"""What a sparse checkout leaves out, against git itself."""

import time
from pathlib import Path

import pytest
from support.git_repository import commit_all, git, isolate, new_repository

from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.sparse import wanted

FILES = (
    "top.py",
    "a/one.py",
    "a/b/two.py",
    "a/b/deep/three.py",
    "a/c/four.py",
    "a/c/keep.txt",
    "st*r/[x]/five.py",
    "tests/test_bad.py",
    "tests/test_good.py",
)

CONES = ((), ("a",), ("a/b",), ("a/b", "tests"), ("a/c", "a/b/deep"), ("st*r/[x]",))

PATTERNS = (
    "/*\n!/tests/test_bad.py\n",
    "*.py\n",
    "/*\n!/a/\n",
    "/*\n!/a/\n/a/c/keep.txt\n",
    "a/\n!b/\n",
    "!a/c\na/c/*\n!keep.txt\n",
    "# nothing but a comment\n",
    "\\#no comment\n/a/**/*.py\n!**/deep/\n",
    "tests\n",
)


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    isolate(monkeypatch, tmp_path / "home")
    repository = new_repository(tmp_path / "repository")
    for name in FILES:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    commit_all(repository, "files")
    return repository


def _patterns(repository: Path) -> Path:
    return repository / ".git" / "info" / "sparse-checkout"


def _agrees(repository: Path) -> None:
    rows = [row for row in git(repository, "ls-files", "-z", "-t").split("\0") if row]
    paths = [row[2:].encode() for row in rows]

    found = wanted(paths, _patterns(repository), end=time.monotonic() + 30)

    assert list(found) == [row[2:].encode() for row in rows if row[0] == "H"]


@pytest.mark.parametrize("folders", CONES)
def test_the_folders_of_a_cone_are_wanted(repository: Path, folders: tuple[str, ...]) -> None:
    git(repository, "sparse-checkout", "set", "--cone", "--skip-checks", *folders)

    _agrees(repository)


@pytest.mark.parametrize("patterns", PATTERNS)
def test_the_last_pattern_that_matches_decides(repository: Path, patterns: str) -> None:
    git(repository, "config", "core.sparseCheckout", "true")
    git(repository, "config", "core.sparseCheckoutCone", "false")
    _patterns(repository).parent.mkdir(exist_ok=True)
    _patterns(repository).write_text(patterns)
    git(repository, "read-tree", "--reset", "-u", "HEAD")

    _agrees(repository)


def test_without_patterns_everything_is_wanted(tmp_path: Path) -> None:
    for content in (None, b"", b"\n"):
        if content is not None:
            (tmp_path / "patterns").write_bytes(content)

        found = wanted([b"a/b"], tmp_path / "patterns", end=time.monotonic() + 9)

        assert list(found) == [b"a/b"]


def test_at_the_deadline_it_is_too_late(tmp_path: Path) -> None:
    with pytest.raises(Unknown, match=r"^timeout$"):
        list(wanted([b"a"], tmp_path / "patterns", end=time.monotonic() - 1))
