"""What the agent does for the controller: one method per frame."""

from __future__ import annotations

import os
import socket
import time
import traceback
from typing import Dict, Optional, Tuple

from tarmac.agent import launch, protocol, spec
from tarmac.agent.launch import Place
from tarmac.agent.loop import Loop, log
from tarmac.agent.peer import Peer, is_allowed
from tarmac.agent.protocol import Message
from tarmac.agent.run import Key, Run

VERSION = "0.1.0"


class Service:
    def __init__(self, loop: Loop, place: Place, containment_reason: Optional[str], listener: socket.socket) -> None:
        self._loop = loop
        self._place = place
        self._containment_reason = containment_reason
        self._listener = listener
        self._peer: Optional[Peer] = None
        self._runs: Dict[Key, Run] = {}
        self._launches = 0
        self._handlers = {
            "hello": self._hello,
            "start": self._start,
            "forget": self._forget,
            "ping": self._ping,
            "shutdown": self._shutdown,
        }
        loop.watch(listener.fileno(), self._accept, "listener")

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return
        if not is_allowed(sock):
            log("a connection of another user was refused")
            sock.close()
            return
        sock.setblocking(False)
        if self._peer is not None:
            self._peer.close()
        self._peer = Peer(self._loop, sock, self._handle, self._peer_closed)

    def _peer_closed(self) -> None:
        self._peer = None

    def send(self, message: Message) -> None:
        if self._peer is not None:
            self._peer.send(message)

    def _handle(self, message: Message) -> None:
        handler = self._handlers.get(message["type"])
        if handler is None:
            log(f"a frame of unknown type {message['type']!r} was ignored")
            return
        try:
            handler(message)
        except Exception:
            log(f"{message['type']} of job {message.get('job')}: unexpected error\n{traceback.format_exc()}")

    def _hello(self, message: Message) -> None:
        self.send(
            {
                "type": "hello",
                "protocol": protocol.PROTOCOL,
                "version": VERSION,
                "node": socket.gethostname(),
                "boot_id": self._place.boot_id,
                "pid": os.getpid(),
                "cpus": len(os.sched_getaffinity(0)),
                "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
                "containment": "cgroup" if self._place.cgroup_base else "scan",
                "containment_reason": self._containment_reason,
                "runs": [run.report for run in self._runs.values() if run.report is not None],
            }
        )

    def _start(self, message: Message) -> None:
        key = _key(message)
        run = self._runs.get(key)
        if run is not None:
            if run.report is not None:
                self.send(run.report)
            return
        try:
            wanted = spec.read(message)
            launched = launch.launch(self._place, wanted, 20000 + self._launches % 12000, self._launches)
        except (ValueError, OSError) as error:
            self.send(protocol.launch_failed(*key, message=str(error), at=time.time()))
            return
        self._launches += 1
        if launched is not None:
            run = self._runs[key] = Run(self._loop, key, launched.folder, 0, self.send)
            run.watch_own_shim(launched)

    def _forget(self, message: Message) -> None:
        run = self._runs.get(_key(message))
        if run is not None and run.is_over:
            run.folder.remove()
            run.folder.close()
            del self._runs[run.key]

    def _ping(self, message: Message) -> None:
        self.send({"type": "pong", "ref": message.get("ref")})

    def _shutdown(self, message: Message) -> None:
        self._loop.stop()


def _key(message: Message) -> Tuple[int, int]:
    return int(message["job"]), int(message["attempt"])
