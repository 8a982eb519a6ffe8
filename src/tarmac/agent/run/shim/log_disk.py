"""Was the disk of a job's log full when the job failed? Looked up only then, and never on a disk that may hang."""

from __future__ import annotations

import os

from tarmac.agent.files.mounts import is_below, read_kinds

# On any other, asking for the free space may wait for another machine or for another process.
_LOCAL = ("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs")
_LEAST_BYTES = 4096


def is_full(path: str) -> bool:
    """True if nothing more can be written to a local disk: neither bytes nor new files."""
    try:
        kinds = read_kinds()
        above = [point for point in kinds if is_below(path, point)]
        if not above or any(kinds[point] not in _LOCAL for point in above):  # the way to a local one may hang, too
            return False
        disk = os.statvfs(max(above, key=len))
    except (OSError, ValueError):
        return False
    has_no_inodes = disk.f_files > 0 and disk.f_favail == 0
    has_no_space = disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < _LEAST_BYTES
    return has_no_space or has_no_inodes
