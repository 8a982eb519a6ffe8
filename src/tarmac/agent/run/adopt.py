"""Processes that somebody started by hand and that were taken into the list: watched until they end, killed on demand.

They have no shim and no cgroup of ours: the start record is all that a later agent needs, and how one ended is not
known, because only its parent is told. What belongs to one is found as its descendants.
"""

from __future__ import annotations

import os
import pwd
import time
from typing import TYPE_CHECKING, Iterable, List, Optional, cast

from tarmac.agent.gpus import gpu_processes
from tarmac.agent.loop import log
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.proc_scan import Tree, descendants, read_all
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.run.attempt import Key, Run, RunHost
from tarmac.agent.run.escalation import Stop
from tarmac.agent.run.run_folder import EXIT, START, Record, RunFolder
from tarmac.shared import proc, protocol
from tarmac.shared.proc import Stat

if TYPE_CHECKING:
    from tarmac.shared.frames import AdoptFrame, ExitedFrame, ReportFrame


class AdoptedTree(Tree):
    """The process and all below it. A child whose parent has ended is known only if it was seen before."""

    def members(self) -> List[Stat]:
        stats = read_all()
        stats.pop(os.getpid(), None)  # nor what is below: the agent may have been started from there
        roots = {self.shim: self.shim_start_time, **self._known}
        found = descendants(
            stats, {pid for pid, start in roots.items() if pid in stats and stats[pid].start_time == start}
        )
        alive = [stats[pid] for pid in sorted(found) if stats[pid].is_alive]
        self._known.update((stat.pid, stat.start_time) for stat in alive)
        return alive


class AdoptedStop(Stop):
    @property
    def is_asked(self) -> bool:
        return self._deadline is not None

    def containment(self) -> Containment:
        if self._containment is None:
            start = self._run.read(START)
            assert start is not None, "an adopted process has a start record"
            self._containment = Containment(None, AdoptedTree("", start["pid"], start["start_time"]))
        return self._containment


class Adoption(Run):
    def __init__(self, desk: RunHost, key: Key, folder: RunFolder) -> None:
        super().__init__(desk, key, folder)
        self.is_shim_gone = True  # it never had one
        self.start_time: Optional[int] = None
        self.stop: AdoptedStop = AdoptedStop(self)

    def begin(self, stat: Stat) -> None:
        start = {
            "job": self.key[0],
            "attempt": self.key[1],
            "adopted": True,
            "boot_id": self.desk.place.boot_id,
            "pid": stat.pid,
            "start_time": stat.start_time,
            "started_at": gpu_processes.started_at(stat),
            "port": None,
            "cgroup": None,
        }
        self.folder.write_durably(START, start)
        self._follow(start)

    def settle(self) -> None:
        """Found by a later agent."""
        start, final = self.read(START), self.read(EXIT)
        assert start is not None, "only by its start record it is known to be an adopted one"
        if final is not None:
            self._tell(cast("ReportFrame", final))
        elif start["boot_id"] != self.desk.place.boot_id:
            self._tell(self._lost("the machine was restarted while it ran", alive=False))
        else:
            self._follow(start)
            self.stop.resume()

    def _follow(self, start: Record) -> None:
        self.start_time = start["start_time"]
        self._tell(protocol.started(*self.key, pid=start["pid"], at=start["started_at"]))
        self._watch_for(start["pid"], start["start_time"])

    def _watch_for(self, pid: int, start_time: int) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = ProcessWatch(self.desk.loop, pid, start_time, self.look_at_tree, self.name)

    def look_at_tree(self) -> None:
        """Over when the process is gone, and when it is being stopped, once all below it are gone, too."""
        if self.is_over:
            return
        start = self.read(START)
        assert start is not None
        if proc.is_same(start["pid"], start["start_time"]):
            self._watch_for(start["pid"], start["start_time"])
            return
        left = self.stop.containment().members() if self.stop.is_asked else {}
        if left:
            self._watch_for(min(left), left[min(left)])
        else:
            self._conclude(start)

    def _conclude(self, start: Record) -> None:
        known = protocol.exited(*self.key, status=0, pid=start["pid"], started_at=start["started_at"], at=time.time())
        final: ExitedFrame = {**known, "exit_code": None, "adopted": True}
        try:
            self.folder.write_durably(EXIT, final)
        except OSError as error:
            log(f"{self.name}: its end cannot be kept, a later agent will find it out again: {error}")
        self._tell(final)


def adopt(desk: RunHost, key: Key, message: AdoptFrame, runs: Iterable[Run]) -> Adoption:
    """Raises ValueError with words for whoever asked."""
    stat = _examine(message, Attribution(desk.place.instance, runs))
    folder = desk.place.folders.make(in_advance=False)
    try:
        desk.place.folders.assign(folder, f"{key[0]}.{key[1]}")
        run = Adoption(desk, key, folder)
        run.begin(stat)
    except OSError as error:
        folder.remove()
        raise ValueError(f"pid {stat.pid} cannot be adopted: {error.strerror or error}") from None
    return run


def _examine(message: AdoptFrame, attribution: Attribution) -> Stat:
    pid = int(message["pid"])
    stat = proc.read_stat(pid) if pid > 0 else None
    expected = message.get("start_time")
    if stat is None or not stat.is_alive or expected not in (None, stat.start_time):
        raise ValueError(f"pid {pid}: there is no such process")
    _check_owner(pid, message.get("uid"))
    key = attribution.key_of(gpu_processes.ProcessTable().look_up(pid))
    if key is not None:
        raise ValueError(f"pid {pid} belongs to job {key[0]} already")
    if pid == os.getpid() or gpu_processes.command_of(pid) is None or pid == 1:
        raise ValueError(f"pid {pid} cannot be adopted: it is part of the system")
    return stat


def _check_owner(pid: int, asked_by: Optional[int]) -> None:
    """Who asks must own it, and the agent must be able to signal it."""
    uid = gpu_processes.uid_of(pid)
    own = os.getuid()
    if uid is None or (own not in (0, uid)) or asked_by not in (None, uid):
        raise ValueError(f"pid {pid} belongs to {_name(uid)}: only its own owner can adopt it")


def _name(uid: Optional[int]) -> str:
    try:
        return "somebody else" if uid is None else pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
