"""An agent's frames as events of the core. They come from another process, so every field is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, get_args

import msgspec

from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, RunReport, TreeGone
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.leftovers import Leftovers, LeftProcess
from tarmac.core.model.names import Loss, Memory, Outside
from tarmac.shared.system.proc import TICKS_PER_S

if TYPE_CHECKING:
    from tarmac.nodes.node_clock import NodeClock


class _LeftProcess(msgspec.Struct):
    pid: int
    command: str | None = None


class _Leftovers(msgspec.Struct):
    count: int
    processes: list[_LeftProcess]


class _Started(msgspec.Struct, tag="started", tag_field="type"):
    job: int
    attempt: int
    pid: int
    started_at: float
    started_s: float | None = None  # older agents send no reading of the boot clock
    paused: bool = False
    clock_runs_on: bool = False
    port: int | None = None


class _Exited(msgspec.Struct, tag="exited", tag_field="type"):
    job: int
    attempt: int
    exit_code: int | None
    signal: int | None
    started_at: float
    ended_at: float
    ended_s: float | None = None
    ran_s: float | None = None
    pid: int | None = None
    timed_out: bool = False  # records of older agents lack it
    signalled: bool | None = None  # and this one
    leftovers: _Leftovers | None = None
    full_disk: bool = False  # of its log; older agents do not send `outside` with it
    outside: str | None = None
    paused_s: float | None = None
    oom: str | None = None
    error_line: str | None = None
    warned_s: float | None = None
    by_warning: bool = False


class _LaunchFailed(msgspec.Struct, tag="launch_failed", tag_field="type"):
    job: int
    attempt: int
    message: str
    at: float
    at_s: float | None = None
    outside: str | None = None
    missing: str | None = None


class _Lost(msgspec.Struct, tag="lost", tag_field="type"):
    job: int
    attempt: int
    message: str
    alive: bool
    at: float
    at_s: float | None = None
    started_s: float | None = None
    loss: str | None = None
    leftovers: _Leftovers | None = None


class _Gone(msgspec.Struct, tag="gone", tag_field="type"):
    job: int
    attempt: int
    at: float
    at_s: float | None = None
    started_s: float | None = None
    leftovers: _Leftovers | None = None


_Frame: TypeAlias = _Started | _Exited | _LaunchFailed | _Lost | _Gone

# A newer agent may know more.
_MEMORIES: dict[str | None, Memory] = {name: name for name in get_args(Memory)}
_OUTSIDE: dict[str | None, Outside] = {name: name for name in get_args(Outside)}
_LOSSES: dict[str | None, Loss] = {name: name for name in get_args(Loss)}
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


def report_of(frame: dict[str, Any], clock: NodeClock) -> RunReport:
    """All times are by our clock. Raises msgspec.ValidationError on a frame that is not a report."""
    report: _Frame = msgspec.convert(frame, _Frame)
    match report:
        case _Started():
            return JobStarted(
                job=JobId(report.job),
                attempt=report.attempt,
                pid=report.pid,
                started_at=clock.convert(report.started_at, report.started_s),
                is_paused=report.paused,
                clock_runs_on=report.clock_runs_on,
                port=report.port,
            )
        case _Exited():
            return _exited(report, clock)
        case _LaunchFailed():
            at = clock.convert(report.at, report.at_s)
            return LaunchFailed(
                job=JobId(report.job),
                attempt=report.attempt,
                message=report.message,
                at=at,
                outside=_OUTSIDE.get(report.outside),
                missing=report.missing,
            )
        case _Lost():
            return JobLost(
                job=JobId(report.job),
                attempt=report.attempt,
                message=report.message,
                is_alive=report.alive,
                at=clock.convert(report.at, report.at_s),
                started_at=_began_at(report, clock),
                loss=_LOSSES.get(report.loss, "lost"),
                leftovers=_leftovers(report.leftovers),
            )
        case _Gone():
            return TreeGone(
                job=JobId(report.job),
                attempt=report.attempt,
                at=clock.convert(report.at, report.at_s),
                started_at=_began_at(report, clock),
                leftovers=_leftovers(report.leftovers),
            )
        case _:
            assert_never(report)


def _exited(report: _Exited, clock: NodeClock) -> JobExited:
    ended_at = clock.convert(report.ended_at, report.ended_s)
    return JobExited(
        job=JobId(report.job),
        attempt=report.attempt,
        exit_code=report.exit_code,
        signal=report.signal,
        pid=report.pid,
        # The wall clock may have been set since the start, so the difference of the wall times is not how long it ran.
        started_at=clock.convert(report.started_at, None) if report.ran_s is None else ended_at - report.ran_s,
        ended_at=ended_at,
        timed_out=report.timed_out,
        was_signalled=report.signalled,
        outside=_OUTSIDE.get(report.outside) or ("disk-full" if report.full_disk else None),
        is_log_disk_full=report.full_disk,
        paused_s=None if report.paused_s is None else max(0.0, report.paused_s),
        oom=_MEMORIES.get(report.oom),
        error_line=report.error_line,
        warned_at=None if report.warned_s is None else ended_at - max(0.0, report.warned_s),
        is_by_warning=report.by_warning,
        leftovers=_leftovers(report.leftovers),
    )


def _leftovers(left: _Leftovers | None) -> Leftovers | None:
    if left is None:
        return None
    processes = tuple(LeftProcess(pid=one.pid, command=one.command) for one in left.processes)
    return Leftovers(count=left.count, processes=processes)


def _began_at(report: _Lost | _Gone, clock: NodeClock) -> float | None:
    return None if report.started_s is None else clock.convert(report.at, report.started_s)


def readings_of(frame: dict[str, Any], clock: NodeClock) -> tuple[list[GpuReading], HostReading | None]:
    """All times are by our clock."""
    gpus = msgspec.convert(frame["gpus"], list[GpuReading])
    for gpu in gpus:
        if gpu.gone_since is not None:
            gpu.gone_since = clock.convert(gpu.gone_since, None)
        for process in gpu.processes:
            if process.started_at is not None:
                process.started_at = clock.convert(process.started_at, _started_s(process))
    return gpus, msgspec.convert(frame.get("host"), HostReading | None)


def _started_s(process: GpuProcess) -> float | None:
    return None if process.start_time is None else process.start_time / TICKS_PER_S
