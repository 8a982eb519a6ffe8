"""The paths that a snapshot depends on: files, directories that may get more of them, and rules of what to ignore."""

from __future__ import annotations

import os
from typing import NamedTuple

from tarmac.client.snapshots.files import ignore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.snapshots.diff.work_tree import WorkTree
    from tarmac.client.snapshots.scan import Scan

_RULES = (b".gitignore", b".gitattributes", ignore.FILE)
_MOST_ENTRIES = 10  # per file of the snapshot; looking at more would take longer than asking git


class Watched(NamedTuple):
    paths: list[bytes]  # relative to the root; a link counts, not its target
    followed: list[bytes]  # absolute; the target of a link counts


def watched(work_tree: WorkTree, scanned: Scan, links: Sequence[bytes]) -> Watched | None:
    """None for a work tree with repositories inside, and for one with very many ignored files."""
    listing = work_tree.listing
    if listing.has_repositories or (work_tree.is_git and not work_tree.has_git):
        return None
    directories = _parents([*scanned.files, *listing.deleted]) | listing.directories
    entries = _Entries(
        work_tree.root_fd, {*listing.ignored, *links, *work_tree.left_out}, _MOST_ENTRIES * (len(scanned.files) + 1000)
    )
    try:
        found = entries.below(directories)
    except _TooMany:
        return None
    paths = [*scanned.files, *sorted((found | set(entries.rules)) - scanned.files.keys())]
    linked = [os.path.join(work_tree.root, path) for path in sorted(entries.linked_rules)]
    if not work_tree.is_git:
        return Watched(paths, linked)
    from tarmac.client.snapshots.unchanged.git_inputs import git_inputs

    return Watched(paths, [*git_inputs(work_tree.root), *linked])


def _parents(paths: Sequence[bytes]) -> set[bytes]:
    """All directories above these paths; the root is `.`."""
    found = {path.rpartition(b"/")[0] for path in paths}
    for path in [*found]:
        while path := path.rpartition(b"/")[0]:
            found.add(path)
    return {path or b"." for path in found} | {b"."}


class _TooMany(Exception):
    """There are too many entries."""


class _Entries:
    """Looks at directories, except those that are left out."""

    def __init__(self, root_fd: int, left_out: set[bytes], most: int) -> None:
        self._root_fd = root_fd
        self._left_out = left_out
        self._left = most
        self.rules: list[bytes] = []  # files with rules that are in these directories
        self.linked_rules: list[bytes] = []  # those of them that are symbolic links

    def below(self, directories: set[bytes]) -> set[bytes]:
        """These directories, and those in them: in each, a new file might belong to the snapshot."""
        found = set(directories)
        waiting = [*directories]
        while waiting:
            for inner in self._inner(waiting.pop()):
                if inner not in found:
                    found.add(inner)
                    waiting.append(inner)
        return found

    def _inner(self, directory: bytes) -> list[bytes]:
        try:
            fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._root_fd)
        except OSError:
            return []  # it vanished, or may not be read
        prefix = b"" if directory == b"." else directory + b"/"
        inner = []
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    self._left -= 1
                    path = prefix + os.fsencode(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name != ".git" and path not in self._left_out:
                            inner.append(path)
                    elif os.fsencode(entry.name) in _RULES:
                        self.rules.append(path)
                        if entry.is_symlink():
                            self.linked_rules.append(path)
        finally:
            os.close(fd)
        if self._left < 0:
            raise _TooMany
        return inner
