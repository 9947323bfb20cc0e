"""Situations of a work tree, each as a function that brings a new repository into it."""

import os
from pathlib import Path

from support.git_repository import (
    attempt,
    commit_all,
    git,
    new_repository,
)

OLD = (1_000_000_000, 1_000_000_000)


def clean(repository: Path) -> None:
    pass


def dirty(repository: Path) -> None:
    (repository / "a.txt").write_text("changed\n")


def staged(repository: Path) -> None:
    (repository / "a.txt").write_text("staged\n")
    (repository / "staged.txt").write_text("staged\n")
    git(repository, "add", "--all")


def staged_and_changed_again(repository: Path) -> None:
    staged(repository)
    (repository / "a.txt").write_text("changed again\n")


def staged_and_restored_in_the_worktree(repository: Path) -> None:
    (repository / "a.txt").write_text("staged\n")
    git(repository, "add", "--all")
    (repository / "a.txt").write_text("a\n")


def staged_removal_of_a_file_that_is_there(repository: Path) -> None:
    git(repository, "rm", "--quiet", "--cached", "a.txt")


def untracked(repository: Path) -> None:
    (repository / "new" / "deep").mkdir(parents=True)
    (repository / "new" / "deep" / "file").write_text("new\n")
    (repository / "empty").mkdir()


