"""Which mount a path is on, by its text alone: even a stat of a path on a dead file system would hang."""

from __future__ import annotations

from typing import Dict, List

_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


def read_mounts() -> List[str]:
    """Return all mount points, the longest first."""
    return sorted(read_kinds(), key=len, reverse=True)


def read_kinds() -> Dict[str, str]:
    """Return mount point → type of its file system. Of several on the same point, the last one is visible."""
    kinds = {}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields, _, rest = line.partition(" - ")
            kinds[_unescape(fields.split(" ", 5)[4])] = rest.partition(" ")[0]
    return kinds


def mount_of(path: str, mounts: List[str]) -> str:
    """`path` has no symbolic links, at least not in the directories it names."""
    for mount in mounts:
        if is_below(path, mount):
            return mount
    return "/"


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _unescape(point: str) -> str:
    for code, char in _ESCAPES:
        point = point.replace(code, char)
    return point
