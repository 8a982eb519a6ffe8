"""What belongs to a snapshot: the paths below its root, before anything is read."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Listing:
    """Paths are bytes relative to the root: a name need not be UTF-8. Not a dataclass: importing that takes long."""

    __slots__ = (
        "branch",
        "changed",
        "commit",
        "deleted",
        "directories",
        "files",
        "has_repositories",
        "ignored",
        "notes",
    )

    def __init__(self) -> None:
        self.files: dict[bytes, None] = {}  # also links; those that do not exist count as deleted
        self.directories: set[bytes] = set()  # those without files; the others follow from the files
        self.ignored: list[bytes] = []  # directories: whatever is created in them does not belong to the snapshot
        self.deleted: list[bytes] = []  # tracked, but not in the work tree
        self.has_repositories = False  # inside, such as submodules
        self.notes: list[str] = []  # for the submitter
        self.commit: str | None = None
        self.branch: str | None = None
        self.changed: int | None = None  # files that differ from the commit; None: not a git work tree

    def leave_out(self, links: Iterable[bytes]) -> None:
        """Leave out these paths and what is below them."""
        tops = tuple(links)
        if not tops:
            return
        below = tuple(top + b"/" for top in tops)

        def is_kept(path: bytes) -> bool:
            return path not in tops and not path.startswith(below)

        self.files = {path: None for path in self.files if is_kept(path)}
        self.directories = {path for path in self.directories if is_kept(path)}

    def add(self, other: Listing, prefix: bytes) -> None:
        """Take in the listing of a directory below, such as a submodule."""
        self.files |= {prefix + path: None for path in other.files}
        self.directories |= {prefix + path for path in other.directories}
        self.notes += other.notes
        self.changed = (self.changed or 0) + (other.changed or 0)


def find_git_root(directory: bytes) -> bytes | None:
    """The nearest directory upwards with a repository. In a linked work tree or a submodule, `.git` is a file."""
    while True:
        if is_git_root(directory):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def is_git_root(directory: bytes) -> bool:
    git = os.path.join(directory, b".git")
    return os.path.isfile(git) or os.path.exists(os.path.join(git, b"HEAD"))


def empty_directories(root_fd: int, top: bytes) -> set[bytes]:
    """The directories below `top` with nothing in them."""
    found: set[bytes] = set()
    waiting = [top]
    while waiting:
        directory = waiting.pop()
        try:
            names, below = _contents(root_fd, directory)
        except OSError:
            continue  # it vanished, or may not be read
        if not names:
            found.add(directory)
        waiting += [directory + b"/" + name for name in below]
    return found


def _contents(root_fd: int, directory: bytes) -> tuple[int, list[bytes]]:
    """How many entries it has, and which of them are directories."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root_fd)
    try:
        with os.scandir(fd) as entries:
            found = [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(fd)
    return len(found), [name for name, is_directory in found if is_directory]
