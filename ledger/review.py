"""A bundle as a reviewer or CI sees it: verified, and judged on the tree that is checked out.

No ledger, no token, no configuration directory, no network: a file, the keys that are trusted, and
a checkout. What the change under test could have written, its ignore list above all, is not
believed where a *base* commit is named.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from memprove.ledger.blobs import read_blob
from memprove.ledger.domain.evidence import Evidence, Today
from memprove.ledger.domain.record import Record
from memprove.ledger.log.bundle import MOST_COMPRESSED
from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.trust import parse_trust
from memprove.ledger.log.unbundling import Opened, erased_since, open_bundle
from memprove.ledger.observation import Observation
from memprove.ledger.outcomes import Reports
from memprove.ledger.problems import (
    BUNDLE_INVALID,
    FILE_UNREADABLE,
    LEDGER_DAMAGED,
    REVISION_UNKNOWN,
    TRUST_INVALID,
    TRUST_MISSING,
    Problem,
)
from memprove.ledger.workspace.config import WorkspaceConfig
from memprove.ledger.workspace.files import CAP, FOLDER
from memprove.ledger.workspace.resolve import Place, locate
from memprove.ledger.workspace.revision import config_at, read_at
from memprove.ledger.workspace.tree import is_manifest

FROM_GIT: Final = "git:"
_TRUST: Final = f"{FOLDER}/trust"
_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A bundle that holds, and its Task's evidence judged on today's tree.

    *unbelieved*: the ignore list in force is the work tree's own; no commit vouches for it.
    *erased_since*: what a later bundle has erased of its events.
    """

    opened: Opened
    evidence: Evidence
    unbelieved: bool
    erased_since: tuple[Record, ...] = ()


def review(
    file: Path,
    trust: str,
    *,
    cwd: Path,
    base: str = "",
    required: bytes | None = None,
    later: Path | None = None,
) -> Reviewed:
    """Open the bundle in *file* and judge it on the tree around *cwd*.

    *trust* is a file, or ``git:REVISION:PATH``; empty: the trust file of *base*. The ignore list is
    that of *base*, else of the revision that *trust* names, else the work tree's own. *later* is a
    newer bundle of the Task. Raises ``bundle_invalid`` for a bundle that does not hold.
    """
    place = _place(cwd)
    pins = parse_trust(_trust(trust, place, base))
    data = read_file(file, MOST_COMPRESSED + 1)
    opened = open_bundle(data, pins, required=required)
    base = base or _split(trust)[0]
    reviewed = _believed(lambda: _judged(opened, cwd, place, base))
    if later is None:
        return reviewed
    return replace(reviewed, erased_since=_erased_since(opened, later, pins))


def _erased_since(opened: Opened, later: Path, pins: Mapping[str, Pin]) -> tuple[Record, ...]:
    data = read_file(later, MOST_COMPRESSED + 1)
    try:
        return erased_since(opened, open_bundle(data, pins))
    except Problem as problem:
        raise problem.kind(f"the later bundle: {problem.detail}") from None


def read_file(file: Path, most: int) -> bytes:
    """Return what the regular *file* holds, its first *most* bytes; raises ``file_unreadable``."""
    try:
        if not file.is_file():
            raise FILE_UNREADABLE(f"{file} is no regular file")
        with file.open("rb") as opened:
            return opened.read(most)
    except (OSError, ValueError) as error:
        raise FILE_UNREADABLE(f"{file}: {getattr(error, 'strerror', None) or error}") from None


def _judged(opened: Opened, cwd: Path, place: Place | None, base: str) -> Reviewed:
    def blob(digest: str, most: int) -> bytes:
        return read_blob(opened, digest, most)

    outcomes = Reports(blob)
    capsule = opened.capsule
    outside = any(is_manifest(run.tree.id) for run in capsule.runs.values())
    worktree = place.worktree if place else cwd if outside else None
    if worktree is None:
        return Reviewed(opened, Evidence(capsule, Today(None, "no checkout here"), outcomes), False)
    config = _config(worktree, base)
    observation = Observation(worktree, config=config)
    evidence = Evidence(capsule, observation.today(capsule, blob), outcomes)
    return Reviewed(opened, evidence, config is None and bool(observation.config.ignore))


def _config(worktree: Path, base: str) -> WorkspaceConfig | None:
    return config_at(worktree, base) if base else None


def _place(cwd: Path) -> Place | None:
    """Return the work tree of git that *cwd* is in."""
    return next((place for place in locate(cwd) if place.kind == "git"), None)


def _trust(trust: str, place: Place | None, base: str) -> str:
    """Return the text of the trust file that is meant."""
    revision, path = _split(trust) if trust else (base, _TRUST)
    if not revision:
        data: bytes | None = read_file(Path(trust), CAP + 1)
    elif place is None:
        raise REVISION_UNKNOWN(f"{revision}: no git checkout here")
    else:
        data = read_at(place.worktree, revision, path)
    if data is None:
        raise TRUST_MISSING(f"{revision} has no {path}")
    if len(data) > CAP:
        raise TRUST_INVALID(f"larger than {CAP} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise TRUST_INVALID("not UTF-8") from None


def _split(trust: str) -> tuple[str, str]:
    """Return revision and path of ``git:REVISION:PATH``; both are empty for a file."""
    if not trust.startswith(FROM_GIT):
        return "", ""
    revision, _, path = trust.removeprefix(FROM_GIT).partition(":")
    if not (revision and path):
        raise TRUST_MISSING(f"{trust}: say git:REVISION:PATH")
    return revision, path


def _believed(judge: Callable[[], _ResultT]) -> _ResultT:
    """Return what *judge* does; a blob that does not hold what it should is the bundle's fault."""
    try:
        return judge()
    except Problem as problem:
        if problem.kind is not LEDGER_DAMAGED:
            raise
        raise BUNDLE_INVALID(problem.detail) from None
