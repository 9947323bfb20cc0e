"""``.memprove/config.toml``: which paths make no evidence stale, and which Runs may rewrite.

The file may be committed, so anyone who can push can change it. It is believed about two lists of
gitignore patterns and nothing else::

    [evidence]
    ignore = ["docs/", "*.md"]        # a change here makes nothing stale
    outputs = ["**/*.snap"]           # tracked paths that a Run may rewrite

A pattern, or a list, that matches every path (as good as: ``[a-z]*``) would switch evidence off;
it is refused.
"""

import string
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memprove.ledger import problems
from memprove.ledger.workspace import files

if TYPE_CHECKING:
    from memprove.ledger.workspace.patterns import Patterns

NAME = "config.toml"
PATTERNS_LIMIT = 100
LENGTH_LIMIT = 200

_KEYS = ("ignore", "outputs")


class WorkspaceConfig(msgspec.Struct, frozen=True):
    """The two lists of patterns, in the order of the file (a later one may take back: ``!``)."""

    ignore: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def ignores(self, path: str) -> bool:
        """Tell whether a change of *path* (POSIX, below the root) makes nothing stale."""
        return _matches(self.ignore, path)

    def is_output(self, path: str) -> bool:
        """Tell whether a Run may rewrite the tracked *path* (POSIX, below the root)."""
        return _matches(self.outputs, path)


def read_config(worktree: Path) -> WorkspaceConfig:
    """Return the configuration of *worktree*; an absent file is an empty one.

    Raises Problem ``workspace_config_invalid``, naming the key, or ``path_unsafe``.
    """
    data = files.read_local(worktree, NAME)
    return WorkspaceConfig() if data is None else parse_config(data)


def parse_config(data: bytes) -> WorkspaceConfig:
    """Return the configuration that the TOML document *data* holds.

    Raises Problem ``workspace_config_invalid``, naming the key.
    """
    import tomllib  # late: most Workspaces have no such file, and hooks must start fast

    try:
        document = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise problems.WORKSPACE_CONFIG_INVALID("not TOML in UTF-8") from error
    _only(document, ("evidence",), "")
    evidence = document.get("evidence", {})
    if not isinstance(evidence, dict):
        raise problems.WORKSPACE_CONFIG_INVALID("evidence is no table")
    _only(evidence, _KEYS, "evidence.")
    return WorkspaceConfig(
        **{key: _patterns(evidence.get(key, []), f"evidence.{key}") for key in _KEYS}
    )


def _only(table: dict[str, object], known: tuple[str, ...], prefix: str) -> None:
    for key in table:
        if key not in known:
            raise problems.WORKSPACE_CONFIG_INVALID(f"unknown key {prefix}{_shown(key)}")


def _patterns(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise problems.WORKSPACE_CONFIG_INVALID(f"{key} is no list")
    if len(value) > PATTERNS_LIMIT:
        raise problems.WORKSPACE_CONFIG_INVALID(f"{key} has over {PATTERNS_LIMIT} patterns")
    patterns = tuple(_pattern(item, key) for item in value)
    # What a `!` takes back does not count: it would be a way round the probes.
    if _matches_everything(pattern for pattern in patterns if not pattern.startswith("!")):
        raise problems.WORKSPACE_CONFIG_INVALID(f"{key} as a whole matches everything")
    return patterns


def _pattern(item: object, key: str) -> str:
    if not isinstance(item, str):
        raise problems.WORKSPACE_CONFIG_INVALID(f"{key} holds something else than text")
    fault = _fault(item)
    if fault:
        raise problems.WORKSPACE_CONFIG_INVALID(f"{key}: {_shown(item)} {fault}")
    return item


def _fault(pattern: str) -> str:
    """Return what is wrong with *pattern*, or nothing."""
    if len(pattern) > LENGTH_LIMIT:
        return f"is longer than {LENGTH_LIMIT} characters"
    if not pattern.isprintable():
        return "has a control character"
    if ".." in pattern.lstrip("!").split("/"):
        return "leaves the Workspace"
    from memprove.ledger.workspace.patterns import parse_pattern  # late: most have no pattern

    try:
        if parse_pattern(pattern.encode()) is None:
            return "is blank or a comment"
    except ValueError as error:
        return f"can match nothing: {error}"
    return "matches everything" if _matches_everything((pattern,)) else ""


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    return bool(patterns) and _compiled(patterns).ignores(path.encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> "Patterns":
    from memprove.ledger.workspace.patterns import Patterns, parse_pattern  # late, as above

    parsed = (parse_pattern(pattern.encode()) for pattern in patterns)
    return Patterns(pattern for pattern in parsed if pattern is not None)


def _matches_everything(patterns: Iterable[str]) -> bool:
    """Tell whether *patterns* match more than half of the made-up paths."""
    several = tuple(patterns)
    missed = 0
    for path in _PROBES:
        missed += not _matches(several, path)
        if missed * 2 >= len(_PROBES):
            return False
    return True


def _made_up_paths() -> tuple[str, ...]:
    """Return paths as sources have them: in a folder, with an ending, mostly lower case.

    What matches these but spares files at the top, or without an ending, spares no code.
    """
    names = string.ascii_lowercase + "AMZ059_é本"
    shapes = ("{0}{1}/{1}{2}.{2}{1}", "{1}{2}{0}/{0}{2}/{2}{1}.{1}{0}")
    return tuple(
        shapes[index % 2].format(name, names[-index - 1], names[index * 11 % len(names)])
        for index, name in enumerate(names)
    )


_PROBES = _made_up_paths()


def _shown(text: str) -> str:
    return ascii(text[:60])
