"""Keeps what the last snapshot of a work tree depends on: paths, and one hash of the state of all of them.

If all paths are as they were, the next snapshot is the same: git is not asked, and no directory is read. A record is
kept only if every file is still as it was read, and if the last change of every path is long enough before that, so
that a later one has another time. It is only a cache: without one, the next snapshot takes longer.
"""

from __future__ import annotations

import marshal
import os

from tarmac.client.snapshots.stat_cache import cache_path, replace_file, seen_of
from tarmac.shared.snapshots.objects import HASH_BYTES, hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.snapshots.diff.work_tree import WorkTree
    from tarmac.client.snapshots.scan import Scan
    from tarmac.client.snapshots.stat_cache import Seen

_VERSION = 1
_SUFFIX = ".unchanged"
_PLAIN = 2  # the version of marshal that writes equal values equally


class Record:
    """`links` are left out of the snapshot."""

    def __init__(self, work_tree: WorkTree, links: Sequence[bytes]) -> None:
        self._work_tree = work_tree
        self._links = links
        self._path = cache_path(work_tree.root) + _SUFFIX
        self._key = _key(work_tree, links)

    def known_tree(self) -> bytes | None:
        """The tree of the last snapshot, if nothing changed since. The work tree's notes and listing are filled."""
        try:
            with open(self._path, "rb") as file:
                data = file.read()
            if hash_of(data[HASH_BYTES:]) != data[:HASH_BYTES]:
                return None
            version, key, paths, followed, state, answer = marshal.loads(data[HASH_BYTES:])  # noqa: S302  written by this user, and complete
            if (version, key) != (_VERSION, self._key):
                return None
            if _hashed(_states(self._work_tree.root_fd, paths.split(b"\0"), followed)) != state:
                return None
            tree, commit, branch, changed, notes = answer
        except (OSError, ValueError, EOFError, TypeError):
            return None
        listing = self._work_tree.listing
        listing.commit, listing.branch, listing.changed = commit, branch, changed
        self._work_tree.notes += notes
        found: bytes = tree
        return found

    def keep(self, scanned: Scan, tree: bytes) -> None:
        """Keep the snapshot that was taken just now and is stored. Do nothing if some path cannot be looked at."""
        if not all(self._work_tree.cache.is_settled(*known) for known in scanned.files.values()):
            return  # common right after an edit; skip the walk and the git call
        from tarmac.client.snapshots.files.git import NoGit
        from tarmac.errors import UserError

        try:
            self._keep(scanned, tree)
        except (OSError, NoGit, UserError):
            return

    def _keep(self, scanned: Scan, tree: bytes) -> None:
        from tarmac.client.snapshots.unchanged.file_clock import began_ns
        from tarmac.client.snapshots.unchanged.watched import watched

        work_tree = self._work_tree
        found = watched(work_tree, scanned, self._links)
        if found is None:
            return
        states = _states(work_tree.root_fd, found.paths, found.followed)
        if states[: len(scanned.files)] != [seen for seen, *_ in scanned.files.values()]:
            return  # a file changed after it was read
        began = began_ns(work_tree)
        if any(seen is not None and not work_tree.cache.is_settled(seen, began_ns=began) for seen in states):
            return
        listing = work_tree.listing
        answer = (tree, listing.commit, listing.branch, listing.changed, work_tree.notes)
        paths = b"\0".join(found.paths)
        data = marshal.dumps((_VERSION, self._key, paths, found.followed, _hashed(states), answer))
        replace_file(self._path, hash_of(data) + data)


def _key(work_tree: WorkTree, links: Sequence[bytes]) -> bytes:
    """What else decides: where the snapshot is stored, the directory of the job, and where git finds its settings."""
    variables = sorted(
        (name, value)
        for name, value in os.environb.items()
        if name.startswith(b"GIT_") or name in {b"HOME", b"XDG_CONFIG_HOME"}
    )
    return hash_of(marshal.dumps((work_tree.own, work_tree.inside, work_tree.is_git, [*links], variables), _PLAIN))


def _states(root_fd: int, paths: Sequence[bytes], followed: Sequence[bytes]) -> list[Seen | None]:
    """None for what does not exist."""
    states: list[Seen | None] = []
    for path in paths:
        try:
            states.append(seen_of(os.lstat(path, dir_fd=root_fd)))
        except (FileNotFoundError, NotADirectoryError):
            states.append(None)
    for path in followed:
        try:
            states.append(seen_of(os.stat(path)))
        except (FileNotFoundError, NotADirectoryError):
            states.append(None)
    return states


def _hashed(states: list[Seen | None]) -> bytes:
    return hash_of(marshal.dumps(states, _PLAIN))
