"""What of git's configuration matters to a tree, and what of it the repository may not decide.

Filters, attributes and ignore patterns say what counts as content. Where the configuration of one
clone names them, the same files are another tree elsewhere, and a file such as ``/dev/zero`` is
read without end. The owner's configuration, of the scopes system and global, stands.
"""

import os
from pathlib import Path

import msgspec

KEYS = r"^(filter\.|attr\.tree$|core\.(attributesfile|excludesfile|sparsecheckout)$)"
"""Which keys ``git config --show-scope --get-regexp`` is asked for."""

_OWNERS_SCOPES = (b"system", b"global")
_OURS = b"command"
_TRUE = (b"", b"true", b"yes", b"on", b"1")
_RULES = {b"core.attributesfile": "attributes", b"core.excludesfile": "ignore"}
"""Keys that name a file, and that file's usual name in the owner's folder."""


class GitConfig(msgspec.Struct, frozen=True):
    """What the configuration of one repository says."""

    local_filters: frozenset[str]
    """Filter drivers that the repository's own configuration touches."""
    large_files: bool
    """Whether a filter driver ``lfs`` is defined, by anyone."""
    sparse: bool
    """Whether ``core.sparseCheckout`` is set, but for us."""
    attributes_from_a_tree: bool
    """Whether ``attr.tree`` of the repository takes the place of ``.gitattributes``."""
    excludes_file: Path
    """The owner's."""
    overruled: tuple[str, ...]
    """Settings that put the owner's files in the place of those that the repository names."""


def parse_config(output: bytes) -> GitConfig:
    """Return what *output* says, which ``config -z --show-scope --get-regexp`` printed of KEYS."""
    filters = set()
    sparse = from_a_tree = False
    owners = {key: _usual(name) for key, name in _RULES.items()}
    local = set()
    fields = output.split(b"\0")
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition(b"\n")
        is_owners = scope in _OWNERS_SCOPES
        if key.startswith(b"filter."):
            if not is_owners:
                filters.add(os.fsdecode(key.partition(b".")[2].rpartition(b".")[0]))
        elif key == b"core.sparsecheckout":
            sparse = value.lower() in _TRUE if scope != _OURS else sparse
        elif key == b"attr.tree":
            from_a_tree = from_a_tree or not is_owners
        elif is_owners:
            owners[key] = os.fsdecode(value)
        else:
            local.add(key)
    return GitConfig(
        local_filters=frozenset(filters),
        large_files=b"\0filter.lfs." in output,
        sparse=sparse,
        attributes_from_a_tree=from_a_tree,
        excludes_file=Path(os.path.expanduser(owners[b"core.excludesfile"])),
        overruled=tuple(f"{key.decode()}={owners[key]}" for key in sorted(local)),
    )


def _usual(name: str) -> str:
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", name)
