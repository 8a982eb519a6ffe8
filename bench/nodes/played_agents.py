"""Agents of many machines in one thread: they speak the protocol over the streams that the controller gives to `ssh`.

The stand-in for `ssh` passes its end of the stream to this thread and ends. So a hundred nodes take no process.
"""

import asyncio
import json
import os
import re
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tarmac import __version__
from tarmac.shared import protocol
from tarmac.shared.system import boot_clock

ENDS_AT_ONCE = "ends-at-once"  # the command of jobs that do; others never end
READING_EVERY_S = 5.0  # as of idle GPUs
MEMORY_BYTES = 80 << 30
MARKER = re.compile(rb'\n\)" (tarmac-[0-9a-f]{32}) ')
SSH = """\
#!{python} -IS
import os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["TARMAC_BENCH_AGENTS"])
socket.send_fds(link, [sys.argv[-2].encode()], [0])
"""


class PlayedAgents:
    """`variables` are for the controller. `starts` and `ends` are times of jobs that end at once."""

    def __init__(self, folder: str, gpus: int) -> None:
        self.gpus = gpus
        self.starts: list[float] = []
        self.ends: list[float] = []
        self._path = os.path.join(folder, "agents.sock")
        programs = Path(folder) / "bin"
        programs.mkdir()
        (programs / "ssh").write_text(SSH.format(python=sys.executable))
        (programs / "ssh").chmod(0o755)
        self.variables = {"PATH": f"{programs}:{os.environ['PATH']}", "TARMAC_BENCH_AGENTS": self._path}
        self._machines: dict[str, Machine] = {}
        self._loop = asyncio.new_event_loop()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self._path)
        self._listener.listen(256)
        self._listener.setblocking(False)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._serving = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)

    def hang(self, hosts: list[str]) -> None:
        """From now on, these read nothing and answer nothing."""
        self._loop.call_soon_threadsafe(lambda: [self._machines[host].hang() for host in hosts])

    def wake(self, hosts: list[str]) -> None:
        self._loop.call_soon_threadsafe(lambda: [self._machines[host].wake() for host in hosts])

    def close(self) -> None:
        self._serving.cancel()
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.1), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._listener.close()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            link, _ = await loop.sock_accept(self._listener)
            link.setblocking(True)
            said, descriptors, _, _ = socket.recv_fds(link, 256, 1)
            link.close()
            host = said.decode()
            machine = self._machines.setdefault(host, Machine(host, self))
            stream = socket.socket(fileno=descriptors[0])
            stream.setblocking(False)
            await loop.create_unix_connection(lambda machine=machine: Stream(machine), sock=stream)  # type: ignore[misc]


