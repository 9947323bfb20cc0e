"""What the owner laid down in ``<config dir>/config.toml``; nothing in a Workspace can change it.

::

    [complete]
    kinds = ["test"]            # only these kinds of Runs complete a Task
    spooled = true              # so do Runs that a sandboxed shell spooled

    [workspace.2.complete]      # the same for Workspace 2 alone
    kinds = ["test", "build"]

    [workspace.2.git]
    filters = ["lfs"]           # filter drivers of the repository's own configuration that may run
"""

from pathlib import Path

import msgspec

from memprove.ledger.domain.events import COUNTING, RunKind
from memprove.ledger.log.state_files import opener
from memprove.ledger.problems import CONFIG_INVALID, CONFIG_UNREADABLE

_MOST = 64 * 1024


class Policy(msgspec.Struct, frozen=True):
    """What holds in one Workspace."""

    kinds: frozenset[RunKind] = COUNTING
    spooled: bool = False
    filters: frozenset[str] = frozenset()


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table in which an unknown key is a fault."""


class _Complete(_Table, frozen=True):
    kinds: frozenset[RunKind] = COUNTING
    spooled: bool = False


class _Git(_Table, frozen=True):
    filters: frozenset[str] = frozenset()


class _Workspace(_Table, frozen=True):
    complete: _Complete | None = None
    git: _Git | None = None


class _File(_Workspace, frozen=True):
    workspace: dict[str, _Workspace] = msgspec.field(default_factory=dict)


def read_policy(config_dir: Path, workspace: int) -> Policy:
    """Return what holds in Workspace number *workspace*; without a file, the defaults."""
    path = config_dir / "config.toml"
    try:
        with open(path, "rb", opener=opener) as file:
            data = file.read(_MOST + 1)
    except FileNotFoundError:
        return Policy()
    except OSError as error:
        raise CONFIG_UNREADABLE(f"{path}: {error.strerror}") from None
    laid_down = _parse(path, data)
    own = laid_down.workspace.get(str(workspace), _Workspace())
    complete = own.complete or laid_down.complete or _Complete()
    git = own.git or laid_down.git or _Git()
    if not complete.kinds or not complete.kinds <= COUNTING:
        raise CONFIG_INVALID(f"{path}: complete.kinds is of {', '.join(sorted(COUNTING))}")
    return Policy(complete.kinds, complete.spooled, git.filters)


def _parse(path: Path, data: bytes) -> _File:
    if len(data) > _MOST:
        raise CONFIG_INVALID(f"{path} is larger than {_MOST} bytes")
    try:
        return msgspec.toml.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CONFIG_INVALID(f"{path}: {error}") from None
