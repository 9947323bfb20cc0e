"""On what kind of file system a folder is. SQLite's WAL needs memory that all writers share.

Known on Linux only, from ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)). Elsewhere the answer is
None, and nothing is refused.
"""

import re
from pathlib import Path

from memprove.ledger.problems import NETWORK_FILESYSTEM

# fmt: off
NETWORK_TYPES = frozenset((
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb2", "smb3", "smbfs",
    "fuse.ceph", "fuse.davfs", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs",
    "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
))
# fmt: on
"""File systems whose files other machines may have open at the same time."""

_MOUNTS = Path("/proc/self/mountinfo")


def refuse_network(path: Path) -> None:
    """Raise Problem ``network_filesystem`` if *path* is on one."""
    kind = filesystem_type(path)
    if kind in NETWORK_TYPES:
        raise NETWORK_FILESYSTEM(f"{path} is on {kind}")


def filesystem_type(path: Path) -> str | None:
    """Return the type of the file system that holds *path*, or None where it is not known."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return type_in(mounts, path.resolve())


def type_in(mounts: str, path: Path) -> str | None:
    """Return the type of the mount in *mounts* (mountinfo's text) that *path* (absolute) is under.

    The deepest mount point holds it; of several at one point, the last one covers the others.
    """
    deepest, found = -1, None
    for line in mounts.splitlines():
        fields, _, source = line.partition(" - ")
        point = Path(_unescape(fields.split(" ")[4]))
        if len(point.parts) >= deepest and path.is_relative_to(point):
            deepest, found = len(point.parts), source.split(" ")[0]
    return found


def _unescape(text: str) -> str:
    """Undo mountinfo's octal escapes of space, tab, newline and backslash."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
