"""Real git repositories for tests, apart from the configuration of whoever runs them."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

SOMEBODY: Final = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
"""Who commits, for there may be no configuration at all that says."""


def isolate(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let *home* be the home directory, and let no variable of git be inherited."""
    for name in os.environ:
        if name.startswith(("GIT_", "XDG_")):
            monkeypatch.delenv(name)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Test\n\temail = test@example.org\n"
        "[init]\n\tdefaultBranch = main\n"
        "[commit]\n\tgpgSign = false\n"
        '[protocol "file"]\n\tallow = always\n'
    )


def git(
    folder: Path, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> str:
    """Run git in *folder* without any hardening; return its output without the last line end."""
    done = attempt(folder, "git", *arguments, stdin=stdin, env=env)
    assert done.returncode == 0, done.stderr
    return os.fsdecode(done.stdout).removesuffix("\n")


def attempt(
    folder: Path, *command: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run *command* in *folder*, whatever comes of it."""
    environment = {**os.environ, **(env or {})}
    return subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, env=environment, check=False
    )


def new_repository(folder: Path, *options: str) -> Path:
    """Make a repository with one commit: ``a.txt``, ``b.txt``, ``dir/c.txt``."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", *options)
    (folder / "a.txt").write_text("a\n")
    (folder / "b.txt").write_text("b\n")
    (folder / "dir").mkdir()
    (folder / "dir" / "c.txt").write_text("c\n")
    commit_all(folder, "first")
    return folder


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in *folder*; return the commit."""
    git(folder, "add", "--all")
    git(folder, *SOMEBODY, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def tree_by_add(folder: Path) -> str:
    """Return the tree that ``git add --all`` and ``git write-tree`` make, in a copy of *folder*."""
    copy = folder.with_name(folder.name + "-copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)
    git(copy, "add", "--all")
    return git(copy, "write-tree")


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Return digest and mtime of every file and folder in *folder*.

    Git marks an object or a shared index that it would write again as used, by its mtime: not seen.
    """
    return {
        str(path): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            0
            if "objects" in path.parts or "sharedindex" in path.name
            else path.lstat().st_mtime_ns,
        )
        for path in folder.rglob("*")
    }
