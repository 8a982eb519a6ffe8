"""The code that a job runs: a stored tree of files, and where it came from."""

from __future__ import annotations

from tarmac.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    tree: str  # hash of the stored tree, in hex
    root: str  # the directory it was taken from
    directory: str = ""  # the job's working directory in it
    links: tuple[str, ...] = ()  # paths in it that are not stored: they stay where they are
    commit: str | None = None  # None: not a git work tree, or one without a commit
    branch: str | None = None  # None: not on a branch
    changed: int | None = None  # files that differ from the commit; None: not a git work tree


def leads_elsewhere(path: str) -> bool:
    """True unless the path is plain and leads below the root. An empty one is the root."""
    parts = path.split("/")
    return bool(path) and ("\0" in path or any(part in {"", ".", ".."} for part in parts))
