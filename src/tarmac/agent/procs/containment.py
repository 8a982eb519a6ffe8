"""All processes of one attempt, by cgroup or by scan: list them, signal them, kill them.

With a cgroup, both the kernel's list and the shim's descendants count: a job run by root may have moved a process out.
"""

from __future__ import annotations

import os
import signal
from typing import Dict, List, Optional

from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import CgroupBase, Leaf
from tarmac.agent.procs.proc_scan import ProcessTree
from tarmac.agent.records.run_folder import Record
from tarmac.shared.system import proc
from tarmac.shared.system.proc import Stat

# A stopped process handles any other signal only after SIGCONT.
_HANDLED_WHILE_STOPPED = (
    signal.SIGKILL,
    signal.SIGCONT,
    signal.SIGSTOP,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
)


_STOPPED = "Tt"  # states of a process that SIGSTOP or a debugger stopped


def choose(instance: str) -> CgroupBase:
    if os.environ.get("TARMAC_CONTAINMENT") == "scan":
        return CgroupBase(None, "TARMAC_CONTAINMENT=scan is set")
    return cgroup.find_base(instance)


class Containment:
    def __init__(self, leaf: Optional[Leaf], tree: ProcessTree) -> None:
        self.leaf = leaf
        self.tree = tree

    def members(self) -> Dict[int, int]:
        """Return pid → start time of all living processes."""
        found = {stat.pid: stat.start_time for stat in self.tree.members()}
        if self.leaf is not None:
            for pid in self.leaf.members():
                stat = None if pid in found else proc.read_stat(pid)
                if stat is not None and stat.is_alive:
                    found[pid] = stat.start_time
        return found

    def signal(self, signum: int) -> None:
        """Signal the processes that exist now. Those they start in response, such as to save their work, are spared."""
        self.send(self.members(), signum)

    def send(self, members: Dict[int, int], signum: int) -> None:
        for pid, start_time in members.items():
            self._send_to(pid, start_time, signum)
            if signum not in _HANDLED_WHILE_STOPPED:
                self._send_to(pid, start_time, signal.SIGCONT)
        if self.leaf is not None and signum not in _HANDLED_WHILE_STOPPED:
            self.leaf.thaw()

    def warn(self, members: Dict[int, int], signum: int) -> None:
        """Like `send`, but processes that are stopped or frozen stay so. They handle the signal when they go on."""
        for pid, start_time in members.items():
            self._send_to(pid, start_time, signum)

    def kill(self) -> None:
        """Send SIGKILL to all processes, also to those that appear meanwhile. The caller repeats it as needed."""
        if self.leaf is not None:
            self.leaf.kill()
        seen: Dict[int, int] = {}
        while True:
            fresh = {pid: start for pid, start in self.members().items() if seen.get(pid) != start}
            if not fresh:
                return
            for pid, start_time in fresh.items():
                self._send_to(pid, start_time, signal.SIGKILL)
            seen.update(fresh)

    def freeze(self) -> bool:
        """Freeze all processes. False while one is not frozen yet; the caller repeats it."""
        by_cgroup = self.leaf is not None and self.leaf.freeze()
        seen: Dict[int, int] = {}
        while True:
            stopped = self._stoppable(by_cgroup=by_cgroup)
            fresh = {stat.pid: stat.start_time for stat in stopped if seen.get(stat.pid) != stat.start_time}
            if not fresh:
                break
            for pid, start_time in fresh.items():
                self._send_to(pid, start_time, signal.SIGSTOP)
            seen.update(fresh)
        is_leaf_frozen = self.leaf is None or not by_cgroup or self.leaf.is_frozen()
        return is_leaf_frozen and all(stat.state in _STOPPED for stat in stopped)

    def thaw(self) -> None:
        by_cgroup = self.leaf is not None and self.leaf.can_freeze()
        for stat in self._stoppable(by_cgroup=by_cgroup):
            self._send_to(stat.pid, stat.start_time, signal.SIGCONT)
        if self.leaf is not None:
            self.leaf.thaw()

    def _stoppable(self, *, by_cgroup: bool) -> List[Stat]:
        """The processes that the cgroup does not freeze."""
        frozen = self.leaf.members() if self.leaf is not None and by_cgroup else ()
        stats = (proc.read_stat(pid) for pid in self.members() if pid not in frozen)
        return [stat for stat in stats if stat is not None and stat.is_alive]

    def _send_to(self, pid: int, start_time: int, signum: int) -> None:
        proc.send_signal(pid, start_time, signum)


def from_record(start: Record, mark: str) -> Containment:
    """Build it from the start record, which is all that a later agent has."""
    tree = ProcessTree(mark, start["shim_pid"], start["shim_start_time"])
    tree.main = start["pid"]
    tree.main_start_time = start["start_time"]
    tree.tag = start.get("tag")  # records of older agents have none
    return Containment(Leaf(start["cgroup"]) if start["cgroup"] else None, tree)
