"""Lists a git work tree: tracked files, and untracked ones that are not ignored, with commit, branch and changes.

git itself decides what is ignored. Submodules and repositories inside the work tree are listed like the work tree.
"""

from __future__ import annotations

import os

from tarmac.client.snapshots.files.listing import Listing, empty_directories, is_git_root
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# They would point git to another repository, or change what it prints.
_NOT_PASSED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_LITERAL_PATHSPECS", "GIT_TRACE")


class NoGit(Exception):
    """git is not installed."""


class GitCall:
    """A git process under way. Its output goes to memory, so several of them work at the same time."""

    def __init__(self, top: bytes, words: Sequence[str], given: bytes = b"") -> None:
        self._top = top
        self._in, self._out, self._err = (os.memfd_create(f"git-{name}") for name in ("in", "out", "err"))
        os.pwrite(self._in, given, 0)
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED}
        environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        actions = [
            (os.POSIX_SPAWN_DUP2, self._in, 0),
            (os.POSIX_SPAWN_DUP2, self._out, 1),
            (os.POSIX_SPAWN_DUP2, self._err, 2),
        ]
        try:
            self._pid = os.posix_spawnp(
                "git", ["git", "-C", os.fsdecode(top), *words], environment, file_actions=actions
            )
        except OSError as error:
            self._close()
            raise NoGit(error.strerror) from None

    def output(self, *, accepted: Sequence[int] = (0,)) -> bytes:
        """Wait for its end. Raises UserError with git's words if it failed, unless its exit code is accepted."""
        try:
            _, status = os.waitpid(self._pid, 0)
            code = os.waitstatus_to_exitcode(status)
            if code not in accepted:
                raise _failure(self._top, os.pread(self._err, 1 << 16, 0).decode("utf-8", "replace"), code)
            return _whole(self._out)
        finally:
            self._close()

    def _close(self) -> None:
        for fd in (self._in, self._out, self._err):
            os.close(fd)


def _whole(fd: int) -> bytes:
    size = os.fstat(fd).st_size
    return b"" if not size else os.pread(fd, size, 0)


def _failure(top: bytes, words: str, code: int) -> UserError:
    name = os.fsdecode(top)
    if code == 127 and not words:
        raise NoGit("git: not found")
    if "dubious ownership" in words or "safe.directory" in words:
        return UserError(
            f"the repository {name} belongs to another user, so git does not read it",
            f"run `git config --global --add safe.directory {name}` if you trust it, or use --no-snapshot",
        )
    said = next((line for line in words.splitlines() if line.startswith(("fatal:", "error:"))), words.strip()[:200])
    return UserError(f"git cannot list {name}: {said}", "repair the repository, or use --no-snapshot")


class GitListing:
    """Starts git at once; `finish` waits for it."""

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._status = GitCall(
            top,
            [
                "status",
                "--porcelain=v2",
                "--branch",
                "-z",
                "-uall",
                "--ignored=matching",
                "--no-renames",
                "--ignore-submodules=dirty",
            ],
        )
        self._tracked = GitCall(top, ["ls-files", "-z", "--cached"])
        self._others = GitCall(top, ["ls-files", "-z", "--others", "--exclude-standard", "--directory"])

    def finish(self) -> Listing:
        """Tracked submodules are among the files. `add_repository` replaces them."""
        status = _Status(self._status.output())
        tracked, others = self._tracked.output(), self._others.output()
        listing = Listing()
        listing.commit, listing.branch, listing.changed = status.commit, status.branch, status.changed
        listing.ignored, listing.deleted = status.ignored, status.deleted
        listing.files = dict.fromkeys(tracked.split(b"\0")[:-1])
        for path in status.deleted:
            listing.files.pop(path, None)
        listing.files |= dict.fromkeys(path for path in status.untracked if not path.endswith(b"/"))
        root_fd = os.open(self._top, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for path in (path.rstrip(b"/") for path in status.untracked if path.endswith(b"/")):
                add_repository(listing, self._top, path)
            self._add_empty(listing, [path[:-1] for path in others.split(b"\0") if path.endswith(b"/")], root_fd)
        finally:
            os.close(root_fd)
        return listing

    def _add_empty(self, listing: Listing, others: Sequence[bytes], root_fd: int) -> None:
        for path in others:
            if not is_git_root(os.path.join(self._top, path)):
                listing.directories.add(path)
                listing.directories |= empty_directories(root_fd, path)


def add_repository(listing: Listing, top: bytes, path: bytes) -> None:
    """Replace a path by what is in the repository there. A submodule that is not checked out is an empty directory."""
    listing.has_repositories = True
    listing.files.pop(path, None)
    listing.directories.add(path)
    if is_git_root(os.path.join(top, path)):
        listing.add(GitListing(os.path.join(top, path)).finish(), path + b"/")


def ignored(top: bytes, paths: Sequence[bytes]) -> set[bytes]:
    """Which of these paths are ignored. Those in repositories inside the work tree are taken for not ignored."""
    call = GitCall(top, ["check-ignore", "-z", "--stdin", "--no-index"], b"\0".join(paths))
    return set(call.output(accepted=(0, 1, 128)).split(b"\0"))


class _Status:
    """What `git status --porcelain=v2` says."""

    def __init__(self, output: bytes) -> None:
        self.commit: str | None = None
        self.branch: str | None = None
        self.changed = 0
        self.deleted: list[bytes] = []  # tracked, but not in the work tree
        self.untracked: list[bytes] = []
        self.ignored: list[bytes] = []  # directories
        for line in output.split(b"\0")[:-1]:
            self._take(line)

    def _take(self, line: bytes) -> None:
        kind = line[:2]
        if kind == b"# ":
            self._take_header(line[2:].decode("utf-8", "replace"))
            return
        if kind == b"! ":
            if line.endswith(b"/"):
                self.ignored.append(line[2:-1])
            return
        self.changed += 1
        if kind == b"? ":
            self.untracked.append(line[2:])
        elif kind == b"1 " and line[3:4] == b"D":
            self.deleted.append(line.split(b" ", 8)[8])

    def _take_header(self, line: str) -> None:
        name, _, value = line.partition(" ")
        if name == "branch.oid" and value != "(initial)":
            self.commit = value
        elif name == "branch.head" and value != "(detached)":
            self.branch = value
