"""Adopted processes: started by hand, then added to the queue. They are watched until they end and killed on demand.

They have neither a shim nor a cgroup: a later agent needs only the start record. Their exit status stays unknown,
because the kernel reports it to the parent alone. Their process tree is the process and its descendants.
"""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, cast

from tarmac.agent.gpus import gpu_processes
from tarmac.agent.loop import log
from tarmac.agent.outcome.conclusion import of_earlier_boot
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.owner import uid_of
from tarmac.agent.procs.proc_scan import ProcessTree, descendants, read_all
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.records.run_folder import EXIT, START, Record, RunFolder
from tarmac.agent.run.attempt import Attempt, started_of
from tarmac.agent.run.attempt_host import AttemptHost
from tarmac.agent.run.escalation import Escalation
from tarmac.shared import protocol
from tarmac.shared.system import boot_clock, proc
from tarmac.shared.system.proc import Stat

if TYPE_CHECKING:
    from tarmac.shared.frames.base import Origin
    from tarmac.shared.frames.reports import ExitedFrame, ReportFrame
    from tarmac.shared.frames.to_agent import AdoptFrame


class AdoptedTree(ProcessTree):
    """The process and its descendants. A child whose parent has ended is known only if it was seen before."""

    def members(self, stats: Optional[Dict[int, Stat]] = None) -> List[Stat]:
        stats = read_all() if stats is None else dict(stats)
        stats.pop(os.getpid(), None)  # with its descendants: the agent may have been started from there
        roots = {self.shim: self.shim_start_time, **self._known}
        found = descendants(
            stats, {pid for pid, start in roots.items() if pid in stats and stats[pid].start_time == start}
        )
        alive = [stats[pid] for pid in sorted(found) if stats[pid].is_alive]
        self._known.update((stat.pid, stat.start_time) for stat in alive)
        return alive


class AdoptedEscalation(Escalation):
    def containment(self) -> Containment:
        if self._containment is None:
            start = self._attempt.read(START)
            assert start is not None, "an adopted process has a start record"
            self._containment = Containment(None, AdoptedTree("", start["pid"], start["start_time"]))
        return self._containment


class AdoptedAttempt(Attempt):
    def __init__(self, host: AttemptHost, key: AttemptKey, folder: RunFolder) -> None:
        super().__init__(host, key, folder)
        self.is_shim_gone = True  # it never had one
        self.escalation: AdoptedEscalation = AdoptedEscalation(self)

    def begin(self, stat: Stat, origin: Optional[Origin]) -> None:
        started = gpu_processes.started(stat)
        start = {
            "job": self.key.job,
            "attempt": self.key.attempt,
            "adopted": True,
            "boot_id": self.host.context.boot_id,
            "pid": stat.pid,
            "start_time": stat.start_time,
            "started_at": started.at,
            "started_s": started.boot_s,
            "port": None,
            "cgroup": None,
            "origin": origin,
        }
        self.folder.write_durably(START, start)
        self._watch_process(start)

    def settle(self) -> None:
        """Continue what an earlier agent began."""
        start, final = self.read(START), self.read(EXIT)
        assert start is not None, "the start record marks it as adopted"
        is_earlier_boot = start["boot_id"] != self.host.context.boot_id
        if final is not None:
            report = cast("ReportFrame", final)
            self._report(of_earlier_boot(report) if is_earlier_boot else report)
        elif is_earlier_boot:
            self._report(self._lost_by_reboot())
        else:
            self._watch_process(start)
            self.escalation.resume()
            self.pause.resume()

    def _watch_process(self, start: Record) -> None:
        self.start_time = start["start_time"]
        self._report(self._started(start))
        self._watch_for(start["pid"], start["start_time"])

    def _watch_for(self, pid: int, start_time: int) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = ProcessWatch(self.host.loop, pid, start_time, self.check_tree, self.name)

    def check_tree(self) -> None:
        """It is over once the process has ended, and if it is being stopped, once all its descendants have, too."""
        if self.is_over:
            return
        start = self.read(START)
        assert start is not None
        if proc.is_same(start["pid"], start["start_time"]):
            self._watch_for(start["pid"], start["start_time"])
            return
        left = self.escalation.containment().members() if self.escalation.is_requested else {}
        if left:
            self._watch_for(min(left), left[min(left)])
        else:
            self._conclude(start)

    def _conclude(self, start: Record) -> None:
        known = protocol.exited(
            *self.key,
            status=0,
            pid=start["pid"],
            started=started_of(start),
            ended=boot_clock.now(),
            signalled=self.escalation.has_signalled,
        )
        final: ExitedFrame = {**known, "exit_code": None, "adopted": True}
        try:
            self.folder.write_durably(EXIT, final)
        except OSError as error:
            log(f"{self.name}: cannot record its end, a later agent will notice it again: {error}")
        self._report(final)


def adopt(host: AttemptHost, key: AttemptKey, frame: AdoptFrame, attempts: Iterable[Attempt]) -> AdoptedAttempt:
    """Raises ValueError with a message for the user."""
    stat = _examine(frame, Attribution(host.context.instance, attempts))
    folder = host.context.folders.create(in_advance=False)
    try:
        host.context.folders.assign(folder, str(key))
        attempt = AdoptedAttempt(host, key, folder)
        attempt.begin(stat, frame.get("origin"))
    except OSError as error:
        folder.remove()
        raise ValueError(f"pid {stat.pid} cannot be adopted: {error.strerror or error}") from None
    return attempt


def _examine(frame: AdoptFrame, attribution: Attribution) -> Stat:
    pid = int(frame["pid"])
    stat = proc.read_stat(pid) if pid > 0 else None
    expected = frame.get("start_time")
    if stat is None or not stat.is_alive or expected not in (None, stat.start_time):
        raise ValueError(f"pid {pid}: the process does not exist")
    _check_owner(pid, frame.get("uid"))
    key = attribution.key_of(gpu_processes.ProcessTable().look_up(pid))
    if key is not None:
        raise ValueError(f"pid {pid} belongs to job {key.job} already")
    if pid == os.getpid() or gpu_processes.command_of(pid) is None or pid == 1:
        raise ValueError(f"pid {pid} cannot be adopted: it is part of the system")
    return stat


def _check_owner(pid: int, requested_by: Optional[int]) -> None:
    """The process must belong to the requesting user, and the agent must be allowed to signal it."""
    uid = uid_of(pid)
    own = os.getuid()
    if uid is None or (own not in (0, uid)) or requested_by not in (None, uid):
        raise ValueError(f"pid {pid} belongs to {_name(uid)}: only its owner can adopt it")


def _name(uid: Optional[int]) -> str:
    try:
        return "another user" if uid is None else pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
