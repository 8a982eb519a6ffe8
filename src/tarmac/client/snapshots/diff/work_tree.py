"""The files of a directory as they are now: which belong to a snapshot, and the hash of each."""

from __future__ import annotations

import os
from stat import S_ISDIR

from tarmac.client.snapshots.files.listing import Listing, find_git_root
from tarmac.client.snapshots.files.own_directory import is_within, root_outside
from tarmac.client.snapshots.files.special_files import SpecialFiles
from tarmac.client.snapshots.scan import Scan, look_at, scan, total_size
from tarmac.client.snapshots.stat_cache import StatCache
from tarmac.shared.snapshots.objects import hash_of, top_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tarmac.client.snapshots.files.git import GitListing

    Stats = dict[bytes, os.stat_result]


class WorkTree:
    """`root` is the git work tree that the directory is in, or the directory.

    `state` is Tarmac's own directory, which is never part of a snapshot.
    """

    cache: StatCache

    def __init__(self, directory: bytes, state: str) -> None:
        self.own = own = os.path.realpath(os.fsencode(state))
        git_root = root_outside(own, directory, find_git_root(directory))
        self.is_git = git_root is not None
        self.root = git_root or directory
        self.inside = os.path.relpath(directory, self.root) if directory != self.root else b""
        self.notes: list[str] = []
        self.left_out = (os.path.relpath(own, self.root),) if is_within(own, self.root) else ()
        self.root_fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.listing = Listing()
        self._git: GitListing | None = None

    @property
    def has_git(self) -> bool:
        """True once git has listed the files."""
        return self._git is not None

    def close(self) -> None:
        os.close(self.root_fd)

    def scan(self, links: Sequence[bytes], check: Callable[[dict[bytes, int]], None] = lambda _: None) -> Scan:
        """Read what changed, except the links. `check` gets the sizes of all files before that, and may raise."""
        links = (*links, *self.left_out)
        self._git = self._start_git() if self.is_git else None
        self.cache = StatCache(self.root)
        before = look_at(self.root_fd, self.cache.files)  # while git works
        special = SpecialFiles(self.root_fd)
        if self._git is not None:
            special.look(self.cache.files)
        self.listing = self._listed(links)
        self.listing.leave_out(links)
        stats = self._stats(links, before)
        self._add_working_directory(stats)
        check(total_size(stats))
        scanned = scan(self.listing, stats, self.cache, self.root_fd)
        self.notes += scanned.notes
        if self._git is not None:
            special.look(self.listing.files, self.listing.directories)
            self.notes += [note for note in special.notes(self.root, links) if note not in scanned.notes]
        return scanned

    def tree(self, scanned: Scan) -> tuple[bytes, dict[bytes, bytes] | None]:
        """The name of the tree, and its directories unless the name is known from the last time."""
        if scanned.is_as_before and self._paths(scanned) == self.cache.listing:
            return self.cache.tree, None
        return top_object(scanned.entries())

    def remember(self, scanned: Scan, tree: bytes) -> None:
        paths = self._paths(scanned)
        if scanned.is_as_before and (paths, tree) == (self.cache.listing, self.cache.tree):
            return
        settled = {path: known for path, known in scanned.files.items() if self.cache.is_settled(*known)}
        self.cache.store(settled, paths, tree)

    def _paths(self, scanned: Scan) -> bytes:
        return hash_of(b"\0".join([*scanned.files, b"", *sorted(self.listing.directories)]))

    def _start_git(self) -> GitListing | None:
        from tarmac.client.snapshots.files.git import GitListing, NoGit

        try:
            return GitListing(self.root)
        except NoGit:
            self.notes.append("git is not installed, so the snapshot has the files that it would ignore")
            return None

    def _listed(self, links: Sequence[bytes]) -> Listing:
        if self._git is not None:
            return self._git.finish()
        from tarmac.client.snapshots.files.directory import list_directory

        return list_directory(self.root, links)

    def _stats(self, links: Sequence[bytes], before: Stats) -> Stats:
        """The status of each file that exists. A tracked directory is a submodule and is listed now."""
        files = self.listing.files
        if files.keys() == before.keys():
            return before
        found = before | look_at(self.root_fd, [path for path in files if path not in before])
        nested = [path for path in files if path in found and S_ISDIR(found[path].st_mode)]
        if nested:
            from tarmac.client.snapshots.files.git import add_repository

            for path in nested:
                add_repository(self.listing, self.root, path)
            self.listing.leave_out(links)
            return self._stats(links, found)
        return {path: found[path] for path in files if path in found}

    def _add_working_directory(self, stats: Stats) -> None:
        inside = self.inside
        if inside and inside not in self.listing.directories and not any(p.startswith(inside + b"/") for p in stats):
            self.listing.directories.add(inside)
            self.notes.append(f"{os.fsdecode(inside)} is ignored, so it is empty in the snapshot")
