"""The controller's end of the agent protocol for tests, and real agents. Every wait has a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tarmac
from tarmac.agent.main import instance_of
from tarmac.agent.procs import cgroup
from tarmac.agent.procs.cgroup import Leaf
from tarmac.shared.protocol import Decoder, encode
from tarmac.shared.system import sockets

Frame = dict[str, Any]

DEADLINE_S = 20.0
# The agent supports older interpreters than the rest: set TARMAC_TEST_AGENT_PYTHON=/usr/bin/python3.8 to test one.
AGENT_PYTHON = os.environ.get("TARMAC_TEST_AGENT_PYTHON", sys.executable)


def eventually(condition: Callable[[], Any], what: str = "the condition") -> Any:
    """Return the first true value of the condition."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError(f"{what} did not come true within {DEADLINE_S} s")


class AgentPeer:
    """One connection to an agent. Frames that no test expected yet stay in order."""

    def __init__(self, state: Path | str, *, hello: bool = True) -> None:
        self.sock: socket.socket = sockets.connect(os.path.join(state, "agent", "agent.sock"))
        self.decoder = Decoder()
        self.inbox: list[Frame] = []
        self.hello: Frame = {}
        if hello:
            self.send(type="hello", protocol=1, version="0.1.0")
            self.hello = self.expect("hello")

    def send(self, **message: Any) -> None:
        self.sock.sendall(encode(message))

    def start(self, job: int, attempt: int = 1, **more: Any) -> None:
        frame: Frame = {
            "argv": None,
            "shell": None,
            "cwd": "/",
            "umask": 0o022,
            "env": {"PATH": os.environ["PATH"]},
            "stderr": None,
            "append": False,
        }
        self.send(**{**frame, **more, "type": "start", "job": job, "attempt": attempt})

    def signal(self, job: int, signum: int, grace_s: float, attempt: int = 1) -> None:
        self.send(type="signal", job=job, attempt=attempt, signal=signum, grace_s=grace_s)

    def pause(self, job: int, *, is_paused: bool = True, is_counted: bool = False, attempt: int = 1) -> None:
        self.send(type="pause", job=job, attempt=attempt, is_paused=is_paused, is_counted=is_counted)

    def forget(self, job: int, attempt: int = 1) -> None:
        self.send(type="forget", job=job, attempt=attempt)

    def ask(self, kind: str, answer: str, **fields: Any) -> Frame:
        self.send(type=kind, ref=77, **fields)
        return self.expect(answer, ref=77)

    def settle(self) -> None:
        """Wait until everything sent before is handled."""
        self.ask("ping", "pong")

    def expect(self, kind: str, job: int | None = None, *, deadline_s: float = DEADLINE_S, **fields: Any) -> Frame:
        """Return the next frame of that type, for that job, with those fields; others stay in the inbox."""
        wanted = {"type": kind, **fields} if job is None else {"type": kind, "job": job, **fields}
        deadline = time.monotonic() + deadline_s
        while True:
            for index, message in enumerate(self.inbox):
                if all(message.get(key) == value for key, value in wanted.items()):
                    return self.inbox.pop(index)
            self._receive(deadline, f"{wanted}")

    def expect_closed(self) -> None:
        deadline = time.monotonic() + DEADLINE_S
        with contextlib.suppress(ConnectionError):
            while True:
                self._receive(deadline, "the end of the connection")

    def _receive(self, deadline: float, wanted: str) -> None:
        readable, _, _ = select.select([self.sock], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, f"no {wanted} within the deadline; inbox: {self.inbox}"
        data = self.sock.recv(1 << 20)
        if not data:
            raise ConnectionError(f"the agent closed the connection before {wanted}")
        self.inbox += self.decoder.feed(data)

    def close(self) -> None:
        self.sock.close()


def start_agent(state: Path | str, *, python: str = AGENT_PYTHON, **env: str) -> subprocess.Popen[bytes]:
    """Start a real agent process, ready when this returns."""
    read_fd, write_fd = os.pipe()
    try:
        process = subprocess.Popen(
            [python, "-m", "tarmac.agent", "--state", str(state), "--ready-fd", str(write_fd)],
            pass_fds=[write_fd],
            env={**os.environ, "PYTHONPATH": str(Path(tarmac.__file__).parents[1]), **env},
        )
    finally:
        os.close(write_fd)
    with open(read_fd, "rb") as file:
        line = file.readline()
    assert line == b"ready\n", line
    return process


class Site:
    """One state directory with its agents, one after the other, and everything they started."""

    def __init__(self, state: Path, containment: str) -> None:
        self.state = state
        self.containment = containment
        self.peers: list[AgentPeer] = []
        self.agent: subprocess.Popen[bytes]

    def boot(self, **env: str) -> AgentPeer:
        """Start an agent and connect to it."""
        scan = {"TARMAC_CONTAINMENT": "scan"} if self.containment == "scan" else {}
        self.agent = start_agent(self.state, **{"TARMAC_FAKE_GPUS": "2", **scan, **env})
        return self.connect()

    def connect(self) -> AgentPeer:
        peer = AgentPeer(self.state)
        self.peers.append(peer)
        return peer

    def kill_agent(self) -> None:
        self.agent.kill()
        self.agent.wait()

    def stop_agent(self) -> None:
        self.agent.terminate()
        assert self.agent.wait(DEADLINE_S) == 0

    def path(self, name: str) -> str:
        return str(self.state / name)

    def text(self, name: str) -> str:
        path = self.state / name
        return path.read_text() if path.exists() else ""

    def record(self, job: int, name: str = "start.json") -> dict[str, Any]:
        return dict(json.loads((self.state / f"agent/runs/{job}.1/{name}").read_text()))

    @property
    def mark(self) -> str:
        return "TARMAC_MARK=" + instance_of(str(self.state))

    def clean_up(self) -> None:
        for peer in self.peers:
            peer.close()
        self.agent.kill()
        self.agent.wait()
        for record in (self.state / "agent/runs").glob("*/start.json"):
            with contextlib.suppress(ValueError, ProcessLookupError):
                os.kill(json.loads(record.read_text())["shim_pid"], signal.SIGKILL)
        for pid in marked(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        base, _ = cgroup.find_base(instance_of(str(self.state))) if self.containment == "cgroup" else (None, None)
        if base is not None:
            eventually(lambda: Leaf(base).remove() or not os.path.exists(base), "the end of the cgroups")


def marked(mark: str) -> list[int]:
    """Return the processes whose mark begins like this."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and f"\0{mark}" in "\0" + Path(f"/proc/{name}/environ").read_text(errors="replace"):
                found.append(int(name))
    return found


def children(pid: int, name: str) -> list[int]:
    """Return the children with this name, as `ps -o comm` shows it. Others may end at any moment."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text() == f"{name}\n":
                found.append(int(child))
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# For a test that waits for a time limit and does not depend on how processes are found: one kind of containment.
by_clock = pytest.mark.parametrize("site", ["scan"], indirect=True)


@pytest.fixture(params=["cgroup", "scan"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """Under both kinds of containment; skipped for cgroup where it is not available."""
    site = Site(tmp_path, request.param)
    peer = site.boot()
    if peer.hello["containment"] != request.param:
        site.clean_up()
        pytest.skip(f"no cgroup here: {peer.hello['containment_reason']}")
    yield site
    site.clean_up()
    log = site.text("agent/agent.log")
    assert "unexpected error" not in log, log
    assert "Traceback" not in log, log


@pytest.fixture
def peer(site: Site) -> AgentPeer:
    return site.peers[0]
