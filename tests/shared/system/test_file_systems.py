import pytest

from tarmac.shared.system import file_systems

NFS_HOME = """\
22 1 0:21 / / rw,relatime - overlay overlay rw
30 22 0:5 / /dev rw - devtmpfs udev rw
40 22 0:50 / /home rw,relatime - nfs4 server:/export/home rw,vers=4.2
41 40 0:51 / /home/ann/local\\040disk rw - ext4 /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home", "nfs4"),
        ("/home/ann/.local/state", "nfs4"),
        ("/homestead", "overlay"),
        ("/home/ann/local disk/x", "ext4"),
        ("/var/tmp", "overlay"),
    ],
)
def test_the_mount_that_holds_a_path_is_the_longest(path: str, kind: str) -> None:
    assert file_systems._mounted_at(path, NFS_HOME) == kind
