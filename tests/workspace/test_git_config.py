"""What of git's configuration is the owner's, and what the repository's."""

from pathlib import Path

import pytest
from support.git_repository import git

from memprove.ledger.workspace.git import Git
from memprove.ledger.workspace.git_config import GitConfig
from memprove.ledger.workspace.repository import locate


def read(repository: Path) -> GitConfig:
    return locate(Git.find(repository, deadline_s=30)).config


def test_what_the_owner_configures_stands(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "--global", "core.excludesFile", "~/ignored")
    git(repository, "config", "--global", "core.attributesFile", "~/attributes")
    git(repository, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    git(repository, "config", "--global", "attr.tree", "HEAD")

    config = read(repository)

    assert config.overruled == ()
    assert config.excludes_file == tmp_path / "home" / "ignored"
    assert not config.attributes_from_a_tree
    assert config.local_filters == frozenset()


@pytest.mark.parametrize("scope", ["--local", "--worktree"])
def test_files_that_the_repository_names_give_way_to_the_owners(
    repository: Path, tmp_path: Path, scope: str
) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(repository, "config", "--global", "core.excludesFile", "~/ignored")
    for key in ("core.excludesFile", "core.attributesFile"):
        git(repository, "config", scope, key, "/dev/zero")
    git(repository, "config", scope, "filter.a.b.clean", "cat")

    config = read(repository)

    assert config.overruled == (
        "core.attributesfile=~/.config/git/attributes",
        "core.excludesfile=~/ignored",
    )
    assert config.excludes_file == tmp_path / "home" / "ignored"
    assert config.local_filters == frozenset({"a.b"})


@pytest.mark.parametrize(
    ("value", "sparse"), [("true", True), ("1", True), ("on", True), ("false", False)]
)
def test_a_sparse_checkout_is_one_that_is_configured_so_but_for_us(
    repository: Path, value: str, sparse: bool
) -> None:
    assert not read(repository).sparse
    git(repository, "config", "core.sparseCheckout", value)

    assert read(repository).sparse is sparse
