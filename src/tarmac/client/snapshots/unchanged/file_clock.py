"""When the scan of a work tree began, on the clock that its files get their times from.

A file server has its own clock. If it is behind, a file that changed after the scan seems to be older than the scan.
"""

from __future__ import annotations

import os
from time import monotonic_ns

from tarmac.client.snapshots.unchanged.git_inputs import git_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.snapshots.diff.work_tree import WorkTree


def began_ns(work_tree: WorkTree) -> int:
    """The earlier time of both clocks. Raises OSError if no file can be created to read the other one."""
    cache = work_tree.cache
    now_ns = _file_time_ns(work_tree)
    return min(cache.began_ns, now_ns - (monotonic_ns() - cache.began_monotonic_ns))


def _file_time_ns(work_tree: WorkTree) -> int:
    """The time that a new file gets. It has no name, or is in git's directory: the work tree does not change."""
    try:
        fd = os.open(b".", os.O_TMPFILE | os.O_WRONLY, 0o600, dir_fd=work_tree.root_fd)
    except OSError:
        if not work_tree.is_git:
            raise
    else:
        return _closed_time_ns(fd)
    path = os.path.join(git_directory(work_tree.root), b"tarmac-clock-%d" % os.getpid())
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        return _closed_time_ns(fd)
    finally:
        os.unlink(path)


def _closed_time_ns(fd: int) -> int:
    try:
        return os.fstat(fd).st_mtime_ns
    finally:
        os.close(fd)
