"""What the agent does for the controller: one method per frame."""

from __future__ import annotations

import os
import socket
import time
from typing import Callable, Dict, List, Optional

from tarmac import __version__
from tarmac.agent import logs
from tarmac.agent.connection import Peer, is_allowed
from tarmac.agent.gpus.monitor import GpuWatch
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
from tarmac.shared.protocol import Message

_LAUNCH_TRIES = 3
_UNDECIDED_S = 0.005
_DECIDED_WITHIN_S = 5.0  # a shim that somebody froze must not keep all others waiting


class Service:
    def __init__(self, loop: Loop, place: AgentContext, containment_reason: Optional[str]) -> None:
        self.loop = loop
        self.place = place
        self._containment_reason = containment_reason
        self._listener: Optional[socket.socket] = None
        self._peer: Optional[Peer] = None
        self._ports = Ports()
        self._spares = Spares(loop, place)
        self._launches = 0
        self._tries: Dict[Key, int] = {}
        self._gpus = GpuWatch(
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
        self._handlers: Dict[str, Callable[[Message], object]] = {
            "hello": self._hello,
            "signal": self._signal,
            "forget": self._forget,
            "adopt": self._adopt,
            "read_log": lambda message: logs.read_log(message, self.send),
            "watch_log": self._logs.add,
            "unwatch_log": lambda message: self._logs.remove(message.get("ref")),
            "forget_gpus": self._forget_gpus,
            "try_gpus": self._try_gpus,
            "ping": lambda message: self.send({"type": "pong", "ref": message.get("ref")}),
            "shutdown": self._shut_down,
        }

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
        Peer(self.loop, sock, self._handle, self._peer_closed)  # kept by the loop

    def _peer_closed(self, peer: Peer) -> None:
        if peer is self._peer:
            self._peer = None
            self._logs.clear()

    def _take(self, peer: Peer) -> None:
        """It said hello, so it is the controller, and a newer one than any before."""
        if self._peer is not None and self._peer is not peer:
            self._peer.close()
        self._peer = peer
        self.ending.take_back()

    def send(self, message: Message) -> None:
        if self._peer is not None:
            self._peer.send(message)

    def _handle(self, peer: Peer, message: Message, frame: bytes) -> None:
        if message["type"] == "hello":
            self._take(peer)
        elif peer is not self._peer:
            log("a connection that did not say hello first was closed")
            peer.close()
            return
        try:
            if message["type"] == "start":
                self._start(message, frame)
            elif message["type"] == "tail_log":
                logs.TailSearch(self.loop, message, peer.send)  # whoever comes next must not get the answer
            elif message["type"] in self._handlers:
                self._handlers[message["type"]](message)
            else:
                log(f"a frame of unknown type {message['type'][:100]!r} was ignored")
        except Exception:  # noqa: BLE001  one job's trouble must not become another's
            log_exception(f"{message['type']} of job {message.get('job')}")

    # Frames

    def _hello(self, _: Message) -> None:
        """Answered once every run is known to have begun or not: one missing in the answer counts as never begun."""
        self._answer_hello(self._peer, time.monotonic() + _DECIDED_WITHIN_S)

    def _answer_hello(self, peer: Optional[Peer], deadline: float) -> None:
        if peer is not self._peer:
            return
        runs = [run.present_report() for run in self._runs.values() if not run.is_forgotten]
        if None in runs and time.monotonic() < deadline:
            self.loop.after(_UNDECIDED_S, lambda: self._answer_hello(peer, deadline), "hello")
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

    def _start(self, message: Message, frame: bytes) -> None:
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

    def _adopt(self, message: Message) -> None:
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

    def _signal(self, message: Message) -> None:
        run = self._runs.get(_key(message))
        if run is not None:
            run.stop.ask(start_request.read_signal(message["signal"]), float(message["grace_s"]))

    def _forget(self, message: Message) -> None:
        run = self._runs.get(_key(message))
        if run is not None and run.is_over and not run.is_forgotten:
            crashpoint.reach("agent:before-forget")
            run.forget()
            crashpoint.reach("agent:after-forget")

    def _forget_gpus(self, message: Message) -> None:
        self._gpus.forget(message["uuids"])  # the frame without them goes first
        self.send({"type": "gpus_forgotten", "ref": message.get("ref")})

    def _try_gpus(self, message: Message) -> None:
        tried = self._gpus.try_now([str(uuid) for uuid in message["uuids"]])
        self.send({"type": "gpus_tried", "ref": message.get("ref"), "uuids": tried})

    def _shut_down(self, message: Message) -> None:
        if message.get("is_replaced"):
            self.loop.stop()  # the next agent finds in the run folders what this one was asked
            return
        stops = self.ending.begin()
        self.send({"type": "ending", "ref": message.get("ref"), "stops": stops})
        if stops and self._peer is not None:
            self._peer.close()  # whoever said so need not wait for it

    # What runs say

    def report(self, run: Run, message: Message) -> None:
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


def _key(message: Message) -> Key:
    return int(message["job"]), int(message["attempt"])
