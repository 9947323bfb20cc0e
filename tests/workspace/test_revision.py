"""Files as a commit has them, whatever the work tree says."""

from pathlib import Path

import pytest
from support.expected import problem
from support.git_repository import commit_all, git, isolate, new_repository

from memprove.ledger.workspace.config import WorkspaceConfig
from memprove.ledger.workspace.revision import config_at, read_at


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(monkeypatch, tmp_path / "home")
    return new_repository(tmp_path / "project")


def put(repository: Path, text: str) -> str:
    folder = repository / ".memprove"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)
    return commit_all(repository, "config")


def test_a_file_is_read_as_the_commit_has_it(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    (repository / "a.txt").write_text("changed\n")
    second = commit_all(repository, "second")
    (repository / "a.txt").write_text("not committed\n")
    assert read_at(repository, first, "a.txt") == b"a\n"
    assert read_at(repository, second, "a.txt") == b"changed\n"
    assert read_at(repository, "HEAD~1", "dir/c.txt") == b"c\n"
    assert read_at(repository, "main", "nosuch") is None


def test_the_ignore_list_is_that_of_the_commit(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    after = put(repository, '[evidence]\nignore = ["docs/"]\n')
    assert config_at(repository, before) == WorkspaceConfig()
    assert config_at(repository, after).ignore == ("docs/",)


def test_a_configuration_that_is_wrong_in_the_commit_is_said_so(repository: Path) -> None:
    commit = put(repository, "[evidence]\nrun = 1\n")
    with problem("workspace_config_invalid"):
        config_at(repository, commit)


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "nosuch",
        "-h",
        "--help",
        "--all",
        "a:b",
        "a b",
        "a\0b",
        "HEAD^{x}",
        "0" * 40,
        ":a.txt",
    ],
)
def test_what_is_no_commit_is_refused(repository: Path, revision: str) -> None:
    with problem("revision_unknown"):
        read_at(repository, revision, "a.txt")


@pytest.mark.parametrize("path", ["dir", "link", "big"])
def test_what_is_no_small_regular_file_is_refused(repository: Path, path: str) -> None:
    (repository / "link").symlink_to("/etc/passwd")
    (repository / "big").write_text("x" * 1_000)
    commit_all(repository, "more")
    with problem("revision_unknown", "no regular file"):
        read_at(repository, "HEAD", path, cap=500)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a\0b", "*.txt", ":(top)a.txt"])
def test_a_path_is_taken_as_it_is_spelled(repository: Path, path: str) -> None:
    try:
        assert read_at(repository, "HEAD", path) is None
    except Exception as error:
        assert str(error).startswith("revision_unknown: ")  # noqa: PT017


def test_outside_git_there_is_no_commit(tmp_path: Path) -> None:
    with problem("revision_unknown", "no"):
        read_at(tmp_path, "HEAD", "a.txt")