class Machine:
    """What outlives a link: the attempts of this node, by their newest report."""

    def __init__(self, host: str, agents: PlayedAgents) -> None:
        self.host = host
        self.agents = agents
        self.stream: Stream | None = None
        self.is_hung = False
        self._runs: dict[tuple[int, int], dict[str, Any]] = {}
        self._readings = 0

    def hang(self) -> None:
        self.is_hung = True
        if self.stream is not None:
            self.stream.transport.pause_reading()

    def wake(self) -> None:
        self.is_hung = False
        if self.stream is not None:
            self.stream.transport.close()  # the controller has given it up, or is about to

    def take(self, frame: dict[str, Any]) -> None:
        kind = frame["type"]
        if kind == "hello":
            self._send(self._hello())
            self._read_gpus(self.stream)
        elif kind == "start":
            self._start(frame)
        elif kind == "forget":
            self._runs.pop((frame["job"], frame["attempt"]), None)
        elif kind == "check_paths":
            verdicts = {"directories": [True] * len(frame["directories"]), "outputs": ["good"] * len(frame["outputs"])}
            self._answer(frame, "paths_checked", **verdicts, identities=[None] * len(frame["outputs"]))
        elif kind == "job_memory":
            self._answer(frame, "job_memory", taken=[])
        elif kind == "read_log":
            self._answer(frame, "log", error="no such file", is_missing=True)
        elif kind == "tail_log":
            self._answer(frame, "log_tail", error="no such file")
        elif kind == "find_links":
            self._answer(frame, "links_found", found=[{"links": [], "offset": 0} for _ in frame["files"]])
        elif kind == "ping":
            self._answer(frame, "pong")

    def _start(self, frame: dict[str, Any]) -> None:
        key = (frame["job"], frame["attempt"])
        begun = {"job": key[0], "attempt": key[1], "pid": 4242, "started_at": time.time()}
        self._report(key, {"type": "started", **begun, "started_s": boot_clock.seconds()})
        if frame["argv"] == [ENDS_AT_ONCE]:
            self.agents.starts.append(time.perf_counter())
            end = {
                "exit_code": 0,
                "signal": None,
                "ended_at": time.time(),
                "ended_s": boot_clock.seconds(),
                "ran_s": 0.0,
            }
            self._report(key, {"type": "exited", **begun, **end})
            self.agents.ends.append(time.perf_counter())

    def _report(self, key: tuple[int, int], report: dict[str, Any]) -> None:
        self._runs[key] = report
        self._send(report)

    def _answer(self, question: dict[str, Any], kind: str, **fields: Any) -> None:
        self._send({"type": kind, "ref": question.get("ref"), **fields})

    def _send(self, frame: dict[str, Any]) -> None:
        if self.stream is not None and not self.is_hung:
            self.stream.transport.write(protocol.encode(frame))

    def _read_gpus(self, stream: "Stream | None") -> None:
        """One reading after the other, as long as the link lasts. Their values differ a little."""
        if stream is not self.stream or stream is None or stream.transport.is_closing():
            return
        self._readings += 1
        memory = {"memory_total_bytes": MEMORY_BYTES, "memory_available_bytes": MEMORY_BYTES // 2 + self._readings}
        gpus = [self._gpu(index) for index in range(self.agents.gpus)]
        self._send({"type": "gpus", "gpus": gpus, "error": None, "source": "fake", "host": memory})
        asyncio.get_running_loop().call_later(READING_EVERY_S, self._read_gpus, stream)

    def _gpu(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "uuid": f"GPU-{self.host}-{index}",
            "model": "NVIDIA H100",
            "make": "fake",
            "memory_total_bytes": MEMORY_BYTES,
            "memory_used_bytes": 0,
            "utilization": 0,
            "temperature": 40 + self._readings % 3,
            "power_w": 70.0,
            "links": {},
            "parent": None,
            "health": None,
            "gone_since": None,
            "processes": [],
        }

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "protocol": protocol.PROTOCOL,
            "version": __version__,
            "node": self.host,
            "boot_id": f"boot of {self.host}",
            "pid": 1,
            "cpus": 64,
            "memory_bytes": MEMORY_BYTES,
            "containment": "cgroup",
            "runs": list(self._runs.values()),
            "at": time.time(),
            "boot_s": boot_clock.seconds(),
        }


class Stream(asyncio.Protocol):
    """One link: first the lines of the login, then frames."""

    transport: Any

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._login: bytes | None = b""
        self._marker = b""
        self._decoder = protocol.Decoder()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._machine.stream = self
        if self._machine.is_hung:
            transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        if self._login is not None:
            self._log_in(data)
            return
        for frame in self._decoder.feed(data):
            self._machine.take(dict(frame))

    def _log_in(self, data: bytes) -> None:
        """The script ends with what follows the marker; then comes one line of JSON, and then the frames."""
        assert self._login is not None
        self._login += data
        if not self._marker and (found := MARKER.search(self._login)) and self._login.endswith(b'"$found"\n'):
            self._marker, self._login = found[1], b""
            self._say(step="python", needs_archive=False)
        elif self._marker and self._login.endswith(b"\n"):
            self._login = None
            account = {"user": "bench", "home": "/home/bench", "shell": "/bin/sh"}
            boot_id = f"boot of {self._machine.host}"
            said = {"state": "/home/bench/state", "started_pid": 0, "boot_id": boot_id, "account": account}
            self._say(step="joined", **said, others=[], logout=[])

    def _say(self, **words: Any) -> None:
        self.transport.write(b"\n%s %s\n" % (self._marker, json.dumps(words).encode()))
