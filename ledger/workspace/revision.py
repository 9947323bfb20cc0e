"""Files as a commit has them: what CI takes trust and ignore lists from, never the change itself.

A file is read out of git's objects by its id, so nothing of the work tree, no link and no filter
has a say in it.
"""

import re
from pathlib import Path
from typing import Final

from memprove.ledger.problems import REVISION_UNKNOWN
from memprove.ledger.workspace.config import NAME, WorkspaceConfig, parse_config
from memprove.ledger.workspace.files import CAP, FOLDER
from memprove.ledger.workspace.git import Git, Unknown

_DEADLINE_S: Final = 10.0
_REVISION: Final = re.compile(r"[^\s:\0-][^\s:\0]*")
_REGULAR: Final = (b"100644", b"100755")


def config_at(worktree: Path, revision: str) -> WorkspaceConfig:
    """Return the configuration that *revision* has; an absent file is an empty one.

    Raises Problem ``revision_unknown``, ``workspace_config_invalid``.
    """
    data = read_at(worktree, revision, f"{FOLDER}/{NAME}")
    return WorkspaceConfig() if data is None else parse_config(data)


def read_at(worktree: Path, revision: str, path: str, *, cap: int = CAP) -> bytes | None:
    """Return what the file *path* holds in the commit *revision*, None if there is none.

    Raises Problem ``revision_unknown`` where git cannot say, or it is no regular file of at most
    *cap* bytes.
    """
    if _REVISION.fullmatch(revision) is None or "\0" in path:
        raise REVISION_UNKNOWN(f"{revision}:{path}")
    try:
        git = Git.find(worktree, deadline_s=_DEADLINE_S)
        commit = _commit(git, revision)
        listed = git.read("ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
        rows = [row.partition(b"\t") for row in listed.split(b"\0")[:-1]]
        found = [head.split() for head, _, name in rows if name == path.encode()]
        if not found:
            return None
        mode, _, oid, size = found[0]
        if mode not in _REGULAR or int(size) > cap:
            raise Unknown("git_failed", f"no regular file of at most {cap} bytes")
        return git.read("cat-file", "blob", oid.decode())
    except Unknown as unknown:
        raise REVISION_UNKNOWN(f"{revision}:{path}: {unknown}") from None


def _commit(git: Git, revision: str) -> str:
    with git.start("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") as running:
        code, output, messages = running.finish()
    if code != 0:
        text = messages.decode("ascii", "replace").strip()
        raise Unknown("no_commit", text[:160])
    return output.decode("ascii").strip()
