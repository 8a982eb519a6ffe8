"""Which processes on the GPUs are foreign, and what that means for each GPU. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase
from os.path import basename
from typing import TYPE_CHECKING

from tarmac.core.model.gpu import ForeignProcess, GpuUse
from tarmac.core.model.ids import GpuUuid, JobId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tarmac.controller.settings.settings import Settings
    from tarmac.nodes.reports import GpuProcess, GpuReading


def is_ignored(process: GpuProcess, settings: Settings, ignored: Mapping[int, int]) -> bool:
    """Display servers and the like, small processes, and those ignored one by one (start time by pid)."""
    if process.pid in ignored and process.start_time in (None, ignored[process.pid]):
        return True
    program = basename((process.command or "").partition(" ")[0])
    if any(fnmatchcase(program, pattern) for pattern in settings.in_force.ignore_processes):
        return True
    return process.memory_bytes is not None and process.memory_bytes < settings.in_force.ignore_below


def foreign_processes(
    reading: GpuReading, settings: Settings, ignored: Mapping[int, int], holders: Collection[int]
) -> list[GpuProcess]:
    """Processes of no job that holds this GPU; also a job's process on a GPU that the job does not hold."""
    return [
        process
        for process in reading.processes
        if (process.job is None or process.job not in holders) and not is_ignored(process, settings, ignored)
    ]


def use_of(reading: GpuReading, settings: Settings, ignored: Mapping[int, int], holders: Collection[int]) -> GpuUse:
    others = foreign_processes(reading, settings, ignored, holders)
    return GpuUse(
        outside_bytes=_bytes(reading, others),
        foreign_processes=tuple(map(_foreign, others)),
        load=None if reading.utilization is None else reading.utilization / 100,
        health=reading.health,
        is_gone=reading.gone_since is not None,
    )


def _foreign(process: GpuProcess) -> ForeignProcess:
    return ForeignProcess(
        pid=process.pid, user=process.user, command=process.command, started_at=process.started_at, job=process.job
    )


def _bytes(reading: GpuReading, others: list[GpuProcess]) -> int:
    """Memory of foreign processes. If one does not report its own, all unaccounted memory counts as foreign."""
    known = sum(process.memory_bytes or 0 for process in others)
    if all(process.memory_bytes is not None for process in others) or reading.memory_used_bytes is None:
        return known
    rest = sum(process.memory_bytes or 0 for process in reading.processes if process not in others)
    return max(known, reading.memory_used_bytes - rest)


def memory_of_jobs(readings: list[GpuReading]) -> tuple[tuple[JobId, GpuUuid, int], ...]:
    """The memory each job uses on each GPU."""
    taken: dict[tuple[JobId, GpuUuid], int] = {}
    for reading in readings:
        for process in reading.processes:
            if process.job is not None and process.memory_bytes is not None:
                key = (JobId(process.job), GpuUuid(reading.uuid))
                taken[key] = taken.get(key, 0) + process.memory_bytes
    return tuple((job, gpu, size) for (job, gpu), size in sorted(taken.items()))
