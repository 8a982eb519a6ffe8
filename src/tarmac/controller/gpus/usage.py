"""What GPUs did over time, and what each job took of them: a ring in memory, a row a minute and a row a job on disk.

A reading holds until the next one comes: an idle GPU is not read again and again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.handlers.health import FRESH_S
from tarmac.core.model.status import Running, Stopping
from tarmac.store.writer import Sample, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.nodes.reports import GpuReading

RING = 3600
MINUTE_S = 60

GpuKey: TypeAlias = tuple[str, str]  # node, uuid


@dataclass(slots=True)
class Integral:
    """Seconds, and what went by in them."""

    seconds: float = 0.0
    utilization: float = 0.0
    energy_j: float = 0.0
    known_s: float = 0.0  # of these, with a utilisation that is known
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
    def __init__(self, jobs: dict[JobId, JobBook] | None = None) -> None:
        self.rings: dict[GpuKey, deque[tuple[float, GpuReading]]] = {}
        self.jobs = jobs or {}
        self._minutes: dict[GpuKey, Integral] = {}
        self._last: dict[GpuKey, tuple[float, GpuReading]] = {}
        self._read_at: dict[str, float] = {}

    def read(self, node: str, readings: Iterable[GpuReading], jobs: Iterable[Job], now: float) -> None:
        """New readings; what was read before held until now."""
        self.settle(jobs, now)
        self.confirm(node, now)
        for reading in readings:
            gpu = (node, reading.uuid)
            self._last[gpu] = (now, reading)
            self.rings.setdefault(gpu, deque(maxlen=RING)).append((now, reading))
            for process in reading.processes:
                self._note_peak(process.job, reading)

    def confirm(self, node: str, now: float) -> None:
        """Read again, and found as it was."""
        self._read_at[node] = now

    def settle(self, jobs: Iterable[Job], now: float) -> None:
        """Book the time since the last reading, on GPUs and on the jobs that have them.

        While nobody reads (the agent is away, the machine slept), nobody knows: that time is not booked.
        """
        seconds = {key: max(0.0, min(now, self._read_at[key[0]] + FRESH_S) - at) for key, (at, _) in self._last.items()}
        for job in jobs:
            if isinstance(job.status, Running | Stopping) and job.status.booking.gpus:
                book = self.jobs.setdefault(job.id, JobBook())
                for gpu in job.status.booking.gpus:
                    key: GpuKey = (job.status.booking.node, gpu.uuid)
                    if key in self._last:
                        reading = self._last[key][1]
                        total = reading.memory_total_bytes
                        part = gpu.memory_bytes / total if gpu.memory_bytes and total else 1.0
                        book.work.add(reading, seconds[key] / len(job.status.booking.gpus), part)
        for key, (_, reading) in self._last.items():
            self._minutes.setdefault(key, Integral()).add(reading, seconds[key])
            self._last[key] = (now, reading)

    def minute(self, now: float) -> list[Sample]:
        """One row a GPU that did anything since the last call."""
        rows = []
        for (node, uuid), work in self._minutes.items():
            reading = self._last[node, uuid][1]
            if work.seconds and (work.average or reading.processes):
                power_w = work.energy_j / work.seconds if work.has_power else None
                rows.append(
                    Sample(
                        at=int(now) // MINUTE_S * MINUTE_S,
                        node=node,
                        uuid=uuid,
                        memory_used_bytes=reading.memory_used_bytes,
                        utilization=work.average,
                        power_w=power_w,
                    )
                )
        self._minutes = {}
        return rows

    def of(self, job: JobId) -> Usage | None:
        """So far. An ended job is asked for it until what it took is on disk."""
        book = self.jobs.get(job)
        return None if book is None else book.closed(job)

    def forget(self, job: JobId) -> None:
        self.jobs.pop(job, None)

    def _note_peak(self, job: int | None, reading: GpuReading) -> None:
        book = None if job is None else self.jobs.get(job)  # type: ignore[call-overload]
        if book is None:
            return
        mine = [process.memory_bytes for process in reading.processes if process.job == job]
        taken = sum(size for size in mine if size is not None)
        book.peak_bytes = max(book.peak_bytes or 0, taken)
