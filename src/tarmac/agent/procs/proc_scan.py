"""Finds a job's processes in /proc: as descendants of its shim, or after the shim was killed, by other traits.

While the shim lives, it is the subreaper, so its descendants are all there is. Afterwards: the tag in the limits, the
mark in the environment, the session of the command, processes seen before, orphans that the agent inherited, and all
descendants of these. A process can lose each of these traits but the tag, see limit_tag. Other users can copy tags and
marks, so these count only on our own processes and on orphans.
"""

from __future__ import annotations

import os
from typing import Callable, Dict, List, Optional, Set

from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.owner import is_ours
from tarmac.shared.system import proc
from tarmac.shared.system.proc import Stat
from tarmac.shared.system.shortage import is_shortage

MARK = "TARMAC_MARK"


class ProcessTree:
    def __init__(self, mark: str, shim: int, shim_start_time: int) -> None:
        self.mark = mark
        self.shim = shim
        self.shim_start_time = shim_start_time
        self.main: Optional[int] = None  # leads the command's session
        self.main_start_time = 0  # no process of the attempt is older
        self.tag: Optional[int] = None
        self.guards: Callable[[], Set[int]] = set  # the agent, and the shims of other attempts
        self.orphans: Callable[[Dict[int, Stat]], List[int]] = lambda _: []  # candidates that have no other trait
        self._known: Dict[int, int] = {}  # pid → start time of all processes ever seen

    def members(self, stats: Optional[Dict[int, Stat]] = None) -> List[Stat]:
        """All living processes. `stats`: of every process, if the caller has read them already."""
        stats = read_all() if stats is None else dict(stats)
        shim = stats.get(self.shim)
        if shim is not None and shim.start_time == self.shim_start_time and shim.is_alive:
            found = descendants(stats, {self.shim}) - {self.shim}
        else:
            for pid in self.guards() | {os.getpid()}:
                stats.pop(pid, None)  # with what descends from them: they may have been started from within this job
            found = descendants(stats, self._strays(stats))
        alive = [stats[pid] for pid in sorted(found) if stats[pid].is_alive]
        self._known.update((stat.pid, stat.start_time) for stat in alive)
        return alive

    def _strays(self, stats: Dict[int, Stat]) -> Set[int]:
        strays = {pid for pid, start in self._known.items() if pid in stats and stats[pid].start_time == start}
        strays.update(self._session(stats))
        orphans = set(self.orphans(stats))
        own_limit = limit_tag.own_limit()
        for stat in stats.values():
            if stat.start_time >= self.main_start_time and stat.pid not in strays:
                tag = limit_tag.read_tag(stat.pid)
                # The agent's own one says nothing: the agent was started from within a job.
                is_orphan = stat.pid in orphans
                has_trait = self._has_trait(stat.pid, None if tag == own_limit else tag, is_orphan=is_orphan)
                if has_trait and (is_orphan or is_ours(stat.pid)):
                    strays.add(stat.pid)
        return strays

    def _has_trait(self, pid: int, tag: Optional[int], *, is_orphan: bool) -> bool:
        if tag is not None and tag == self.tag:
            return True
        marks = read_marks(pid)
        return f"{MARK}={self.mark}".encode() in marks or (is_orphan and not marks and tag is None)

    def _session(self, stats: Dict[int, Stat]) -> List[int]:
        if self.main is None:
            return []
        leader = stats.get(self.main)
        if leader is not None and leader.start_time != self.main_start_time:
            return []  # the pid belongs to another process by now
        return [
            stat.pid for stat in stats.values() if stat.session == self.main and stat.start_time >= self.main_start_time
        ]


def read_all() -> Dict[int, Stat]:
    stats = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = proc.read_stat(int(name))
            if stat is not None:
                stats[stat.pid] = stat
    return stats


def descendants(stats: Dict[int, Stat], roots: Set[int]) -> Set[int]:
    """Return the roots and all their descendants."""
    children: Dict[int, List[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.parent, []).append(stat.pid)
    found = set(roots)
    todo = sorted(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found


def read_marks(pid: int) -> List[bytes]:
    """Return the marks in a process's environment: more than one if a job was started from within a job."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return [entry for entry in file.read().split(b"\0") if entry.startswith(b"TARMAC_MARK=")]
    except OSError as error:
        if is_shortage(error):
            raise
        return []