def ignored(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n/build/\n!kept.log\n")
    (repository / "build").mkdir()
    for name in ("x.log", "kept.log", "build/out"):
        (repository / name).write_text("x\n")


def tracked_though_ignored(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.txt\n")
    (repository / "a.txt").write_text("changed\n")


def intent_to_add(repository: Path) -> None:
    (repository / "intended.txt").write_text("x\n")
    (repository / "gone.txt").write_text("x\n")
    git(repository, "add", "--intent-to-add", "intended.txt", "gone.txt")
    (repository / "gone.txt").unlink()


def deleted(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "dir" / "c.txt").unlink()
    (repository / "dir").rmdir()


def file_mode(repository: Path) -> None:
    (repository / "a.txt").chmod(0o755)


def file_mode_not_trusted(repository: Path) -> None:
    git(repository, "config", "core.fileMode", "false")
    (repository / "a.txt").chmod(0o755)
    (repository / "new.sh").write_text("x\n")
    (repository / "new.sh").chmod(0o755)


def symbolic_links(repository: Path) -> None:
    (repository / "link").symlink_to("nowhere/at/all")
    (repository / "to-folder").symlink_to("dir")
    (repository / "outside").symlink_to("/etc")


def file_becomes_link(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").symlink_to("b.txt")


def file_becomes_folder(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").mkdir()
    (repository / "a.txt" / "inner").write_text("x\n")


def file_becomes_empty_folder(repository: Path) -> None:
    (repository / "a.txt").unlink()
    (repository / "a.txt").mkdir()


def file_becomes_repository(repository: Path) -> None:
    (repository / "a.txt").unlink()
    new_repository(repository / "a.txt")


def folder_becomes_file(repository: Path) -> None:
    (repository / "dir" / "c.txt").unlink()
    (repository / "dir").rmdir()
    (repository / "dir").write_text("x\n")


def folder_becomes_link_to_the_same(repository: Path) -> None:
    (repository / "dir").rename(repository / "moved")
    (repository / "dir").symlink_to("moved")


def folder_becomes_ignored_link(repository: Path) -> None:
    folder_becomes_link_to_the_same(repository)
    (repository / ".gitignore").write_text("/dir\n")


def renamed_in_letter_case(repository: Path) -> None:
    (repository / "a.txt").rename(repository / "A.TXT")


def names_in_two_forms_of_unicode(repository: Path) -> None:
    git(repository, "config", "core.precomposeUnicode", "true")
    for name in ("\u00e9", "e\u0301"):
        (repository / name).write_text(name)


def strange_names(repository: Path) -> None:
    for name in (b"\xff\xfe", b"new\nline", b'"quoted"', b"back\\slash", b" ", "é".encode(), b"-x"):
        (repository / os.fsdecode(name)).write_text("x\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "names")
    (repository / os.fsdecode(b"\xff\xfe")).unlink()
    (repository / "new\nline").write_text("changed\n")
    (repository / os.fsdecode(b"\xfd\n\t")).write_text("x\n")


def automatic_line_ends(repository: Path) -> None:
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    commit_all(repository, "line ends of Windows in the repository")
    git(repository, "config", "core.autocrlf", "true")
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (repository / "a.txt").write_bytes(b"a\r\n")
    (repository / "new.txt").write_bytes(b"new\r\n")


def attributes_of_line_ends(repository: Path) -> None:
    (repository / ".gitattributes").write_text(
        "*.txt text eol=crlf\n*.u working-tree-encoding=UTF-16\n"
    )
    (repository / "a.txt").write_bytes(b"a\r\n")
    (repository / "x.u").write_bytes("text\n".encode("utf-16"))


def owners_filter(repository: Path) -> None:
    git(repository, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    (repository / ".gitattributes").write_text("*.txt filter=upper\n")
    (repository / "new.txt").write_text("new\n")
    for file in repository.rglob("*.txt"):
        os.utime(file, OLD)  # a file that looks unchanged meets a new filter only by chance


def touched(repository: Path) -> None:
    os.utime(repository / "a.txt", OLD)


def racily_clean(repository: Path) -> None:
    (repository / "a.txt").write_text("1\n")
    git(repository, "add", "--all")
    (repository / "a.txt").write_text("2\n")


def conflicted(repository: Path) -> None:
    _diverge(repository)
    attempt(repository, "git", "merge", "other")
    assert git(repository, "ls-files", "--unmerged")


def conflicted_and_removed(repository: Path) -> None:
    conflicted(repository)
    (repository / "a.txt").unlink()


def amid_a_rebase(repository: Path) -> None:
    _diverge(repository)
    attempt(repository, "git", "rebase", "other")
    assert (repository / ".git" / "rebase-merge").exists()


def detached(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    (repository / "a.txt").write_text("changed\n")


def sparse(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "--cone", "other")
    assert not (repository / "dir").exists()
    (repository / "a.txt").write_text("changed\n")


def sparse_by_patterns(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "--no-cone", "/*", "!/dir/", "!b.txt")
    assert not (repository / "b.txt").exists()
    (repository / "a.txt").write_text("changed\n")


def sparse_index(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "other")
    (repository / "a.txt").write_text("changed\n")


def split_index(repository: Path) -> None:
    git(repository, "update-index", "--split-index")
    git(repository, "config", "core.splitIndex", "true")
    (repository / "a.txt").write_text("changed\n")
    git(repository, "add", "a.txt")
    (repository / "b.txt").write_text("changed\n")


def untracked_cache(repository: Path) -> None:
    git(repository, "update-index", "--force-untracked-cache")
    git(repository, "status")
    (repository / "new.txt").write_text("new\n")


def index_of_version_4(repository: Path) -> None:
    git(repository, "update-index", "--index-version", "4")
    (repository / "a.txt").write_text("changed\n")


def no_index(repository: Path) -> None:
    (repository / ".git" / "index").unlink()


def packed(repository: Path) -> None:
    git(repository, "gc", "--quiet")
    (repository / "a.txt").write_text("changed\n")


def submodule(repository: Path) -> None:
    new_repository(repository / "sub")
    git(repository, "add", "sub")
    git(repository, "commit", "--quiet", "--message", "submodule")


def submodule_at_another_commit(repository: Path) -> None:
    submodule(repository)
    (repository / "sub" / "a.txt").write_text("more\n")
    commit_all(repository / "sub", "more")


def submodule_not_checked_out(repository: Path) -> None:
    submodule(repository)
    (repository / "sub").rename(repository.parent / "away")
    (repository / "sub").mkdir()


def submodule_removed(repository: Path) -> None:
    submodule(repository)
    (repository / "sub").rename(repository.parent / "away")


def submodule_becomes_file(repository: Path) -> None:
    submodule_removed(repository)
    (repository / "sub").write_text("x\n")


def nested_repository(repository: Path) -> None:
    new_repository(repository / "nested" / "one")


def replaced_objects(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    (repository / "a.txt").write_text("second\n")
    second = commit_all(repository, "second")
    git(repository, "replace", second, first)


def hidden_file(repository: Path) -> None:
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "exclude").write_text("*.tmp\n")
    (repository / "x.tmp").write_text("x\n")


def _diverge(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "a.txt").write_text("theirs\n")
    commit_all(repository, "theirs")
    git(repository, "checkout", "--quiet", "main")
    (repository / "a.txt").write_text("ours\n")
    (repository / "untracked-no-more.txt").write_text("x\n")
    commit_all(repository, "ours")


SITUATIONS = (
    clean,
    dirty,
    staged,
    staged_and_changed_again,
    staged_and_restored_in_the_worktree,
    staged_removal_of_a_file_that_is_there,
    untracked,
    ignored,
    tracked_though_ignored,
    intent_to_add,
    deleted,
    file_mode,
    file_mode_not_trusted,
    symbolic_links,
    file_becomes_link,
    file_becomes_folder,
    file_becomes_empty_folder,
    file_becomes_repository,
    folder_becomes_file,
    folder_becomes_link_to_the_same,
    folder_becomes_ignored_link,
    strange_names,
    renamed_in_letter_case,
    names_in_two_forms_of_unicode,
    automatic_line_ends,
    attributes_of_line_ends,
    owners_filter,
    touched,
    racily_clean,
    conflicted,
    conflicted_and_removed,
    amid_a_rebase,
    detached,
    sparse,
    sparse_by_patterns,
    sparse_index,
    split_index,
    untracked_cache,
    index_of_version_4,
    no_index,
    packed,
    submodule,
    submodule_at_another_commit,
    submodule_not_checked_out,
    submodule_removed,
    submodule_becomes_file,
    nested_repository,
    replaced_objects,
    hidden_file,
)
