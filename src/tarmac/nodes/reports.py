"""An agent's frames as events of the core. They come from another process, so every field is checked."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

import msgspec

from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, RunReport, TreeGone
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId


class _Started(msgspec.Struct, tag="started", tag_field="type"):
    job: int
    attempt: int
    pid: int
    started_at: float


class _Exited(msgspec.Struct, tag="exited", tag_field="type"):
    job: int
    attempt: int
    exit_code: int | None
    signal: int | None
    started_at: float
    ended_at: float
    pid: int | None = None
    timed_out: bool = False  # records of older agents lack it
    signalled: bool | None = None  # and this one


class _LaunchFailed(msgspec.Struct, tag="launch_failed", tag_field="type"):
    job: int
    attempt: int
    message: str
    at: float


class _Lost(msgspec.Struct, tag="lost", tag_field="type"):
    job: int
    attempt: int
    message: str
    alive: bool
    at: float


class _Gone(msgspec.Struct, tag="gone", tag_field="type"):
    job: int
    attempt: int
    at: float


_Frame: TypeAlias = _Started | _Exited | _LaunchFailed | _Lost | _Gone

REPORT_TYPES = frozenset({"started", "exited", "launch_failed", "lost", "gone"})


class GpuProcess(msgspec.Struct, kw_only=True):
    """A process on a GPU. `job` and `attempt` are null if it is foreign."""

    pid: int
    user: str | None = None
    command: str | None = None
    memory_bytes: int | None = None
    started_at: float | None = None
    start_time: int | None = None  # in clock ticks since boot: identifies the process together with its pid
    job: int | None = None
    attempt: int | None = None


class GpuReading(msgspec.Struct, kw_only=True):
    """One GPU as the probe reads it; null where the driver reports nothing."""

    index: int
    uuid: str
    model: str = ""
    memory_total_bytes: int = 0
    memory_used_bytes: int | None = None
    utilization: int | None = None
    temperature: int | None = None
    power_w: float | None = None
    health: str | None = None
    gone_since: float | None = None
    links: dict[str, int] = {}
    parent: str | None = None
    make: str = "nvidia"
    processes: list[GpuProcess] = []

    def as_gpu(self) -> Gpu:
        return Gpu(
            uuid=GpuUuid(self.uuid),
            index=self.index,
            model=self.model,
            memory_total_bytes=self.memory_total_bytes,
            links=tuple((GpuUuid(uuid), level) for uuid, level in sorted(self.links.items())),
            parent=None if self.parent is None else GpuUuid(self.parent),
        )


class HostReading(msgspec.Struct, kw_only=True):
    memory_total_bytes: int
    memory_available_bytes: int


def report_of(frame: dict[str, Any]) -> RunReport:
    """Raises msgspec.ValidationError on a frame that is not a report."""
    report: _Frame = msgspec.convert(frame, _Frame)
    match report:
        case _Started():
            return JobStarted(
                job=JobId(report.job), attempt=report.attempt, pid=report.pid, started_at=report.started_at
            )
        case _Exited():
            return JobExited(
                job=JobId(report.job),
                attempt=report.attempt,
                exit_code=report.exit_code,
                signal=report.signal,
                pid=report.pid,
                started_at=report.started_at,
                ended_at=report.ended_at,
                timed_out=report.timed_out,
                was_signalled=report.signalled,
            )
        case _LaunchFailed():
            return LaunchFailed(job=JobId(report.job), attempt=report.attempt, message=report.message, at=report.at)
        case _Lost():
            return JobLost(
                job=JobId(report.job),
                attempt=report.attempt,
                message=report.message,
                is_alive=report.alive,
                at=report.at,
            )
        case _Gone():
            return TreeGone(job=JobId(report.job), attempt=report.attempt, at=report.at)
        case _:
            assert_never(report)


def readings_of(frame: dict[str, Any]) -> tuple[list[GpuReading], HostReading | None]:
    gpus = msgspec.convert(frame["gpus"], list[GpuReading])
    return gpus, msgspec.convert(frame.get("host"), HostReading | None)
