"""A signed head kept elsewhere: in a file, or in a repository of git under a ref of its own.

Whoever holds it can demand of the log that it continues this very head. A ref can be pushed; the
name is ``refs/memprove/`` and the origin, the object is a blob with the note's bytes.
"""

from pathlib import Path
from typing import Final

from memprove.ledger import durable
from memprove.ledger.problems import (
    ARGUMENT_INVALID,
    OUTPUT_UNWRITABLE,
    REPOSITORY_UNREADABLE,
    at_file,
)
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.workspace import resolve
from memprove.ledger.workspace.git import Git, Unknown

REFS: Final = "refs/memprove"
_DEADLINE_S: Final = 10.0
_DURABLE: Final = ("core.fsync=loose-object,reference",)  # elsewhere only scratch files are written
_MOST: Final = 64 * 1024


def save_head(file: Path, note: bytes) -> None:
    """Put *note* into *file*, whole or not at all, on disk when this returns."""
    try:
        durable.put(file, note, 0o666)
    except OSError as error:
        raise at_file(error, file, OUTPUT_UNWRITABLE) from None


def read_head(file: Path) -> bytes:
    """Return the note in *file*, which speaks of a head; who signed it is not looked at."""
    try:
        with file.open("rb") as opened:
            note = opened.read(_MOST + 1)
    except OSError as error:
        raise ARGUMENT_INVALID(f"{file}: {error.strerror}") from None
    if len(note) > _MOST or _said(note) is None:
        raise ARGUMENT_INVALID(f"{file} holds no signed head")
    return note


def store_head(cwd: Path, origin: str, note: bytes) -> str:
    """Store *note* in the repository around *cwd* and return its ref, which never goes back."""
    places = resolve.locate(cwd)
    place = next((place for place in places if place.kind == "git"), None)
    if place is None:
        raise ARGUMENT_INVALID(f"no repository of git here: {cwd}")
    ref = f"{REFS}/{origin}"
    try:
        found = Git.find(place.worktree, deadline_s=_DEADLINE_S)
        git = Git(found.program, found.folder, found.end, found.path, settings=_DURABLE)
        old = _resolved(git, ref)
        _check_newer(git, old, note)
        blob = git.read("hash-object", "-w", "--stdin", stdin=note).decode().strip()
        git.read("update-ref", ref, blob, old)
    except Unknown as unknown:
        raise REPOSITORY_UNREADABLE(f"{place.worktree}: {unknown}") from None
    return ref


def _resolved(git: Git, ref: str) -> str:
    """Return the object that *ref* names; empty, as ``update-ref`` has it, if there is none."""
    with git.start("rev-parse", "--verify", "--quiet", ref) as running:
        code, output, _ = running.finish()
    return output.decode().strip() if code == 0 else ""


def _check_newer(git: Git, old: str, note: bytes) -> None:
    before = _said(git.read("cat-file", "blob", old)) if old else None
    head = _said(note)
    if before is not None and head is not None and before.size > head.size:
        raise ARGUMENT_INVALID(f"the repository holds a head of {before.size} events already")


def _said(note: bytes) -> Head | None:
    try:
        return parse_head(note.decode().partition("\n\n")[0] + "\n")
    except (UnicodeDecodeError, Invalid):
        return None
