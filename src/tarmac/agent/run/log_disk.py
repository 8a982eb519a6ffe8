"""Was the disk of a job's log full when the job failed? Looked up only then, and never on a disk that may hang."""

from __future__ import annotations

import os
from typing import Tuple

# On these, asking for the free space waits for another machine or for another process.
_REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "ceph", "lustre", "gpfs", "beegfs", "afs", "glusterfs", "autofs")
_LEAST_BYTES = 4096


def is_full(path: str) -> bool:
    """True if nothing more can be written to a local disk: neither bytes nor new files."""
    try:
        mount, kind = _mount_of(path)
        if kind.startswith(_REMOTE):
            return False
        disk = os.statvfs(mount)
    except (OSError, ValueError):
        return False
    has_no_inodes = disk.f_files > 0 and disk.f_favail == 0
    has_no_space = disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < _LEAST_BYTES  # /proc has no blocks at all
    return has_no_space or has_no_inodes


def _mount_of(path: str) -> Tuple[str, str]:
    """The mount point of a path and the type of its file system, from the kernel's table alone."""
    found = ("/", "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            fields, _, rest = line.partition(" - ")
            mount = fields.split()[4].replace("\\040", " ")
            is_above = path == mount or path.startswith(mount.rstrip("/") + "/")
            if is_above and len(mount) >= len(found[0]):  # of two on the same point, the later one is visible
                found = (mount, rest.split()[0])
    return found
