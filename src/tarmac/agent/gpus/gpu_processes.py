"""Details of the processes on a GPU, from /proc: user, command, start time, and traces of their job. Unknown is None.

Each process is read once. Later readings only check that the pid still belongs to the same process.
"""

from __future__ import annotations

import os
import pwd
import time
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Tuple

from tarmac.agent.procs.limit_tag import read_tag
from tarmac.agent.procs.owner import uid_of
from tarmac.shared.system import boot_clock
from tarmac.shared.system.boot_clock import Moment
from tarmac.shared.system.proc import TICKS_PER_S, Stat, read_stat

if TYPE_CHECKING:
    from tarmac.agent.frames import ProcessInfo

COMMAND_CHARS = 300
ARGV_BYTES = 4096
MOST_ANCESTORS = 64


class _Known(NamedTuple):
    start_time: int
    info: ProcessInfo


class ProcessTable:
    def __init__(self) -> None:
        # Taken once: setting the wall clock must not change the start time of a running process.
        self._boot_at = time.time() - boot_clock.seconds()
        self._users: Dict[int, str] = {}  # a directory service may be slow, so ask once per uid
        self._known: Dict[int, _Known] = {}
        self._used: Dict[int, _Known] = {}

    def look_up(self, pid: int) -> ProcessInfo:
        stat = read_stat(pid)
        start_time = stat.start_time if stat else 0
        known = self._used.get(pid) or self._known.get(pid)
        if known is None or known.start_time != start_time:
            known = _Known(start_time, self._read(pid, stat))
        self._used[pid] = known
        return known.info

    def prune(self) -> None:
        """Forget the processes not looked up since the last call. Called after all GPUs were read."""
        self._known, self._used = self._used, {}

    def _read(self, pid: int, stat: Optional[Stat]) -> ProcessInfo:
        uid = uid_of(pid)
        is_ours = uid == os.getuid()  # what others carry proves nothing
        return {
            "pid": pid,
            "user": self._user_of(uid),
            "command": command_of(pid),
            "started_at": round(self._boot_at + stat.start_time / TICKS_PER_S, 2) if stat else None,
            "cgroup": cgroup_of(pid),
            "marks": _marks_of(pid) if is_ours else [],
            "tag": read_tag(pid) if is_ours else None,
            "ancestors": _ancestors_of(stat),
        }

    def _user_of(self, uid: Optional[int]) -> Optional[str]:
        if uid is None:
            return None
        if uid not in self._users:
            try:
                self._users[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._users[uid] = str(uid)
        return self._users[uid]


def started(stat: Stat) -> Moment:
    started_s = stat.start_time / TICKS_PER_S
    return Moment(time.time() - boot_clock.seconds() + started_s, started_s)


def command_of(pid: int) -> Optional[str]:
    words = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ") or _read(pid, "comm").strip()
    return words.decode("utf-8", "replace")[:COMMAND_CHARS] or None


def argv_of(pid: int) -> List[str]:
    """Return the words of the command, at most ARGV_BYTES in all. Empty for a process that has ended."""
    words = _read(pid, "cmdline")[:ARGV_BYTES].rstrip(b"\0")
    return [word.decode("utf-8", "replace") for word in words.split(b"\0")] if words else []


def cgroup_of(pid: int) -> Optional[str]:
    for line in _read(pid, "cgroup").splitlines():
        if line.startswith(b"0::"):
            return line[3:].decode("utf-8", "replace")
    return None


def _marks_of(pid: int) -> List[str]:
    """More than one when a job was started from within a job."""
    entries = _read(pid, "environ").split(b"\0")
    return [entry[12:].decode("utf-8", "replace") for entry in entries if entry.startswith(b"TARMAC_MARK=")]


def _ancestors_of(stat: Optional[Stat]) -> List[Tuple[int, int]]:
    """Return pid and start time of the process itself and of all its ancestors."""
    found: List[Tuple[int, int]] = []
    while stat is not None and len(found) < MOST_ANCESTORS:
        found.append((stat.pid, stat.start_time))
        stat = read_stat(stat.parent) if stat.parent > 1 else None
    return found


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # the process has ended, or lives in a namespace we cannot see into
        return b""
