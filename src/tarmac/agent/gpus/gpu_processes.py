"""Who a process on a GPU is: user, command, since when, and what tells its job; from /proc. Unknown is None.

Each process is looked up once: what is asked again at every reading is only whether the pid is still the same process.
"""

from __future__ import annotations

import pwd
import time
from typing import Any, Dict, List, Optional, Tuple

from tarmac.shared.proc import Stat, read_stat

COMMAND_CHARS = 300
MOST_ANCESTORS = 64
_TICKS_PER_S = 100  # what /proc counts in, whatever the kernel's own clock does

Holder = Dict[str, Any]


class Holders:
    def __init__(self) -> None:
        # Taken once: the wall clock may be set, and a process that ran on must not seem to have started anew.
        self._boot_at = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        self._names: Dict[int, str] = {}  # a directory service may take long to answer, so ask once
        self._known: Dict[int, Tuple[int, Holder]] = {}
        self._used: Dict[int, Tuple[int, Holder]] = {}

    def look_up(self, pid: int) -> Holder:
        stat = read_stat(pid)
        start_time = stat.start_time if stat else 0
        known = self._used.get(pid) or self._known.get(pid)
        if known is None or known[0] != start_time:
            known = (start_time, self._read(pid, stat))
        self._used[pid] = known
        return known[1]

    def tidy(self) -> None:
        """After a reading of all GPUs: forgets those that nobody asked for."""
        self._known, self._used = self._used, {}

    def _read(self, pid: int, stat: Optional[Stat]) -> Holder:
        return {
            "pid": pid,
            "user": self._user_of(pid),
            "command": command_of(pid),
            "started_at": round(self._boot_at + stat.start_time / _TICKS_PER_S, 2) if stat else None,
            "cgroup": _cgroup_of(pid),
            "marks": _marks_of(pid),
            "ancestors": _ancestors_of(stat),
        }

    def _user_of(self, pid: int) -> Optional[str]:
        uid = uid_of(pid)
        if uid is None:
            return None
        if uid not in self._names:
            try:
                self._names[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._names[uid] = str(uid)
        return self._names[uid]


def uid_of(pid: int) -> Optional[int]:
    """The real user: the owner of /proc/PID is root for programs that guard their memory."""
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Uid:"):
            return int(line.split()[1])
    return None


def started_at(stat: Stat) -> float:
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + stat.start_time / _TICKS_PER_S


def command_of(pid: int) -> Optional[str]:
    words = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ") or _read(pid, "comm").strip()
    return words.decode("utf-8", "replace")[:COMMAND_CHARS] or None


def _cgroup_of(pid: int) -> Optional[str]:
    for line in _read(pid, "cgroup").splitlines():
        if line.startswith(b"0::"):
            return line[3:].decode("utf-8", "replace")
    return None


def _marks_of(pid: int) -> List[str]:
    """More than one when a job was started from within a job."""
    entries = _read(pid, "environ").split(b"\0")
    return [entry[12:].decode("utf-8", "replace") for entry in entries if entry.startswith(b"TARMAC_MARK=")]


def _ancestors_of(stat: Optional[Stat]) -> List[Tuple[int, int]]:
    """pid and start time of the process itself and all above it."""
    found: List[Tuple[int, int]] = []
    while stat is not None and len(found) < MOST_ANCESTORS:
        found.append((stat.pid, stat.start_time))
        stat = read_stat(stat.parent) if stat.parent > 1 else None
    return found


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it is gone, or lives in a namespace we cannot see into
        return b""
