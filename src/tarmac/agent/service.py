"""What the agent does for the controller: one method per frame."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, Dict, List, Optional

from tarmac import __version__
from tarmac.agent import facts, logs
from tarmac.agent.connection import Connection, is_allowed
from tarmac.agent.gpus.monitor import GpuMonitor
from tarmac.agent.loop import Loop, log, log_exception
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.run import start_request
from tarmac.agent.run.adopt import adopt
from tarmac.agent.run.attempt import Key, Run
from tarmac.agent.run.handoff import Start, hand_over
from tarmac.agent.run.ports import Ports
from tarmac.agent.run.recover import recover
from tarmac.agent.run.shim_pool import AgentContext, Spares
from tarmac.agent.shutdown import Ending
from tarmac.shared import crashpoint, protocol
from tarmac.shared.proc import Stat

if TYPE_CHECKING:
    from tarmac.shared.frames import (
        AdoptFrame,
        AgentFrame,
        AttemptFrame,
        ControllerFrame,
        FactsQuestionFrame,
        ForgetFrame,
        QuestionFrame,
        ReportFrame,
        ShutdownFrame,
        SignalFrame,
        StartFrame,
    )

_LAUNCH_TRIES = 3
_UNDECIDED_S = 0.005
_DECIDED_WITHIN_S = 5.0  # a shim that somebody froze must not keep all others waiting


class UnknownFrame(Exception):
    """A newer controller may send frames this agent does not know."""


class Service:
    def __init__(self, loop: Loop, place: AgentContext, containment_reason: Optional[str]) -> None:
        self.loop = loop
        self.place = place
        self._containment_reason = containment_reason
        self._listener: Optional[socket.socket] = None
        self._connection: Optional[Connection] = None
        self._ports = Ports()
        self._spares = Spares(loop, place)
        self._launches = 0
        self._tries: Dict[Key, int] = {}
        self._gpus = GpuMonitor(
            loop,
            self.send,
            lambda: Attribution(place.instance, self._runs.values()),
            os.path.join(place.folders.path, "cards.json"),
        )
        self._logs = logs.LogWatch(loop, self.send)
        self._runs: Dict[Key, Run] = {}
        self.ending = Ending(loop, lambda: sum(run.stop.is_pending for run in self._runs.values()))
        self._runs.update(recover(self))
        for run in self._runs.values():
            if run.port is not None and not run.is_over:
                self._ports.keep(run.port)

    def open(self, listener: socket.socket) -> None:
        self._listener = listener
        self.loop.watch(listener.fileno(), self._accept, "listener")
        self._gpus.begin()
        self._spares.refill()

    # The connection

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return
        if not is_allowed(sock):
            log("a connection of another user was refused")
            sock.close()
            return
        sock.setblocking(False)
        Connection(self.loop, sock, self._handle, self._connection_closed)  # kept by the loop

    def _connection_closed(self, connection: Connection) -> None:
        if connection is self._connection:
            self._connection = None
            self._logs.clear()

    def _take(self, connection: Connection) -> None:
        """It said hello, so it is the controller, and a newer one than any before."""
        if self._connection is not None and self._connection is not connection:
            self._connection.close()
        self._connection = connection
        self.ending.take_back()

    def send(self, frame: AgentFrame) -> None:
        if self._connection is not None:
            self._connection.send(frame)

    def _handle(self, connection: Connection, frame: ControllerFrame, data: bytes) -> None:
        if frame["type"] == "hello":
            self._take(connection)
        elif connection is not self._connection:
            log("closed a connection that did not begin with hello")
            connection.close()
            return
        try:
            self._dispatch(connection, frame, data)
        except UnknownFrame as error:
            log(f"ignored a frame of unknown type {str(error)[:100]!r}")
        except Exception:  # noqa: BLE001  one job's trouble must not become another's
            log_exception(f"{frame['type']} of job {frame.get('job')}")

    def _dispatch(self, connection: Connection, frame: ControllerFrame, data: bytes) -> None:
        if frame["type"] == "start":
            self._start(frame, data)
        elif frame["type"] == "forget":
            self._forget(frame)
        elif frame["type"] == "signal":
            self._signal(frame)
        elif frame["type"] == "adopt":
            self._adopt(frame)
        elif frame["type"] == "hello":
            self._hello()
        else:
            self._answer(connection, frame)

    def _answer(self, connection: Connection, frame: QuestionFrame) -> None:
        if frame["type"] == "read_log":
            self.send(logs.read_log(frame))
        elif frame["type"] == "tail_log":
            logs.TailSearch(self.loop, frame, connection.send)  # the answer must not go to a later connection
        elif frame["type"] == "watch_log":
            self._logs.add(frame)
        elif frame["type"] == "unwatch_log":
            self._logs.remove(frame.get("ref"))
        elif frame["type"] == "forget_gpus":
            self._gpus.forget(frame["uuids"])  # the frame without them goes first
            self.send({"type": "gpus_forgotten", "ref": frame.get("ref")})
        elif frame["type"] == "try_gpus":
            tried = self._gpus.try_now([str(uuid) for uuid in frame["uuids"]])
            self.send({"type": "gpus_tried", "ref": frame.get("ref"), "uuids": tried})
        elif frame["type"] == "shutdown":
            self._shut_down(frame)
        else:
            self._state_facts(frame)

    def _state_facts(self, frame: FactsQuestionFrame) -> None:
        if frame["type"] == "check_paths":
            self.send(facts.check_paths(frame))
        elif frame["type"] == "describe_processes":
            self.send(facts.describe_processes(frame, self.place.boot_id))
        elif frame["type"] == "ping":
            self.send({"type": "pong", "ref": frame.get("ref")})
        else:
            raise UnknownFrame(frame["type"])

    # Frames

    def _hello(self) -> None:
        """Answered once every run is known to have begun or not: one missing in the answer counts as never begun."""
        self._answer_hello(self._connection, time.monotonic() + _DECIDED_WITHIN_S)

    def _answer_hello(self, connection: Optional[Connection], deadline: float) -> None:
        if connection is not self._connection:
            return
        runs = [run.present_report() for run in self._runs.values() if not run.is_forgotten]
        if None in runs and time.monotonic() < deadline:
            self.loop.after(_UNDECIDED_S, lambda: self._answer_hello(connection, deadline), "hello")
            return
        self.send(
            {
                "type": "hello",
                "protocol": protocol.PROTOCOL,
                "version": __version__,
                "node": socket.gethostname(),
                "boot_id": self.place.boot_id,
                "pid": os.getpid(),
                "cpus": len(os.sched_getaffinity(0)),
                "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
                "containment": "cgroup" if self.place.cgroup_base else "scan",
                "containment_reason": self._containment_reason,
                "runs": [report for report in runs if report is not None],
            }
        )
        if self._gpus.latest is not None:
            self.send(self._gpus.latest)

    def _start(self, message: StartFrame, frame: bytes) -> None:
        key = _key(message)
        run = self._runs.get(key)
        if run is not None and run.report is not None:
            self.send(run.report)
            return
        try:
            start = Start(frame, start_request.read(message).limit)
        except ValueError as error:
            self._refuse(key, str(error))
            return
        if run is not None:
            run.start = start  # not known yet whether it began: should it turn out that it did not, it does then
        else:
            self._launch(key, start)

    def _launch(self, key: Key, start: Start) -> None:
        port = 0
        try:
            port = self._ports.take()
            # Where one was killed, those that waited beside it may have been, too.
            spare = self._spares.take(is_fresh=key in self._tries)
        except OSError as error:
            self._ports.give_back(port)
            self._refuse(key, f"cannot be started: {error.strerror or error}")
            return
        try:
            self._launches += 1
            hand_over(self.place, spare, key, start, port=port, nth=self._launches)
        except BrokenPipeError:
            pass  # the shim was killed this moment, which its watch is about to tell
        except OSError as error:
            self._ports.give_back(port)
            self._spares.discard(spare)
            self._refuse(key, f"cannot be started: {error.strerror or error}")
            return
        run = self._runs[key] = Run(self, key, spare.folder, port)
        run.follow(spare, start)

    def _adopt(self, message: AdoptFrame) -> None:
        key = _key(message)
        run = self._runs.get(key)
        if run is not None and run.report is not None:
            self.send(run.report)
            return
        try:
            self._runs[key] = adopt(self, key, message, self._runs.values())
        except ValueError as error:
            self._refuse(key, str(error))
        else:
            self._gpus.refresh()  # whose process it is has changed

    def _refuse(self, key: Key, message: str) -> None:
        log(f"job {key[0]}.{key[1]}: {message}")
        self.send(protocol.launch_failed(*key, message=message, at=time.time()))

    def _signal(self, message: SignalFrame) -> None:
        run = self._runs.get(_key(message))
        if run is not None:
            run.stop.ask(start_request.read_signal(message["signal"]), float(message["grace_s"]))

    def _forget(self, message: ForgetFrame) -> None:
        run = self._runs.get(_key(message))
        if run is not None and run.is_over and not run.is_forgotten:
            crashpoint.reach("agent:before-forget")
            run.forget()
            crashpoint.reach("agent:after-forget")

    def _shut_down(self, message: ShutdownFrame) -> None:
        if message.get("is_replaced"):
            self.loop.stop()  # the next agent finds in the run folders what this one was asked
            return
        stops = self.ending.begin()
        self.send({"type": "ending", "ref": message.get("ref"), "stops": stops})
        if stops and self._connection is not None:
            self._connection.close()  # whoever said so need not wait for it

    # What runs say

    def report(self, run: Run, message: ReportFrame) -> None:
        if protocol.is_final(message) and run.port is not None:
            self._ports.give_back(run.port)
            self._tries.pop(run.key, None)
        crashpoint.reach("agent:before-report")
        self.send(message)
        crashpoint.reach("agent:after-report")

    def never_began(self, run: Run) -> None:
        """Its shim died before the start was on record, so the command was not released: trying again is safe."""
        self._runs.pop(run.key, None)
        if run.leaf is not None:
            run.leaf.remove()
        run.folder.remove()
        if run.port is not None:
            self._ports.give_back(run.port)
        if run.start is None:
            return
        if run.stop.is_asked:
            self._refuse(run.key, "it was stopped before it began")
            return
        tries = self._tries[run.key] = self._tries.get(run.key, 0) + 1
        if tries < _LAUNCH_TRIES:
            self._launch(run.key, run.start)
        else:
            del self._tries[run.key]
            self._refuse(run.key, f"cannot be started: its shim was killed {tries} times before it could")

    def recycle(self, run: Run) -> None:
        """Forgotten, and its shim has nothing to do with it any more."""
        self._runs.pop(run.key, None)
        if run.spare is not None:
            self._spares.give_back(run.spare)
            return
        run.folder.remove()
        if run.leaf is not None:
            run.leaf.remove()

    def orphans(self, stats: Dict[int, Stat]) -> List[int]:
        """Children of the agent that it did not fork: left behind by a shim that was killed. Dead ones are reaped."""
        own = {run.shim_pid for run in self._runs.values()} | self._gpus.pids | set(self._spares.pids)
        found = [stat for stat in stats.values() if stat.parent == os.getpid() and stat.pid not in own]
        for stat in found:
            if not stat.is_alive:
                os.waitpid(stat.pid, os.WNOHANG)
        return [stat.pid for stat in found if stat.is_alive]


def _key(message: AttemptFrame) -> Key:
    return int(message["job"]), int(message["attempt"])
