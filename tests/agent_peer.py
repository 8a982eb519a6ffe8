"""A controller's end of the agent protocol for tests: synchronous, every wait has a deadline."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tarmac.agent import address
from tarmac.agent.protocol import Decoder, Message, encode

DEADLINE_S = 20.0


class AgentPeer:
    """One connection to an agent. Messages not asked for yet are kept in order."""

    def __init__(self, state: Path | str, *, hello: bool = True) -> None:
        self.sock: socket.socket = address.connect(os.path.join(state, "agent", "agent.sock"))
        self.decoder = Decoder()
        self.inbox: list[Message] = []
        self.hello: Message = {}
        if hello:
            self.send(type="hello", protocol=1, version="0.1.0")
            self.hello = self.expect("hello")

    def send(self, **message: Any) -> None:
        self.sock.sendall(encode(message))

    def start(self, job: int, attempt: int = 1, **more: Any) -> None:
        frame: Message = {
            "argv": None,
            "shell": None,
            "cwd": "/",
            "umask": 0o022,
            "env": {"PATH": os.environ["PATH"]},
            "stderr": None,
            "append": False,
            "folder": None,
        }
        self.send(**{**frame, **more, "type": "start", "job": job, "attempt": attempt})

    def expect(self, kind: str, job: int | None = None, *, deadline_s: float = DEADLINE_S, **fields: Any) -> Message:
        """The next message of that type, for that job, with those fields; others stay in the inbox."""
        deadline = time.monotonic() + deadline_s
        while True:
            for index, message in enumerate(self.inbox):
                wanted = {"type": kind, **fields} if job is None else {"type": kind, "job": job, **fields}
                if all(message.get(key) == value for key, value in wanted.items()):
                    return self.inbox.pop(index)
            self._receive(deadline, f"{kind} of job {job}")

    def expect_closed(self) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                self._receive(deadline, "the end of the connection")
            except ConnectionError:
                return

    def _receive(self, deadline: float, wanted: str) -> None:
        readable, _, _ = select.select([self.sock], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, f"no {wanted} within the deadline; inbox: {self.inbox}"
        data = self.sock.recv(1 << 20)
        if not data:
            raise ConnectionError(f"the agent closed the connection before {wanted}")
        self.inbox += self.decoder.feed(data)

    def close(self) -> None:
        self.sock.close()


def start_agent(state: Path | str, *, python: str = sys.executable, **env: str) -> subprocess.Popen[bytes]:
    """A real agent process, ready when this returns."""
    read_fd, write_fd = os.pipe()
    try:
        process = subprocess.Popen(
            [python, "-m", "tarmac.agent", "--state", str(state), "--ready-fd", str(write_fd)],
            pass_fds=[write_fd],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        )
    finally:
        os.close(write_fd)
    with open(read_fd, "rb") as file:
        line = file.readline()
    assert line == b"ready\n", line
    return process
