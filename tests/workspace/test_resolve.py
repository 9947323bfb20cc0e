"""Where a Workspace may be: real repositories, links, and hostile ``.git`` entries."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.places import (
    GitCommand,
    find,
    git_with_home,
    linked,
    make_repository,
    nearest,
    register,
)

from memprove.ledger import problems
from memprove.ledger.workspace import resolve
from memprove.ledger.workspace.resolve import Place


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def git(base: Path) -> GitCommand:
    (base / "git-home").mkdir()
    return git_with_home(base / "git-home")


@pytest.fixture
def repository(base: Path, git: GitCommand) -> Path:
    return make_repository(base / "repo", git)


# Places


def test_the_root_of_a_repository_is_a_git_place(repository: Path) -> None:
    assert nearest(repository) == Place(repository, repository, repository / ".git", "git")


def test_places_go_from_the_working_directory_upwards(repository: Path) -> None:
    places = resolve.locate(repository / "src")
    assert [place.root for place in places] == [repository / "src", *(repository / "src").parents]
    assert [place.kind for place in places[:2]] == ["folder", "git"]


def test_below_is_the_path_in_the_worktree(repository: Path) -> None:
    place = nearest(repository)
    assert place.below(repository / "src") == "src"
    assert place.below(repository) == "."


def test_a_repository_without_commits_is_a_git_place(base: Path, git: GitCommand) -> None:
    git(base, "init", "-q", "empty")
    assert nearest(base / "empty").kind == "git"


def test_a_linked_worktree_has_the_root_of_its_repository(
    base: Path, git: GitCommand, repository: Path
) -> None:
    folder = linked(base, git, repository)
    assert nearest(folder) == Place(repository, folder, repository / ".git", "git")


def test_a_linked_worktree_inside_the_main_one_has_its_root(
    git: GitCommand, repository: Path
) -> None:
    folder = linked(repository, git, repository, ".trees/x")
    assert nearest(folder) == Place(repository, folder, repository / ".git", "git")


def test_a_linked_worktree_is_found_with_worktree_config_and_sparse_checkout(
    base: Path, git: GitCommand, repository: Path
) -> None:
    git(repository, "config", "extensions.worktreeConfig", "true")
    folder = linked(base, git, repository)
    git(folder, "sparse-checkout", "set", "src")
    assert nearest(folder).root == repository


def test_a_sha256_repository_is_a_git_place(base: Path, git: GitCommand) -> None:
    git(base, "init", "-q", "--object-format=sha256", "long")
    assert nearest(base / "long").kind == "git"


def test_a_linked_worktree_with_relative_pointers_is_believed(
    base: Path, git: GitCommand, repository: Path
) -> None:
    folder = linked(base, git, repository)
    (folder / ".git").write_text("gitdir: ../repo/.git/worktrees/linked\n")
    back = repository / ".git" / "worktrees" / "linked" / "gitdir"
    back.write_text("../../../../linked/.git\n")
    assert nearest(folder).root == repository


def test_a_moved_worktree_is_believed_after_git_repaired_it(
    base: Path, git: GitCommand, repository: Path
) -> None:
    folder = linked(base, git, repository)
    folder.rename(base / "elsewhere")
    assert nearest(base / "elsewhere").kind == "folder"
    git(repository, "worktree", "repair", str(base / "elsewhere"))
    assert nearest(base / "elsewhere").root == repository


def test_a_submodule_is_a_place_of_its_own(base: Path, git: GitCommand, repository: Path) -> None:
    outer = make_repository(base / "outer", git)
    git(outer, "submodule", "add", "-q", str(repository), "sub")
    common = outer / ".git" / "modules" / "sub"
    assert nearest(outer / "sub") == Place(outer / "sub", outer / "sub", common, "git")


@pytest.mark.parametrize("worktree_config", ["false", "true"])
def test_a_linked_worktree_of_a_submodule_has_the_submodules_root(
    base: Path, git: GitCommand, repository: Path, worktree_config: str
) -> None:
    outer = make_repository(base / "outer", git)
    git(outer, "submodule", "add", "-q", str(repository), "sub")
    git(outer / "sub", "config", "extensions.worktreeConfig", worktree_config)
    folder = linked(base, git, outer / "sub")
    assert nearest(folder).root == outer / "sub"


def test_the_worktrees_of_a_bare_repository_have_its_folder_as_root(
    base: Path, git: GitCommand, repository: Path
) -> None:
    bare = base / "bare.git"
    git(base, "clone", "-q", "--bare", str(repository), str(bare))
    one, two = linked(base, git, bare, "one"), linked(base, git, bare, "two")
    assert nearest(one) == Place(bare, one, bare, "git")
    assert nearest(two).root == bare


def test_a_separate_git_directory_leaves_the_root_at_the_worktree(
    base: Path, git: GitCommand
) -> None:
    git(base, "init", "-q", "--separate-git-dir", str(base / "store"), str(base / "tree"))
    assert nearest(base / "tree") == Place(base / "tree", base / "tree", base / "store", "git")


def test_a_path_through_a_link_gives_real_paths(base: Path, repository: Path) -> None:
    (base / "link").symlink_to(repository)
    assert nearest(base / "link") == nearest(repository)
    assert resolve.locate(base / "link" / "src") == resolve.locate(repository / "src")


def test_an_empty_dot_git_folder_is_no_repository(base: Path) -> None:
    (base / ".git").mkdir()
    assert nearest(base).kind == "folder"


def test_a_deleted_working_directory_is_workspace_gone(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = base / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for path in (Path("."), gone):
        with pytest.raises(problems.Problem, match=r"^workspace_gone: "):
            resolve.locate(path)


def test_a_file_is_no_working_directory(repository: Path) -> None:
    with pytest.raises(problems.Problem, match=r"^workspace_gone: "):
        resolve.locate(repository / "src" / "a.py")


# Hostile .git entries


@pytest.fixture
def evil(base: Path) -> Path:
    folder = base / "evil"
    folder.mkdir()
    return folder


def test_a_git_file_cannot_claim_a_worktree_that_is_not_its_own(
    base: Path, git: GitCommand, repository: Path, evil: Path
) -> None:
    folder = linked(base, git, repository)
    shutil.copy(folder / ".git", evil / ".git")
    assert nearest(evil) == Place(evil, evil, None, "folder")


def test_a_shipped_git_directory_cannot_name_another_repository_as_its_common(
    repository: Path, evil: Path
) -> None:
    shipped = evil / "store" / "worktrees" / "x"
    shipped.mkdir(parents=True)
    (shipped / "HEAD").write_text("ref: refs/heads/main\n")
    (shipped / "commondir").write_text(f"{repository}/.git\n")
    (shipped / "gitdir").write_text(f"{evil}/.git\n")
    (evil / ".git").write_text("gitdir: store/worktrees/x\n")
    assert nearest(evil).root == evil


def test_a_shipped_repository_cannot_name_another_folder_as_its_main_worktree(
    base: Path, git: GitCommand, repository: Path, evil: Path
) -> None:
    make_repository(evil / "own", git)
    folder = linked(evil, git, evil / "own", "tree")
    git(evil / "own", "config", "core.worktree", str(repository))
    assert nearest(folder).root == evil / "own"


def test_a_git_file_that_names_the_victims_git_directory_gets_a_root_of_its_own(
    git: GitCommand, repository: Path, evil: Path
) -> None:
    (evil / ".git").write_text(f"gitdir: {repository}/.git\n")
    victim = register(nearest(repository), git)
    with pytest.raises(problems.Problem, match=r"^workspace_unregistered: "):
        find(evil, git, victim, hint="id-1")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir: ",
        b"gitdir: .git\n",
        b"gitdir: /nonexistent\n",
        b"gitdir: a\0b\n",
        b"gitdir: \xff\xfe\n",
        b"nonsense",
        b"gitdir: " + b"x/" * 100_000,
    ],
)
def test_a_git_file_of_nonsense_leaves_a_plain_folder(evil: Path, content: bytes) -> None:
    (evil / ".git").write_bytes(content)
    assert nearest(evil).kind == "folder"


def test_a_pipe_a_socket_or_a_loop_as_dot_git_does_not_hang(evil: Path) -> None:
    os.mkfifo(evil / ".git")
    assert nearest(evil).kind == "folder"
    (evil / ".git").unlink()
    (evil / ".git").symlink_to(".git")
    assert nearest(evil).kind == "folder"
    (evil / ".git").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(evil / ".git"))
        assert nearest(evil).kind == "folder"


@pytest.mark.parametrize("name", ["commondir", "gitdir"])
def test_a_pipe_or_a_folder_as_a_pointer_does_not_hang(
    base: Path, git: GitCommand, repository: Path, name: str
) -> None:
    folder = linked(base, git, repository)
    pointer = repository / ".git" / "worktrees" / "linked" / name
    pointer.unlink()
    os.mkfifo(pointer)
    assert nearest(folder).kind == "folder"
    pointer.unlink()
    pointer.mkdir()
    assert nearest(folder).kind == "folder"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), lead=st.sampled_from([b"", b"gitdir: "]))
def test_no_content_of_a_git_file_breaks_the_walk(evil: Path, content: bytes, lead: bytes) -> None:
    (evil / ".git").write_bytes(lead + content)
    assert nearest(evil).worktree == evil
