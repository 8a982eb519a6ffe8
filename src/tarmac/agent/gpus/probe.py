"""The GPU probe: a child of the agent that writes readings to a pipe, so that a hanging driver call hangs nothing else.

It sends `gpus` whenever a reading differs from the last one sent, `xid` for each error the driver reported, and `alive`
after 10 s of silence. All of them follow a reading that was completed.
"""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional, Sequence

from tarmac.agent.gpus.heartbeat import DriverSpot, Heartbeat
from tarmac.agent.gpus.sources.source import Absent, Source, SourceContext
from tarmac.agent.procs.host_memory import has_changed, read_memory
from tarmac.shared.protocol import encode

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu, ProbeFrame, ProbeReadingFrame, XidFrame

BUSY_S = 1.0  # between two readings while any GPU is in use
IDLE_S = 5.0  # while none is, and between two readings of slowly changing values
ALIVE_S = 10.0
ABSENT_AGAIN_S = 60.0  # before asking again for a missing driver, while other drivers are present
NO_DRIVER = 3  # exit code: nothing to probe; ask again much later
LOST_DRIVER = 4  # exit code: a driver disappeared, ask again soon


class Pipe:
    """The way to the agent. Waiting on it ends as soon as the agent does."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(fd, 0)  # errors only: the reading end was closed
        self._silent_since = time.monotonic()

    def send(self, frame: ProbeFrame) -> None:
        data = encode(frame)
        while data:
            data = data[os.write(self._fd, data) :]
        self._silent_since = time.monotonic()

    def wait(self, seconds: float) -> bool:
        """False when the agent is gone."""
        ended = bool(self._poll.poll(seconds * 1000)) or os.getppid() != self._parent
        if not ended and time.monotonic() - self._silent_since >= ALIVE_S:
            self.send({"type": "alive"})
        return not ended


class ProbeScope(NamedTuple):
    """Which GPUs to leave out, or for a trial the only one to read."""

    skip: Sequence[DriverSpot] = ()
    only: Optional[DriverSpot] = None


def main(write_fd: int, *, heartbeat: Optional[Heartbeat] = None, scope: Optional[ProbeScope] = None) -> int:
    """Run until the agent is gone, and return the exit code."""
    heartbeat, scope = heartbeat or Heartbeat(), scope or ProbeScope()
    sources = choose(os.environ, heartbeat, scope)
    if scope.only is not None:
        return _try(sources)
    try:
        return ProbeLoop(Pipe(write_fd), sources, heartbeat).run()
    except BrokenPipeError:
        return 0


def choose(env: Mapping[str, str], heartbeat: Heartbeat, scope: ProbeScope) -> List[Source]:
    """Import each source only where it is needed: simulated GPUs need no driver module."""
    if env.get("TARMAC_FAKE_GPUS"):
        from tarmac.agent.gpus.sources.fake import FakeSource

        home = env.get("TARMAC_HOME", "") if env.get("TARMAC_FAKE_LOAD") else None
        return [FakeSource(env["TARMAC_FAKE_GPUS"], env.get("TARMAC_AGENT_NODE", ""), loaded_by=home)]
    from tarmac.agent.gpus.sources.amd import AmdSource
    from tarmac.agent.gpus.sources.configured import ConfiguredSource
    from tarmac.agent.gpus.sources.nvml import NvmlSource

    sources: List[Source] = [
        NvmlSource(_context("nvidia", heartbeat, scope)),
        AmdSource(_context("amd", heartbeat, scope), env),
    ]
    if env.get("TARMAC_LISTED_GPUS"):
        sources.append(ConfiguredSource(env["TARMAC_LISTED_GPUS"], env.get("TARMAC_AGENT_NODE", "")))
    if scope.only is not None:
        return [source for source in sources if source.make == scope.only.make]
    left_out = {spot.make for spot in scope.skip if spot.number is None}
    return [source for source in sources if source.make not in left_out]


def _context(make: str, heartbeat: Heartbeat, scope: ProbeScope) -> SourceContext:
    skip = {spot.number: spot.uuid for spot in scope.skip if spot.make == make and spot.number is not None}
    if scope.only is None:
        return SourceContext(heartbeat, slow_s=_pace_s(IDLE_S), skip=skip)
    return SourceContext(heartbeat, slow_s=0.0, only=[] if scope.only.number is None else [scope.only.number])


def _pace_s(usual_s: float) -> float:
    """TARMAC_GPU_PACE_S sets a faster pace, for tests."""
    return min(usual_s, float(os.environ.get("TARMAC_GPU_PACE_S", usual_s)))


def _try(sources: List[Source]) -> int:
    """Find out whether the driver calls return. The next probe reports their results."""
    for source in sources:
        try:
            source.read()
        except Absent:
            continue
    return 0


class ProbeLoop:
    def __init__(self, pipe: Pipe, sources: List[Source], heartbeat: Heartbeat) -> None:
        self._pipe = pipe
        self._sources = sources
        self._heartbeat = heartbeat
        self._sent: Optional[ProbeReadingFrame] = None
        self._present: List[Source] = []
        self._absent: Dict[str, str] = {}  # make → why
        self._absent_until: Dict[str, float] = {}
        self._xids: List[XidFrame] = []

    def run(self) -> int:
        while True:
            had = list(self._present)
            frame = self._read()
            self._heartbeat.at()
            self._send(frame)
            if len(self._present) < len(had):
                return LOST_DRIVER
            if not self._present:
                return NO_DRIVER
            pace_s = BUSY_S if self._sent is None or is_busy(frame["gpus"], self._sent["gpus"]) else IDLE_S
            self._sent = frame
            if not self._pipe.wait(_pace_s(pace_s)):
                return 0

    def _read(self) -> ProbeReadingFrame:
        gpus: List[ProbedGpu] = []
        divided: List[str] = []
        for source in self._sources:
            if time.monotonic() < self._absent_until.get(source.make, 0.0):
                continue
            try:
                reading = source.read()
            except Absent as error:
                self._miss(source, str(error))
                continue
            self._absent.pop(source.make, None)
            if source not in self._present:
                self._present.append(source)
            gpus += renumber(reading.gpus, gpus)
            divided += reading.divided
            self._xids += reading.xids
        return self._frame(gpus, divided)

    def _miss(self, source: Source, why: str) -> None:
        self._absent[source.make] = why
        self._absent_until[source.make] = time.monotonic() + ABSENT_AGAIN_S
        if source in self._present:
            self._present.remove(source)

    def _frame(self, gpus: List[ProbedGpu], divided: List[str]) -> ProbeReadingFrame:
        host = read_memory()
        if self._sent is not None and not has_changed(host, self._sent["host"]):
            host = self._sent["host"]
        name = "+".join(source.name for source in self._present) or "none"
        absent = {make: why for make, why in self._absent.items() if why}
        return {"type": "gpus", "gpus": gpus, "divided": divided, "absent": absent, "source": name, "host": host}

    def _send(self, frame: ProbeReadingFrame) -> None:
        for xid in self._xids:
            self._pipe.send(xid)
        self._xids.clear()
        if frame != self._sent:
            self._pipe.send(frame)


def renumber(gpus: List[ProbedGpu], others: List[ProbedGpu]) -> List[ProbedGpu]:
    """Give the GPUs indices that no other GPU has: two makes in one machine both count from 0."""
    taken = {gpu["index"] for gpu in others}
    if not taken.intersection(gpu["index"] for gpu in gpus):
        return gpus
    return [{**gpu, "index": gpu["index"] + max(taken) + 1} for gpu in gpus]


def is_busy(now: List[ProbedGpu], before: List[ProbedGpu]) -> bool:
    """True if any GPU has a process, load or moving memory. A GPU that only gets warmer is idle."""
    if any(gpu["processes"] or gpu["utilization"] for gpu in now):
        return True
    return [gpu["memory_used_bytes"] for gpu in now] != [gpu["memory_used_bytes"] for gpu in before]
