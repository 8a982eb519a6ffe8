"""One attempt as the agent sees it: its shim, its latest report, and what follows when the shim ends.

The frames of a shim that this agent forked arrive on a channel. Of a shim that an earlier agent forked, only the
records are read, once it has ended. An attempt is reported `lost` only if it has a start record, no exit record, and
no shim that could still write one.
"""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, Dict, Optional, cast

from tarmac.agent.loop import log
from tarmac.agent.outcome.conclusion import conclude, failed_record, of_earlier_boot
from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.leftovers import describe, with_leftovers
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.records.attempt_key import AttemptKey, key_of_record
from tarmac.agent.records.run_folder import EXIT, LEFT, START, Record, RunFolder
from tarmac.agent.run import traces
from tarmac.agent.run.escalation import Escalation
from tarmac.agent.run.examination import Examination
from tarmac.agent.run.handoff import Start
from tarmac.agent.run.late_limit import LateLimit
from tarmac.agent.run.pause import Pause
from tarmac.agent.run.shim_channel import ShimChannel
from tarmac.agent.run.shim_pool import IdleShim
from tarmac.shared import protocol
from tarmac.shared.system import boot_clock
from tarmac.shared.system.boot_clock import Moment
from tarmac.shared.system.proc import send_signal

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, FailedRecord
    from tarmac.agent.run.attempt_host import AttemptHost
    from tarmac.shared.frames.base import Origin
    from tarmac.shared.frames.reports import LostFrame, ReportFrame, StartedFrame

_UNDECIDED_S = 0.02
_SEARCH_S = 1.0  # a search for processes takes a while
_SHIM_LINGERS_S = 1.0
_UNPROVED = "its shim was killed, and some of its processes may be left; kill the job to release its GPUs"


