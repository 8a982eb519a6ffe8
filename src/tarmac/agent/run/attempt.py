"""One attempt as the agent sees it: its shim, the newest report, and what becomes of it when the shim ends.

The shim's frames come through a pipe when this agent forked it; when an earlier agent did, the records speak once the
shim is gone. `lost` is said only when there is a start record, no exit record, and nobody who could still write one.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Dict, List, Optional, Protocol, Tuple, cast

from tarmac.agent.loop import Loop, log
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.watch import ProcessWatch
from tarmac.agent.run.escalation import Stop
from tarmac.agent.run.handoff import Start
from tarmac.agent.run.run_folder import EXIT, START, Record, RunFolder
from tarmac.agent.run.shim_pool import AgentContext, IdleShim
from tarmac.shared import protocol
from tarmac.shared.proc import Stat, send_signal
from tarmac.shared.protocol import Decoder

if TYPE_CHECKING:
    from tarmac.shared.frames import LostFrame, ReportFrame

Key = Tuple[int, int]
_UNDECIDED_S = 0.02
_SHIM_LINGERS_S = 1.0


class RunHost(Protocol):
    """What a run needs of the service."""

    loop: Loop
    place: AgentContext

    def report(self, run: Run, message: ReportFrame) -> None: ...

    def never_began(self, run: Run) -> None: ...

    def recycle(self, run: Run) -> None: ...

    def orphans(self, stats: Dict[int, Stat]) -> List[int]: ...


class Run:
    def __init__(self, desk: RunHost, key: Key, folder: RunFolder, port: Optional[int] = None) -> None:
        self.desk = desk
        self.key = key
        self.name = f"job {key[0]}.{key[1]}"
        self.folder = folder
        self.port = port
        self.leaf: Optional[Leaf] = None
        self.spare: Optional[IdleShim] = None  # the shim, when it is this agent's own
        self.is_shim_idle = False  # it has nothing to do with this attempt any more
        self.start: Optional[Start] = None  # as long as it may have to be started again
        self.report: Optional[ReportFrame] = None
        self.is_shim_gone = False
        self.is_forgotten = False
        self.shim_pid: Optional[int] = None  # of a shim that is this agent's own child
        self.stop = Stop(self)
        self._final: Optional[ReportFrame] = None  # known, but the tree is not gone yet
        self._channel: Optional[socket.socket] = None
        self._decoder = Decoder()
        self._watch: Optional[ProcessWatch] = None

    @property
    def is_over(self) -> bool:
        return self.report is not None and protocol.is_final(self.report)

    def present_report(self) -> Optional[ReportFrame]:
        """None while nobody can say whether it begins at all, which takes moments only."""
        start = self.read(START) if self.report is None else None
        return self.report if start is None else protocol.started(*self.key, pid=start["pid"], at=start["started_at"])

    # The shim

    def follow(self, spare: IdleShim, start: Start) -> None:
        """A shim of this agent that was given the job just now."""
        self.start = start
        self.shim_pid = spare.pid
        self.leaf = spare.leaf
        self.spare = spare
        self._channel = spare.channel
        self.desk.loop.watch(spare.channel.fileno(), self._read_reports, self.name)
        self._watch = spare.watch
        self._watch.ended = self._own_shim_ended

    def adopt(self, start: Record) -> None:
        """A shim that an earlier agent forked and that is still there."""
        self.leaf = Leaf(start["cgroup"]) if start["cgroup"] else None
        self._tell(protocol.started(*self.key, pid=start["pid"], at=start["started_at"]))
        self._watch = ProcessWatch(
            self.desk.loop, start["shim_pid"], start["shim_start_time"], self._adopted_shim_ended, self.name
        )
        self.stop.resume()

    def await_decision(self) -> None:
        """The lock is held and there is no start record yet: within moments there is one, or the lock is free."""
        start = self.read(START)
        if start is not None:
            self.adopt(start)
        elif self.folder.is_locked():
            self.desk.loop.after(_UNDECIDED_S, self.await_decision, self.name)
        else:
            self.settle()

    def _read_reports(self) -> None:
        channel = self._channel
        if channel is None:
            return
        try:
            data = channel.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""  # it was killed before it had read its job
        for message in self._decoder.feed(data):
            if message["type"] == "idle":
                self.is_shim_idle = True
                self._recycle_when_possible()
            else:
                self._tell(cast("ReportFrame", message))
        if not data:
            self._release_channel()
            channel.close()
            self.is_shim_idle = False  # it is ending, which its watch tells

    def _release_channel(self) -> None:
        if self._channel is not None:
            self.desk.loop.unwatch(self._channel.fileno())
            self._channel = None

    def _own_shim_ended(self) -> None:
        assert self.shim_pid is not None
        os.waitpid(self.shim_pid, 0)
        self.shim_pid = None
        while self._channel is not None:
            self._read_reports()
        self.settle()

    def _adopted_shim_ended(self) -> None:
        if self.folder.is_locked():
            # The process is gone, its lock not yet: it is being torn down.
            self.desk.loop.after(_UNDECIDED_S, self._adopted_shim_ended, self.name)
        else:
            self.settle()

    # The end

    def settle(self) -> None:
        """The shim is gone: what the records say is all that will ever be said."""
        self.is_shim_gone = True
        self.spare = None
        if self.is_over:
            self._recycle_when_possible()
            return
        start = self.read(START)
        self._final = cast("Optional[ReportFrame]", self.read(EXIT))
        if start is None:
            self._settle_without_start()
        elif start["boot_id"] != self.desk.place.boot_id:
            self._tell(self._final or self._lost("the machine was restarted while it ran", alive=False))
        else:
            self._settle_tree(start)

    def _settle_without_start(self) -> None:
        if self._final is not None:
            self._tell(self._final)
        else:
            self.desk.never_began(self)

    def _settle_tree(self, start: Record) -> None:
        if self.report is None:
            self.report = protocol.started(*self.key, pid=start["pid"], at=start["started_at"])
        is_alive = bool(self.stop.containment().members())
        if self._final is None:
            log(f"{self.name}: its shim was killed, processes of it are {'still there' if is_alive else 'gone'}")
            self._tell(self._lost("its shim was killed, so how it ended cannot be known", alive=is_alive))
            self._keep_limit(start)
        elif is_alive:
            self.stop.end_stragglers()
        self.look_at_tree()

    def _keep_limit(self, start: Record) -> None:
        """What the shim would have done. Records of older agents know of no limit."""
        limit = start.get("limit")
        if limit is not None:
            left = max(0.0, limit["until"] - time.monotonic())
            self.desk.loop.after(left, lambda: self._limit_reached(limit), self.name)

    def _limit_reached(self, limit: Record) -> None:
        if not self.stop.is_asked:
            self.stop.ask(limit["signal"], limit["grace_s"])

    def look_at_tree(self) -> None:
        """After the shim: until nothing is left, the next look comes when one of those left has ended."""
        if not self.is_shim_gone or self.is_over:
            return
        members = self.stop.containment().members()
        if self._watch is not None:
            self._watch.cancel()
        if members:
            pid = self._main_of(members)
            if pid is None:
                # The shim would have ended what the command leaves behind.
                self.stop.end_stragglers()
                pid = min(members)
            self._watch = ProcessWatch(self.desk.loop, pid, members[pid], self.look_at_tree, self.name)
        elif self._final is not None:
            self._tell(self._final)
        else:
            self._tell(protocol.gone(*self.key, at=time.time()))

    def _main_of(self, members: Dict[int, int]) -> Optional[int]:
        """The command itself, if it is still there."""
        start = self.read(START)
        return start["pid"] if start is not None and members.get(start["pid"]) == start["start_time"] else None

    def forget(self) -> None:
        """The final report is committed at the other end."""
        self.is_forgotten = True
        self._recycle_when_possible()
        if not (self.is_shim_gone or self.is_shim_idle):
            # It has nothing left to do but to end, unless it waits for space to write a record nobody needs any more.
            self.desk.loop.after(_SHIM_LINGERS_S, self._end_shim, self.name)

    def _recycle_when_possible(self) -> None:
        if self.is_forgotten and (self.is_shim_gone or self.is_shim_idle):
            self._release_channel()
            self.desk.recycle(self)

    def _end_shim(self) -> None:
        if self.is_shim_gone or self.is_shim_idle:
            return
        start = self.read(START)
        if self.shim_pid is not None:
            os.kill(self.shim_pid, signal.SIGKILL)
        elif start is not None:
            send_signal(start["shim_pid"], start["shim_start_time"], signal.SIGKILL)

    def read(self, name: str) -> Optional[Record]:
        """A record of this attempt: the folder may hold one of the attempt that had it before."""
        record = self.folder.read(name)
        return record if record and (record["job"], record["attempt"]) == self.key else None

    def _lost(self, message: str, *, alive: bool) -> LostFrame:
        return protocol.lost(*self.key, message=message, alive=alive, at=time.time())

    def _tell(self, report: ReportFrame) -> None:
        if self.is_over:
            return
        self.report = report
        self.start = None
        self.stop.reported(report)
        self.desk.report(self, report)
