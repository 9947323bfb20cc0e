"""Which tracked files a sparse checkout leaves out of the worktree."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.local_rules import read_rules
from memprove.ledger.workspace.patterns import Patterns, parse_patterns

_BETWEEN_LOOKS = 1000


def wanted(paths: Iterable[bytes], patterns_file: Path, *, end: float) -> Iterator[bytes]:
    """Yield those of *paths* that the patterns in *patterns_file* want in the worktree.

    Without a pattern all are wanted. The pattern that decides is the last one that matches the
    file, else its folder, and so upwards (git-sparse-checkout; the patterns of cone mode are made
    to mean the same so). Raises Unknown: ``timeout`` at *end* on the monotonic clock,
    ``rules_unreadable``.
    """
    content = read_rules(patterns_file)
    patterns = parse_patterns(content)
    folders: dict[bytes, bool] = {b"": not content.strip()}
    for number, path in enumerate(paths):
        if number % _BETWEEN_LOOKS == 0 and time.monotonic() > end:
            raise Unknown("timeout")
        verdict = patterns.verdict(path)
        if _folder(path.rpartition(b"/")[0], patterns, folders) if verdict is None else verdict:
            yield path


def _folder(path: bytes, patterns: Patterns, known: dict[bytes, bool]) -> bool:
    """Tell whether the folder *path* is wanted, by *known* for those that were asked about."""
    asked = []
    while path not in known:
        asked.append(path)
        verdict = patterns.verdict(path, is_folder=True)
        if verdict is not None:
            known[path] = verdict
        else:
            path = path.rpartition(b"/")[0]
    known.update(dict.fromkeys(asked, known[path]))
    return known[path]
