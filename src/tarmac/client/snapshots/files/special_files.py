"""Finds sockets, pipes and devices in a git work tree. A snapshot leaves them out, and git does not mention them."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_TOLD = 20


class SpecialFiles:
    """Looks into each directory once."""

    def __init__(self, root_fd: int) -> None:
        self._root_fd = root_fd
        self._seen: set[bytes] = set()
        self._found: list[bytes] = []

    def look(self, files: Iterable[bytes], directories: Iterable[bytes] = ()) -> None:
        """Look at these directories, and at those of these files."""
        wanted = {b"", *directories, *(path.rpartition(b"/")[0] for path in files)} - self._seen
        self._seen |= wanted
        for directory in wanted:
            try:
                self._look_into(directory)
            except OSError:
                continue  # it vanished, or a link is in its place

    def notes(self, root: bytes, left_out: Sequence[bytes]) -> list[str]:
        """For those that are neither ignored nor below the paths that are left out anyway."""
        below = tuple(path + b"/" for path in left_out)
        told = sorted(path for path in self._found if path not in left_out and not path.startswith(below))[:_MOST_TOLD]
        if not told:
            return []
        from tarmac.client.snapshots.files.directory import skipped
        from tarmac.client.snapshots.files.git import ignored

        are_ignored = ignored(root, told)
        return [skipped(path, self._mode(path)) for path in told if path not in are_ignored]

    def _look_into(self, directory: bytes) -> None:
        fd = os.open(directory or b".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._root_fd)
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    is_usual = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
                    if not is_usual and not entry.is_symlink():
                        name = os.fsencode(entry.name)
                        self._found.append(directory + b"/" + name if directory else name)
        finally:
            os.close(fd)

    def _mode(self, path: bytes) -> int:
        try:
            return os.lstat(path, dir_fd=self._root_fd).st_mode
        except OSError:
            return stat.S_IFIFO  # it vanished
