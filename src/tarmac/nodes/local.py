"""This machine: keeps an agent running here and speaks with it over its Unix socket.

The agent outlives the controller and is found again; it is replaced only when its version is another one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from tarmac import __version__
from tarmac.core.events import GpusSeen, NodeJoined, NodeLeft, Reported
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import NodeName
from tarmac.errors import Unavailable
from tarmac.nodes.link import Link
from tarmac.nodes.reports import REPORT_TYPES, GpuReading, HostReading, readings_of, report_of
from tarmac.shared import protocol, sockets

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.core.events import Event

log = logging.getLogger(__name__)

LONGEST_RETRY_S = 2.0
FEWEST_CPU_JOBS = 16


class NodeListener(Protocol):
    """Who is told what happens on the node."""

    def post(self, event: Event) -> None: ...

    def take_readings(
        self, node: NodeName, readings: list[GpuReading], host: HostReading | None, error: str | None
    ) -> None: ...

    def renew_readings(self, node: NodeName) -> None: ...


class Hello(msgspec.Struct, kw_only=True):
    """What the agent says of itself and its machine."""

    protocol: int
    version: str
    node: str
    boot_id: str
    pid: int
    cpus: int
    memory_bytes: int
    containment: str
    containment_reason: str | None = None
    runs: list[dict[str, Any]]


class LocalNode:
    def __init__(
        self, state_folder: Path, *, listener: NodeListener, listed_gpus: list[dict[str, Any]] | None = None
    ) -> None:
        self.hello: Hello | None = None
        self.name = NodeName("")
        self.gpu_error: str | None = None
        self.has_gpus = asyncio.Event()  # the first reading is in
        self.is_ending = False  # and the agent with it; `run` returns when it is gone
        self._state_folder = state_folder
        self._listener = listener
        self._listed_gpus = listed_gpus  # GPUs that no driver tells of
        self._link: Link | None = None
        self._lost = asyncio.Event()
        self._is_admitted = False
        self._gpus: tuple[Gpu, ...] | None = None  # as last posted; readings come far more often
        self._agent: subprocess.Popen[bytes] | None = None

    @property
    def is_connected(self) -> bool:
        return self._link is not None and self.hello is not None

    async def run(self) -> None:
        """Connect, and again whenever the agent went away, until it was told to end."""
        retry_s = 0.05
        while not self.is_ending:
            try:
                await self._connect()
                retry_s = 0.05
                await self._lost.wait()
            except OSError as error:
                log.warning("agent: %s", error)
            self._leave()
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, LONGEST_RETRY_S)

    def send(self, frame: dict[str, Any]) -> None:
        if self._link is not None:
            self._link.send(frame)

    def admit(self) -> None:
        """That this connection joined has been taken in, so what is decided from now on is decided under it."""
        self._is_admitted = True

    def send_command(self, frame: dict[str, Any]) -> None:
        if self._is_admitted:
            self.send(frame)

    async def ask(self, frame: dict[str, Any]) -> dict[str, Any]:
        link = self._link or Link(lambda _: None, lambda: None)
        return await link.ask(frame)

    async def answers(self, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s):
                await self.ask({"type": "ping"})
        except (TimeoutError, Unavailable):
            return False
        return True

    def disconnect(self) -> None:
        """Let go of the stream; `run` connects anew and hears again what really runs."""
        if self._link is not None:
            self._link.close()

    def end_agent(self) -> None:
        """For good: no other one is started."""
        self.is_ending = True
        self.send({"type": "shutdown"})

    async def ask_agent_to_end(self, within_s: float) -> int:
        """The same, and for how many jobs it goes on, because they were asked to stop and have not yet."""
        self.is_ending = True
        try:
            async with asyncio.timeout(within_s):
                return int((await self.ask({"type": "shutdown"}))["stops"])
        except (TimeoutError, Unavailable):
            return 0

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        self._lost.clear()
        sock = await self._reach_agent()
        sock.setblocking(False)
        _, self._link = await loop.create_unix_connection(lambda: Link(self._take_frame, self._lost.set), sock=sock)
        self._link.send({"type": "hello", "protocol": protocol.PROTOCOL, "version": __version__})
        if self.is_ending:
            self._link.send({"type": "shutdown"})  # asked while the agent was on its way

    async def _reach_agent(self) -> Any:
        path = str(self._state_folder / "agent" / "agent.sock")
        try:
            return sockets.connect(path)
        except OSError:
            await self._spawn_agent()
            return sockets.connect(path)

    async def _spawn_agent(self) -> None:
        if self._agent is not None:
            self._agent.poll()  # reaps the one that died
        ready, theirs = os.pipe()
        try:
            # In a session of its own: Ctrl-C on `tarmac serve` is not meant for it.
            self._agent = subprocess.Popen(  # noqa: ASYNC220 - a few milliseconds, once in an agent's life
                [sys.executable, "-m", "tarmac.agent", "--state", str(self._state_folder), "--ready-fd", str(theirs)],
                pass_fds=(theirs,),
                stdin=subprocess.DEVNULL,
                cwd="/",
                env=self._agent_environment(),
                start_new_session=True,
            )
            os.close(theirs)
            said = await _read_line(ready)
        finally:
            os.close(ready)
        if said != b"ready\n":
            raise ConnectionError(
                f"the agent did not start: {said.decode(errors='replace').strip() or 'see its words above'}"
            )

    def _agent_environment(self) -> dict[str, str]:
        if self._listed_gpus is None:
            return dict(os.environ)
        return {**os.environ, "TARMAC_LISTED_GPUS": json.dumps(self._listed_gpus)}

    def _leave(self) -> None:
        self._link = None
        self._is_admitted = False
        self._gpus = None
        if self.hello is not None:
            self._listener.post(NodeLeft(node=self.name))
            self.hello = None

    def _take_frame(self, frame: dict[str, Any]) -> None:
        try:
            self._understand(frame)
        except (msgspec.ValidationError, KeyError) as error:
            log.error("agent sent a frame that cannot be understood (%s): %.500r", error, frame)  # noqa: TRY400

    def _understand(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "hello":
            self._join(msgspec.convert(frame, Hello))
        elif self.hello is None:
            return  # nothing counts before the node has said who it is
        elif frame["type"] in REPORT_TYPES:
            self._listener.post(Reported(node=self.name, report=report_of(frame)))
        elif frame["type"] == "gpus":
            self._take_gpus(self.name, frame)
        elif frame["type"] == "gpus_unchanged":
            self._listener.renew_readings(self.name)

    def _join(self, hello: Hello) -> None:
        if hello.version != __version__ and not self._is_started_by_us(hello):
            log.info("agent %s is replaced by %s", hello.version, __version__)
            self.send({"type": "shutdown", "is_replaced": True})
            return
        self.hello = hello
        self.name = self._lasting_name(hello.node)
        log.info("agent pid %d on %s, containment %s", hello.pid, hello.node, hello.containment)
        runs = tuple(report_of(run) for run in hello.runs)
        self._listener.post(
            NodeJoined(
                node=self.name,
                cpu_job_slots=max(FEWEST_CPU_JOBS, 2 * hello.cpus),
                runs=runs,
                cpus=hello.cpus,
                memory_total_bytes=hello.memory_bytes,
            )
        )

    def _is_started_by_us(self, hello: Hello) -> bool:
        """Then what is installed is not what this controller is, and another agent would be no better."""
        return self._agent is not None and self._agent.pid == hello.pid

    def _lasting_name(self, host: str) -> NodeName:
        """What the machine was called at first: its jobs must find it again after somebody renamed it."""
        kept = self._state_folder / "agent" / "node"
        try:
            return NodeName(kept.read_text().strip() or host)
        except FileNotFoundError:
            kept.write_text(host + "\n")
            return NodeName(host)

    def _take_gpus(self, node: NodeName, frame: dict[str, Any]) -> None:
        readings, host = readings_of(frame)
        self.gpu_error = frame.get("error")
        gpus = tuple(reading.as_gpu() for reading in readings)
        if gpus != self._gpus:
            self._gpus = gpus
            self._listener.post(GpusSeen(node=node, gpus=gpus))
        self._listener.take_readings(node, readings, host, self.gpu_error)
        self.has_gpus.set()


async def _read_line(descriptor: int) -> bytes:
    """What the other end writes before it closes the pipe."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
        return os.read(descriptor, 4096)
    finally:
        loop.remove_reader(descriptor)
