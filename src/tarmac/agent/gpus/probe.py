"""The GPU probe: a child of the agent that writes readings to a pipe. A driver call that hangs hangs nothing else.

Frames (see protocol): `gpus` whenever a reading differs from the last one sent, `xid` when the driver told of trouble,
`alive` after 10 s of silence, and only after a reading that came to its end.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from tarmac.agent.gpus.heartbeat import Beat, DriverSpot
from tarmac.agent.gpus.sources.source import Absent, Bench, Gpu, Source
from tarmac.agent.procs.host_memory import is_news, read_memory
from tarmac.shared.protocol import encode

BUSY_S = 1.0  # between two readings while anything is on a GPU
IDLE_S = 5.0  # when nothing is, and between two looks at what changes seldom
ALIVE_S = 10.0
ABSENT_AGAIN_S = 60.0  # after a driver that was not there, while others are
NO_DRIVER = 3  # exit code: there is nothing to probe, ask again much later
LOST_DRIVER = 4  # exit code: there was something until now, ask again soon


class Pipe:
    """The way to the agent. Waiting on it ends at once when the agent does."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(fd, 0)  # errors only: nobody reads any more
        self._silent_since = time.monotonic()

    def send(self, message: Dict[str, Any]) -> None:
        data = encode(message)
        while data:
            data = data[os.write(self._fd, data) :]
        self._silent_since = time.monotonic()

    def wait(self, seconds: float) -> bool:
        """False when the agent is gone."""
        ended = bool(self._poll.poll(seconds * 1000)) or os.getppid() != self._parent
        if not ended and time.monotonic() - self._silent_since >= ALIVE_S:
            self.send({"type": "alive"})
        return not ended


class Order(NamedTuple):
    """What to leave out, and for a trial the only place to look at."""

    skip: Sequence[DriverSpot] = ()
    only: Optional[DriverSpot] = None


def main(write_fd: int, *, beat: Optional[Beat] = None, order: Optional[Order] = None) -> int:
    """Runs until the agent is gone; returns the exit code."""
    beat, order = beat or Beat(), order or Order()
    sources = choose(os.environ, beat, order)
    if order.only is not None:
        return _try(sources)
    try:
        return Watch(Pipe(write_fd), sources, beat).run()
    except BrokenPipeError:
        return 0


def choose(env: Mapping[str, str], beat: Beat, order: Order) -> List[Source]:
    """Imported only where needed: simulated GPUs need neither the driver's module nor what it brings along."""
    if env.get("TARMAC_FAKE_GPUS"):
        from tarmac.agent.gpus.sources.fake import FakeSource

        return [FakeSource(env["TARMAC_FAKE_GPUS"])]
    from tarmac.agent.gpus.sources.amd import AmdSource
    from tarmac.agent.gpus.sources.configured import ListedSource
    from tarmac.agent.gpus.sources.nvml import NvmlSource

    sources: List[Source] = [NvmlSource(_bench("nvidia", beat, order)), AmdSource(_bench("amd", beat, order), env)]
    if env.get("TARMAC_LISTED_GPUS"):
        sources.append(ListedSource(env["TARMAC_LISTED_GPUS"]))
    if order.only is not None:
        return [source for source in sources if source.make == order.only.make]
    left_out = {place.make for place in order.skip if place.number is None}
    return [source for source in sources if source.make not in left_out]


def _bench(make: str, beat: Beat, order: Order) -> Bench:
    skip = {place.number: place.uuid for place in order.skip if place.make == make and place.number is not None}
    if order.only is None:
        return Bench(beat, slow_s=_pace_s(IDLE_S), skip=skip)
    return Bench(beat, slow_s=0.0, only=[] if order.only.number is None else [order.only.number])


def _pace_s(usual_s: float) -> float:
    """TARMAC_GPU_PACE_S: a faster one, for tests."""
    return min(usual_s, float(os.environ.get("TARMAC_GPU_PACE_S", usual_s)))


def _try(sources: List[Source]) -> int:
    """Whether calls come back; what they say, the next probe tells."""
    for source in sources:
        try:
            source.read()
        except Absent:
            continue
    return 0


class Watch:
    def __init__(self, pipe: Pipe, sources: List[Source], beat: Beat) -> None:
        self._pipe = pipe
        self._sources = sources
        self._beat = beat
        self._sent: Optional[Dict[str, Any]] = None
        self._present: List[Source] = []
        self._absent: Dict[str, str] = {}  # make → why
        self._absent_until: Dict[str, float] = {}
        self._xids: List[Dict[str, Any]] = []

    def run(self) -> int:
        while True:
            had = list(self._present)
            frame = self._read()
            self._beat.at()
            self._tell(frame)
            if len(self._present) < len(had):
                return LOST_DRIVER
            if not self._present:
                return NO_DRIVER
            pace_s = BUSY_S if self._sent is None or is_busy(frame["gpus"], self._sent["gpus"]) else IDLE_S
            self._sent = frame
            if not self._pipe.wait(_pace_s(pace_s)):
                return 0

    def _read(self) -> Dict[str, Any]:
        gpus: List[Gpu] = []
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
            gpus += apart(reading.gpus, gpus)
            divided += reading.divided
            self._xids += reading.xids
        return self._frame(gpus, divided)

    def _miss(self, source: Source, why: str) -> None:
        self._absent[source.make] = why
        self._absent_until[source.make] = time.monotonic() + ABSENT_AGAIN_S
        if source in self._present:
            self._present.remove(source)

    def _frame(self, gpus: List[Gpu], divided: List[str]) -> Dict[str, Any]:
        host = read_memory()
        if self._sent is not None and not is_news(host, self._sent["host"]):
            host = self._sent["host"]
        name = "+".join(source.name for source in self._present) or "none"
        absent = {make: why for make, why in self._absent.items() if why}
        return {"type": "gpus", "gpus": gpus, "divided": divided, "absent": absent, "source": name, "host": host}

    def _tell(self, frame: Dict[str, Any]) -> None:
        for xid in self._xids:
            self._pipe.send({"type": "xid", **xid})
        self._xids.clear()
        if frame != self._sent:
            self._pipe.send(frame)


def apart(gpus: List[Gpu], others: List[Gpu]) -> List[Gpu]:
    """With numbers that no other GPU has: two makes in one machine both count from 0."""
    taken = {gpu["index"] for gpu in others}
    if not taken.intersection(gpu["index"] for gpu in gpus):
        return gpus
    return [{**gpu, "index": gpu["index"] + max(taken) + 1} for gpu in gpus]


def is_busy(now: List[Gpu], before: List[Gpu]) -> bool:
    """A GPU that only gets warmer is idle; one with a holder, load, or moving memory is not."""
    if any(gpu["processes"] or gpu["utilization"] for gpu in now):
        return True
    return [gpu["memory_used_bytes"] for gpu in now] != [gpu["memory_used_bytes"] for gpu in before]
