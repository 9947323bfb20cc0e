from pathlib import Path

import pytest
from support.expected import problem

from memprove.ledger.storage import filesystem
from memprove.ledger.storage.filesystem import filesystem_type, refuse_network, type_in

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /proc rw,relatime - proc proc rw
40 22 0:40 / /home rw shared:1 master:2 - nfs4 server:/home rw
41 40 0:41 / /home/me/with\\040space rw - tmpfs tmpfs rw
42 22 0:42 / /mnt rw - ext4 /dev/vdb rw
43 22 0:43 / /mnt rw - fuse.sshfs host:/ rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/homestead", "ext4"),
        ("/home", "nfs4"),
        ("/home/me", "nfs4"),
        ("/home/me/with space/x", "tmpfs"),
        ("/mnt/x", "fuse.sshfs"),
    ],
)
def test_the_deepest_and_last_mount_holds_a_path(path: str, kind: str) -> None:
    assert type_in(MOUNTS, Path(path)) == kind


def test_no_mount_is_no_type() -> None:
    assert type_in("", Path("/")) is None


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 1 0:1 / / rw - nfs server:/ rw\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", mounts)
    with problem("network_filesystem", "nfs"):
        refuse_network(tmp_path)


def test_an_unknown_file_system_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystem, "_MOUNTS", tmp_path / "missing")
    assert filesystem_type(tmp_path) is None
    refuse_network(tmp_path)


def test_a_local_folder_is_not_refused(tmp_path: Path) -> None:
    refuse_network(tmp_path)
