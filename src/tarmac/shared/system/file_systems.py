"""Which file systems are on another machine: SQLite, locks and Unix sockets do not work there."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

_NETWORK = (
    " 9p acfs afs autofs beegfs ceph cifs coda davfs fuse.ceph fuse.ceph-fuse fuse.davfs fuse.gcsfuse "
    " fuse.glusterfs fuse.juicefs fuse.moosefs fuse.rclone fuse.s3fs fuse.sshfs fuse.weka glusterfs "
    " gpfs lustre mfs ncpfs nfs nfs4 orangefs panfs pvfs2 smb3 smbfs wekafs "
)


def network_file_system(path: str, mountinfo: str = "/proc/self/mountinfo") -> Optional[str]:
    """The type of the network file system that holds the path, or would hold it; None if it is local."""
    existing, info = _nearest_existing(path)
    if os.major(info.st_dev) != 0:
        return None  # a block device, the usual case: no need to read the mount table
    try:
        with open(mountinfo, encoding="utf-8", errors="surrogateescape") as table:
            kind = _mounted_at(os.path.realpath(existing), table.read())
    except OSError:
        return None
    return kind if f" {kind} " in _NETWORK else None


def _mounted_at(path: str, table: str) -> Optional[str]:
    """The file system type of the mount that holds the path: the longest mount point, the latest of equals."""
    best, kind = -1, None
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        point = left.split(" ")[4] if right else ""
        if "\\" in point:
            point = point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if point and inside and len(point) >= best:
            best, kind = len(point), right.split(" ")[0]
    return kind


def _nearest_existing(path: str) -> Tuple[str, os.stat_result]:
    while True:
        try:
            return path, os.stat(path)
        except OSError:
            parent = os.path.dirname(path)
            if parent == path:
                raise
            path = parent