class Attempt:
    def __init__(self, host: AttemptHost, key: AttemptKey, folder: RunFolder, port: Optional[int] = None) -> None:
        self.host = host
        self.key = key
        self.name = f"job {key}"
        self.folder = folder
        self.port = port
        self.leaf: Optional[Leaf] = None
        self.shim: Optional[IdleShim] = None  # if this agent forked it
        self.is_shim_idle = False  # the shim is done with this attempt
        self.start: Optional[Start] = None  # as long as it may have to be started again
        self.latest: Optional[ReportFrame] = None
        self.is_shim_gone = False
        self.is_examined = False  # the reason of its failure is looked for, or is found
        self.is_forgotten = False
        self.start_time: Optional[int] = None  # of an adopted process
        self.shim_pid: Optional[int] = None  # if this agent forked the shim
        self.found: Optional[Record] = None  # the start record as it was found, in case it is removed
        self.earlier_shim_pid: Optional[int] = None  # if an earlier agent forked it
        self._origin: Optional[Origin] = None
        self._is_origin_known = False  # the start record was read
        self._has_own_shim = False
        self._search_at = 0.0
        self.escalation = Escalation(self)
        self.pause = Pause(self)
        self._late_limit: Optional[LateLimit] = None  # if the shim was killed
        self._examination: Optional[Examination] = None
        self._final: Optional[ReportFrame] = None  # known, but the process tree is not gone yet
        self._channel: Optional[ShimChannel] = None
        self._watch: Optional[ProcessWatch] = None

    @property
    def is_over(self) -> bool:
        return self.latest is not None and protocol.is_final(self.latest)

    @property
    def is_under_examination(self) -> bool:
        """It has failed; its final report follows in a moment."""
        return self.is_examined and not self.is_over

    def present_report(self) -> Optional[ReportFrame]:
        """None while it is undecided whether the attempt starts, which takes moments only."""
        start = self.read(START) if self.latest is None else None
        report = self.latest if start is None else self._started(start)
        return None if report is None else self.pause.complete(report)

    def origin(self) -> Optional[Origin]:
        """None for an attempt that an older agent started."""
        if not self._is_origin_known:
            record = self.read(START)
            self._is_origin_known = record is not None
            self._origin = record.get("origin") if record else None
        return self._origin

    # The shim

    def follow(self, shim: IdleShim, start: Start) -> None:
        """Listen to a shim of this agent that has just received the job."""
        self.start = start
        self._origin, self._is_origin_known = start.origin, True
        self.shim_pid = shim.pid
        self._has_own_shim = True
        self.leaf = shim.leaf
        self.shim = shim
        self._channel = ShimChannel(self.host.loop, shim.channel, self, self.name)
        self._watch = shim.watch
        self._watch.on_end = self._own_shim_ended

    def follow_earlier(self, start: Record) -> None:
        """Watch a shim that an earlier agent forked and that is still alive."""
        self.leaf = Leaf(start["cgroup"]) if start["cgroup"] else None
        self.earlier_shim_pid = start["shim_pid"]
        self.pause.follow_shim(start)
        self._report(self._started(start))
        self._watch = ProcessWatch(
            self.host.loop, start["shim_pid"], start["shim_start_time"], self._earlier_shim_ended, self.name
        )
        self.escalation.resume()
        self.pause.resume()

    def await_decision(self) -> None:
        """Wait for the start record of a locked folder: it appears within moments, or the lock is released."""
        start = self.read(START) or self._rebuilt_if_begun()
        if start is not None:
            self.follow_earlier(start)
        elif self.folder.is_locked():
            self.host.loop.after(_UNDECIDED_S, self.await_decision, self.name)
        else:
            self.settle()

    def _rebuilt_if_begun(self) -> Optional[Record]:
        """The start record, from the processes, if it cannot be read although the command runs."""
        if time.monotonic() < self._search_at:
            return None
        self._search_at = time.monotonic() + _SEARCH_S
        processes = traces.search(self.host.context.instance).get(self.key)
        if processes and traces.has_begun(self.host.context, self.key, processes):
            self.found = traces.rebuild(self.host.context, self.key, processes)
            traces.store(self.host.context, self.folder, self.key, self.found)
        return self.found

    def shim_reported(self, report: ReportFrame) -> None:
        self._report(report)

    def shim_failing(self, record: FailedRecord) -> None:
        """Its report follows: find out meanwhile why it failed."""
        self._examination = Examination(self.host, record)

    def shim_is_idle(self) -> None:
        self.is_shim_idle = True
        self._release_when_possible()

    def shim_closed(self) -> None:
        self.is_shim_idle = False  # it is ending; its watch will say so

    def _own_shim_ended(self) -> None:
        if self.shim_pid is not None:
            os.waitpid(self.shim_pid, 0)
            self.shim_pid = None
        if self._channel is not None:
            self._channel.drain()
        self.settle()

    def _earlier_shim_ended(self) -> None:
        if self.folder.is_locked():
            # The process has ended but its lock is not released yet: the kernel is tearing it down.
            self.host.loop.after(_UNDECIDED_S, self._earlier_shim_ended, self.name)
        else:
            self.settle()

    # The end

    def settle(self) -> None:
        """Report what the records say: the shim is gone, so they are final."""
        self.is_shim_gone = True
        self.shim = None
        self.earlier_shim_pid = None
        if self.is_over:
            self._release_when_possible()
            return
        self.pause.load()
        start = self.read(START)
        self._final = cast("Optional[ReportFrame]", self.read(EXIT))
        if start is None:
            self._settle_without_start()
        elif start["boot_id"] != self.host.context.boot_id:
            self._report(of_earlier_boot(self._final) if self._final is not None else self._lost_by_reboot())
        else:
            self._settle_tree(start)

    def _settle_without_start(self) -> None:
        if self._final is not None:
            self._report(of_earlier_boot(self._final))  # or of this one, which cannot be known without a start record
            return
        processes = traces.search(self.host.context.instance).get(self.key)
        if processes is not None:
            self.found = traces.rebuild(self.host.context, self.key, processes)
            self._settle_tree(self.found)
        elif self.latest is not None or not self.folder.exists():
            self._report(self._lost("its run directory was removed, so its exit status is unknown", alive=False))
        else:
            self.host.never_started(self)

    def _settle_tree(self, start: Record) -> None:
        if self.latest is None:
            self.latest = self._started(start)
        members = self.escalation.containment().members()
        is_alive = bool(members)
        if self._final is None and (is_alive or self._is_tree_known()):
            log(f"{self.name}: its shim was killed, its processes are {'still there' if is_alive else 'gone'}")
            self._report(self._lost("its shim was killed, so its exit status is unknown", alive=is_alive))
            self.pause.resume()
            limit = start.get("limit")  # records of older agents have none
            self._late_limit = LateLimit(self, limit) if limit is not None else None
        elif is_alive:
            self._end_stragglers(members)
        self.check_tree()

    def limit_moved(self) -> None:
        """A pause began or ended."""
        if self._late_limit is not None:
            self._late_limit.check()

    def check_tree(self) -> None:
        """After the shim's end: watch the remaining processes one by one until none is left."""
        if not self.is_shim_gone or self.is_over:
            return
        members = self.escalation.containment().members()
        if self._watch is not None:
            self._watch.cancel()
        if members:
            pid = self._main_of(members)
            if pid is None:
                # The shim would have ended what the command left behind.
                self._end_stragglers(members)
                pid = min(members)
            self._watch = ProcessWatch(self.host.loop, pid, members[pid], self.check_tree, self.name)
        elif self._final is not None:
            self._report(self._final)
        elif self._is_tree_known() or self.escalation.is_requested:
            self._report(protocol.gone(*self.key, at=boot_clock.now(), started_s=self._started_s()))
        else:
            self._report(self._lost(_UNPROVED, alive=True))

    def _is_tree_known(self) -> bool:
        """True if no process can have escaped: by its cgroup, its tag, or because the agent inherits them.

        Otherwise the GPUs stay booked until a user asks to stop the job.
        """
        start = self.read(START)
        tag = start.get("tag") if start else None
        return self.leaf is not None or self._has_own_shim or tag not in (None, limit_tag.own_limit())

    def _end_stragglers(self, members: Dict[int, int]) -> None:
        leftovers = describe(members) if self.read(LEFT) is None else None
        if leftovers is not None:
            try:
                self.folder.write(LEFT, {"job": self.key.job, "attempt": self.key.attempt, **leftovers})
            except OSError as error:
                log(f"{self.name}: cannot record the processes it left behind: {error}")
        self.escalation.end_stragglers()

    def _main_of(self, members: Dict[int, int]) -> Optional[int]:
        """Return the pid of the command itself, if it is still alive."""
        start = self.read(START)
        return start["pid"] if start is not None and members.get(start["pid"]) == start["start_time"] else None

    def forget(self) -> None:
        """The controller has committed the final report."""
        self.is_forgotten = True
        self._release_when_possible()
        if not (self.is_shim_gone or self.is_shim_idle):
            # It is about to end, unless it waits for disk space to write a record that is no longer needed.
            self.host.loop.after(_SHIM_LINGERS_S, self._end_shim, self.name)

    def _release_when_possible(self) -> None:
        if self.is_forgotten and (self.is_shim_gone or self.is_shim_idle):
            if self._channel is not None:
                self._channel.release()
            self.host.release(self)

    def _end_shim(self) -> None:
        if self.is_shim_gone or self.is_shim_idle:
            return
        start = self.read(START)
        if self.shim_pid is not None:
            os.kill(self.shim_pid, signal.SIGKILL)
        elif start is not None:
            send_signal(start["shim_pid"], start["shim_start_time"], signal.SIGKILL)

    def read(self, name: str) -> Optional[Record]:
        """Return a record of this attempt. The folder may still hold one of the attempt that used it before."""
        record = self.folder.read(name)
        if key_of_record(record) == self.key:
            return record
        return self.found if name == START else None

    def _lost(self, message: str, *, alive: bool) -> LostFrame:
        return protocol.lost(*self.key, message=message, alive=alive, at=boot_clock.now(), started_s=self._started_s())

    def _lost_by_reboot(self) -> LostFrame:
        return {**self._lost("the machine was restarted while it ran", alive=False), "loss": "reboot"}

    def _started(self, start: Record) -> StartedFrame:
        return protocol.started(*self.key, pid=start["pid"], at=started_of(start), port=start["port"])

    def _started_s(self) -> Optional[float]:
        """When it started, on the boot clock of the present boot."""
        start = self.read(START)
        return start.get("started_s") if start and start["boot_id"] == self.host.context.boot_id else None

    def _report(self, report: ReportFrame) -> None:
        if self.is_over:
            return
        report = self.pause.complete(self.escalation.complete(report))
        if self.is_shim_gone:
            report = with_leftovers(report, self.read(LEFT))
        record = failed_record(report)
        if record is None:
            self._publish(report)
        elif not self.is_examined:
            self.is_examined = True
            examination = self._examination or Examination(self.host, record)
            examination.then(partial(self._publish_failed, record))

    def _publish_failed(self, record: FailedRecord, found: Optional[ExaminedFrame]) -> None:
        self._publish(conclude(record, found))

    def _publish(self, report: ReportFrame) -> None:
        self.latest = report
        self.start = None
        self.escalation.reported(report)
        self.host.report(self, report)


def started_of(start: Record) -> Moment:
    """The moment of the start, from the start record."""
    return Moment(start["started_at"], start.get("started_s"))
