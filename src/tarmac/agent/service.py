"""Serves the controller: one method per frame."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Set

from tarmac.agent import facts
from tarmac.agent.connection import Connection, UnknownFrame
from tarmac.agent.environments.fingerprints import Fingerprints
from tarmac.agent.files.service import FileService
from tarmac.agent.gpus.monitor import GpuMonitor
from tarmac.agent.hello import HelloAnswer, Node
from tarmac.agent.listener import Listener
from tarmac.agent.loop import Loop, log, log_exception
from tarmac.agent.procs import job_memory
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.records.attempt_key import AttemptKey, key_of_frame
from tarmac.agent.records.past_attempts import PastAttempts
from tarmac.agent.run import start_request
from tarmac.agent.run.adopt import adopt
from tarmac.agent.run.attempt import Attempt
from tarmac.agent.run.handoff import Start, hand_over
from tarmac.agent.run.ports import Ports
from tarmac.agent.run.recover import recover
from tarmac.agent.run.retries import StartRetries
from tarmac.agent.run.shim_pool import AgentContext, ShimPool
from tarmac.agent.shutdown import Shutdown
from tarmac.shared import crashpoint, protocol
from tarmac.shared.system import boot_clock
from tarmac.shared.system.proc import Stat
from tarmac.shared.system.shortage import is_shortage

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, FailedRecord
    from tarmac.shared.frames.reports import ReportFrame
    from tarmac.shared.frames.to_agent import (
        AdoptFrame,
        ControllerFrame,
        FactsQuestionFrame,
        ForgetFrame,
        PauseFrame,
        QuestionFrame,
        ShutdownFrame,
        SignalFrame,
        StartFrame,
    )
    from tarmac.shared.frames.to_controller import AgentFrame

_LAUNCH_TRIES = 3
_AFTER_SHORTAGE_S = 1.0


class Service:
    def __init__(self, loop: Loop, context: AgentContext, containment_reason: Optional[str]) -> None:
        self.loop = loop
        self.context = context
        self._containment_reason = containment_reason
        self._listener: Optional[Listener] = None
        self._connection: Optional[Connection] = None
        self._ports = Ports()
        self._past = PastAttempts(context.folders.path)
        self._shims = ShimPool(loop, context)
        self._retries = StartRetries(loop, self._launch, self._refuse)
        self._launches = 0
        self._tries: Dict[AttemptKey, int] = {}
        self._gpus = GpuMonitor(
            loop,
            self.send,
            lambda: Attribution(context.instance, self._attempts.values()),
            os.path.join(context.folders.path, "cards.json"),
        )
        self._files = FileService(loop, os.path.dirname(context.folders.path), self.send)
        self._fingerprints = Fingerprints(loop, self._files, self.send)
        self._attempts: Dict[AttemptKey, Attempt] = {}
        self.shutdown = Shutdown(
            loop, lambda: sum(attempt.escalation.is_pending for attempt in self._attempts.values())
        )
        self._attempts.update(recover(self))
        for attempt in self._attempts.values():
            if attempt.port is not None and not attempt.is_over:
                self._ports.reserve(attempt.port)

    def open(self, listener: socket.socket) -> None:
        self._listener = Listener(self.loop, listener, self._handle, self._connection_closed)
        self._gpus.begin()
        self._shims.refill()
        self._files.open()

    # The connection

    def _connection_closed(self, connection: Connection) -> None:
        if connection is self._connection:
            self._connection = None
            self._files.forget_watches()

    def _take(self, connection: Connection) -> None:
        """Make this the connection of the controller: a hello makes it newer than any other."""
        if self._connection is not None and self._connection is not connection:
            self._connection.close()
        if self._listener is not None:
            self._listener.said_hello(connection)
        self._connection = connection
        self._retries.drop_all()  # the controller decides anew about what has left no trace
        self.shutdown.cancel()

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
        except OSError as error:
            self._handle_later(error, connection, frame, data)
        except Exception:  # noqa: BLE001  one job's trouble must not become another's
            log_exception(f"{frame['type']} of job {frame.get('job')}")

    def _handle_later(self, error: OSError, connection: Connection, frame: ControllerFrame, data: bytes) -> None:
        """A command must not be lost because no descriptor was left."""
        name = f"{frame['type']} of job {frame.get('job')}"
        if not is_shortage(error):
            log_exception(name)
            return
        log(f"{name}: {error.strerror}, trying again")

        def handle() -> None:
            if connection is self._connection:
                self._handle(connection, frame, data)

        self.loop.after(_AFTER_SHORTAGE_S, handle, name)

    def _dispatch(self, connection: Connection, frame: ControllerFrame, data: bytes) -> None:
        if frame["type"] == "start":
            self._start(frame, data)
        elif frame["type"] == "forget":
            self._forget(frame)
        elif frame["type"] == "signal":
            self._signal(frame)
        elif frame["type"] == "pause":
            self._pause(frame)
        elif frame["type"] == "adopt":
            self._adopt(frame)
        elif frame["type"] == "hello":
            self._hello(connection)
        else:
            self._answer(connection, frame)

    def _answer(self, connection: Connection, frame: QuestionFrame) -> None:
        if frame["type"] == "forget_gpus":
            self._gpus.forget(frame["uuids"])  # the frame without them goes first
            self.send({"type": "gpus_forgotten", "ref": frame.get("ref")})
        elif frame["type"] == "try_gpus":
            tried = self._gpus.try_now([str(uuid) for uuid in frame["uuids"]])
            self.send({"type": "gpus_tried", "ref": frame.get("ref"), "uuids": tried})
        elif frame["type"] == "shutdown":
            self._shut_down(frame)
        else:
            self._state_facts(connection, frame)

    def _state_facts(self, connection: Connection, frame: FactsQuestionFrame) -> None:
        if frame["type"] == "describe_processes":
            self.send(facts.describe_processes(frame, self.context.boot_id))
        elif frame["type"] == "ping":
            self.send({"type": "pong", "ref": frame.get("ref")})
        elif frame["type"] == "job_memory":
            self.send(job_memory.answer(frame, self._attempts.values()))
        else:
            self._files.answer(connection, frame)

    # Frames

    def _hello(self, connection: Connection) -> None:
        node = Node(self.context, self._containment_reason, self._attempts, self._gpus)
        HelloAnswer(self.loop, node, self.send).send_when_decided(lambda: connection is self._connection)

    def _start(self, frame: StartFrame, data: bytes) -> None:
        key = key_of_frame(frame)
        attempt = self._attempts.get(key)
        if attempt is not None and start_request.is_of_another_job(frame, attempt.origin()):
            self._refuse(key, f"cannot be started: this node has an attempt {key} of another job")
            return
        if attempt is not None and attempt.latest is not None:
            self.send(attempt.latest)
            return
        try:
            start = Start(data, start_request.read(frame).limit, frame.get("origin"))
        except ValueError as error:
            self._refuse(key, str(error))
            return
        if self._retries.has(key):
            return
        if attempt is None and self._past.has(key, start.origin):
            log(f"job {key}: it already ran, and its records are gone")
            message = "this attempt already ran; how it ended is no longer on record"
            self.send(protocol.lost(*key, message=message, alive=False, at=boot_clock.now()))
        elif attempt is not None:
            attempt.start = start  # undecided whether it started: if it turns out that it did not, start it then
        else:
            self._launch(key, start)
            self._fingerprints.add(key, frame)

    def _launch(self, key: AttemptKey, start: Start, *, is_fresh: bool = False) -> None:
        port = 0
        try:
            port = self._ports.take()
            # If a shim was killed, the other idle ones may have been, too.
            shim = self._shims.take(is_fresh=is_fresh or key in self._tries)
        except OSError as error:
            self._ports.release(port)
            self._retries.failed(key, start, error)
            return
        try:
            self._launches += 1
            hand_over(self.context, shim, key, start, port=port, nth=self._launches)
        except BrokenPipeError:
            pass  # the shim has just been killed, which its watch will notice
        except OSError as error:
            self._ports.release(port)
            self._shims.discard(shim)
            if isinstance(error, FileNotFoundError) and not is_fresh:
                self._launch(key, start, is_fresh=True)  # a user removed the folder of the idle shim
            else:
                self._retries.failed(key, start, error)
            return
        self._retries.drop(key)
        attempt = self._attempts[key] = Attempt(self, key, shim.folder, port)
        attempt.follow(shim, start)

    def _adopt(self, frame: AdoptFrame) -> None:
        key = key_of_frame(frame)
        attempt = self._attempts.get(key)
        if attempt is not None and start_request.is_of_another_job(frame, attempt.origin()):
            self._refuse(key, f"cannot be adopted: this node has an attempt {key} of another job")
            return
        if attempt is not None and attempt.latest is not None:
            self.send(attempt.latest)
            return
        try:
            self._attempts[key] = adopt(self, key, frame, self._attempts.values())
        except ValueError as error:
            self._refuse(key, str(error))
        else:
            self._gpus.refresh()  # the process belongs to another job now

    def _refuse(self, key: AttemptKey, message: str) -> None:
        log(f"job {key}: {message}")
        self.send(protocol.launch_failed(*key, message=message, at=boot_clock.now()))

    def _signal(self, frame: SignalFrame) -> None:
        key = key_of_frame(frame)
        attempt = self._attempts.get(key)
        self._retries.stop(key)
        if attempt is not None:
            warning = start_request.read_warning(frame.get("warn"))
            attempt.escalation.request(start_request.read_signal(frame["signal"]), float(frame["grace_s"]), warning)

    def _pause(self, frame: PauseFrame) -> None:
        attempt = self._attempts.get(key_of_frame(frame))
        if attempt is not None:
            attempt.pause.set(is_paused=frame["is_paused"], is_counted=frame["is_counted"])

    def _forget(self, frame: ForgetFrame) -> None:
        attempt = self._attempts.get(key_of_frame(frame))
        if attempt is not None and attempt.is_over and not attempt.is_forgotten:
            crashpoint.reach("agent:before-forget")
            self._past.add(attempt.key, attempt.origin())
            attempt.forget()
            crashpoint.reach("agent:after-forget")

    def _shut_down(self, frame: ShutdownFrame) -> None:
        if frame.get("is_replaced"):
            self.loop.stop()  # the next agent finds the requested stops in the run directories
            return
        stops = self.shutdown.begin()
        self.send({"type": "ending", "ref": frame.get("ref"), "stops": stops})
        if stops and self._connection is not None:
            self._connection.close()  # the controller need not wait

    # Attempts

    def report(self, attempt: Attempt, report: ReportFrame) -> None:
        if protocol.is_final(report) and attempt.port is not None:
            self._ports.release(attempt.port)
            self._tries.pop(attempt.key, None)
        crashpoint.reach("agent:before-report")
        self.send(report)
        crashpoint.reach("agent:after-report")

    def examine(self, record: FailedRecord, done: Callable[[Optional[ExaminedFrame]], None]) -> None:
        self._files.examine(record, done)

    def never_started(self, attempt: Attempt) -> None:
        """Retry: the shim died before the start was on record, so the command was not released."""
        self._attempts.pop(attempt.key, None)
        if attempt.leaf is not None:
            attempt.leaf.remove()
        attempt.folder.remove()
        if attempt.port is not None:
            self._ports.release(attempt.port)
        if attempt.start is None:
            return
        if attempt.escalation.is_requested:
            self._refuse(attempt.key, "stopped before it started")
            return
        tries = self._tries[attempt.key] = self._tries.get(attempt.key, 0) + 1
        if tries < _LAUNCH_TRIES:
            self._launch(attempt.key, attempt.start)
        else:
            del self._tries[attempt.key]
            self._refuse(
                attempt.key, f"cannot be started: its shim was killed {tries} times before the command started"
            )

    def release(self, attempt: Attempt) -> None:
        """Free what a forgotten attempt occupies, once its shim is done with it."""
        self._attempts.pop(attempt.key, None)
        if attempt.shim is not None:
            self._shims.give_back(attempt.shim)
            return
        attempt.folder.remove()
        if attempt.leaf is not None:
            attempt.leaf.remove()

    def guards(self, attempt: Attempt) -> Set[int]:
        """Return the agent's own processes and the shims of other attempts: no job's process is among them."""
        others = [other for other in self._attempts.values() if other is not attempt]
        shims = {other.shim_pid for other in others} | {other.earlier_shim_pid for other in others}
        return {pid for pid in shims if pid is not None} | self._gpus.pids | set(self._shims.pids)

    def orphans(self, stats: Dict[int, Stat]) -> List[int]:
        """Return children that the agent did not fork: a killed shim left them behind. Reap the dead ones."""
        own = {attempt.shim_pid for attempt in self._attempts.values()} | set(self._shims.pids)
        own |= self._gpus.pids | self._files.pids
        found = [stat for stat in stats.values() if stat.parent == os.getpid() and stat.pid not in own]
        for stat in found:
            if not stat.is_alive:
                os.waitpid(stat.pid, os.WNOHANG)
        return [stat.pid for stat in found if stat.is_alive]
