"""Real repositories to resolve Workspaces in, with a git that knows no configuration of yours."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from memprove.ledger.workspace import resolve
from memprove.ledger.workspace.resolve import Match, Place, Registered

GitCommand = Callable[..., str]


def git_with_home(home: Path) -> GitCommand:
    """Return a function that runs git in a folder, with *home* as home folder."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    return run


def make_repository(folder: Path, git: GitCommand) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text(folder.name)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", f"first of {folder.name}")
    return folder


def linked(base: Path, git: GitCommand, repository: Path, name: str = "linked") -> Path:
    folder = base / name
    git(repository, "worktree", "add", "-q", "--detach", str(folder))
    return folder


def commits(git: GitCommand, place: Place) -> tuple[str, ...]:
    if place.kind == "folder":
        return ()
    return tuple(git(place.worktree, "rev-list", "--max-parents=0", "--all").split())


def register(place: Place, git: GitCommand, number: int = 1) -> Registered:
    device, inode = resolve.fingerprint(place)
    return Registered(
        id=f"id-{number}",
        number=number,
        name=place.root.name,
        root=place.root,
        kind=place.kind,
        device=device,
        inode=inode,
        root_commits=commits(git, place),
    )


def find(cwd: Path, git: GitCommand, *registered: Registered, hint: str | None = None) -> Match:
    """Resolve *cwd*; *hint* is what ``.memprove/workspace`` in the nearest Place's root says."""
    places = resolve.locate(cwd)
    return resolve.match(
        places,
        registered,
        hint=lambda place: hint if place.root == places[0].root else None,
        root_commits=lambda place: commits(git, place),
    )


def nearest(cwd: Path) -> Place:
    return resolve.locate(cwd)[0]
