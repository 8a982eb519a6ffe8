"""GPU use over time and per job: a ring buffer in memory, a row per minute and per job on disk.

A reading is valid until the next one, because an idle GPU is not reported again and again.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.handlers.health import FRESH_S
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Running, Stopping
from tarmac.store.writer import Sample, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tarmac.core.model.job import Job
    from tarmac.core.state import State
    from tarmac.nodes.reports import GpuReading

RING = 3600
MINUTE_S = 60
SETTING = "usage_so_far"  # stored with the settings, but not set by users


class GpuKey(NamedTuple):
    node: str
    uuid: str


class TimedReading(NamedTuple):
    at: float
    reading: GpuReading


@dataclass(slots=True)
class Integral:
    """Sums over time."""

    seconds: float = 0.0
    utilization: float = 0.0
    energy_j: float = 0.0
    known_s: float = 0.0  # of these, with a known utilization
    has_power: bool = False

    def add(self, reading: GpuReading, seconds: float, part: float = 1.0) -> None:
        self.seconds += seconds
        if reading.utilization is not None:
            self.known_s += seconds
            self.utilization += reading.utilization * seconds
        if reading.power_w is not None:
            self.has_power = True
            self.energy_j += reading.power_w * seconds * part

    @property
    def average(self) -> float | None:
        return round(self.utilization / self.known_s, 1) if self.known_s else None


@dataclass(slots=True)
class JobBook:
    peak_bytes: int | None = None
    work: Integral = field(default_factory=Integral)

    def closed(self, job: JobId) -> Usage:
        energy = round(self.work.energy_j, 1) if self.work.has_power else None
        return Usage(job=job, peak_gpu_memory_bytes=self.peak_bytes, utilization=self.work.average, energy_j=energy)


class UsageBook:
    def __init__(self) -> None:
        self.rings: dict[GpuKey, deque[TimedReading]] = {}
        self.jobs: dict[JobId, JobBook] = {}
        self._minutes: dict[GpuKey, Integral] = {}
        self._last: dict[GpuKey, TimedReading] = {}
        self._read_at: dict[str, float] = {}

    def read(self, node: str, readings: Iterable[GpuReading], jobs: Iterable[Job], now: float) -> None:
        """Note new readings; the previous ones were valid until now."""
        self.settle(jobs, now)
        self.confirm(node, now)
        for reading in readings:
            gpu = GpuKey(node, reading.uuid)
            self._last[gpu] = TimedReading(now, reading)
            self.rings.setdefault(gpu, deque(maxlen=RING)).append(self._last[gpu])
            for process in reading.processes:
                self._note_peak(process.job, reading)

    def confirm(self, node: str, now: float) -> None:
        """The same values were read again."""
        self._read_at[node] = now

    def settle(self, jobs: Iterable[Job], now: float) -> None:
        """Count the time since the last reading, for GPUs and for the jobs that hold them.

        Time without readings (the agent is away, the machine slept) is not counted, because its use is unknown.
        """
        seconds = {
            key: max(0.0, min(now, self._read_at[key.node] + FRESH_S) - last.at) for key, last in self._last.items()
        }
        for job in jobs:
            if isinstance(job.status, Running | Stopping) and job.status.booking.gpus:
                book = self.jobs.setdefault(job.id, JobBook())
                for gpu in job.status.booking.gpus:
                    key = GpuKey(job.status.booking.node, gpu.uuid)
                    if key in self._last:
                        reading = self._last[key].reading
                        total = reading.memory_total_bytes
                        part = gpu.memory_bytes / total if gpu.memory_bytes and total else 1.0
                        book.work.add(reading, seconds[key] / len(job.status.booking.gpus), part)
        for key, (_, reading) in self._last.items():
            self._minutes.setdefault(key, Integral()).add(reading, seconds[key])
            self._last[key] = TimedReading(now, reading)

    def minute(self, now: float) -> list[Sample]:
        """One row for each GPU that was used since the last call."""
        rows = []
        for key, work in self._minutes.items():
            reading = self._last[key].reading
            if work.seconds and (work.average or reading.processes):
                power_w = work.energy_j / work.seconds if work.has_power else None
                rows.append(
                    Sample(
                        at=int(now) // MINUTE_S * MINUTE_S,
                        node=key.node,
                        uuid=key.uuid,
                        memory_used_bytes=reading.memory_used_bytes,
                        utilization=work.average,
                        power_w=power_w,
                    )
                )
        self._minutes = {}
        return rows

    def of(self, job: JobId) -> Usage | None:
        """What the job used so far; of an ended job, until that is on disk."""
        book = self.jobs.get(job)
        return None if book is None else book.closed(job)

    def forget(self, job: int) -> None:
        self.jobs.pop(JobId(job), None)

    def text(self) -> str | None:
        """What running jobs used so far, for the store: the next controller counts on from there. None if nothing."""
        books = {job: [book.peak_bytes, *astuple(book.work)] for job, book in self.jobs.items()}
        return json.dumps(books) if books else None

    def restore(self, stored: str | None, live: Collection[JobId]) -> None:
        """Take over what an earlier controller stored for live jobs; the use of ended jobs is final."""
        books = {JobId(int(job)): numbers for job, numbers in json.loads(stored or "{}").items()}
        for job, (peak, *work) in books.items():
            if job in live:
                self.jobs[job] = JobBook(peak_bytes=peak, work=Integral(*work))

    def _note_peak(self, job: int | None, reading: GpuReading) -> None:
        book = None if job is None else self.jobs.get(job)  # type: ignore[call-overload]
        if book is None:
            return
        mine = [process.memory_bytes for process in reading.processes if process.job == job]
        taken = sum(size for size in mine if size is not None)
        book.peak_bytes = max(book.peak_bytes or 0, taken)


def jobs_with_gpus(state: State) -> list[Job]:
    """Jobs that hold a booking on any node."""
    return [state.jobs[job] for node in state.nodes.values() for job in node.host if job in state.jobs]
