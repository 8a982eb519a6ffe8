"""Builders of records, with defaults for everything a test does not set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tarmac.core.events import JobExited, JobLost, JobsSubmitted, JobStarted, LaunchFailed, TreeGone
from tarmac.core.model.gpu import BookedGpu, Gpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import DEFAULT_PRIORITY, Job, JobSpec, Request
from tarmac.core.model.node import Node
from tarmac.core.model.status import (
    Booking,
    Cancelled,
    Failed,
    Paused,
    Queued,
    Running,
    Starting,
    Status,
    Stopping,
    Succeeded,
    Unknown,
)
from tarmac.core.state import State

BOX = NodeName("box")
NOW = 200.0


def a_spec(*, gpus: int = 1, nodes: int = 1, **more: Any) -> JobSpec:
    asked: dict[str, Any] = {
        "owner": "ann",
        "command": ("python", "train.py"),
        "shell": None,
        "cwd": "/home/ann",
        "umask": 0o022,
        "environment": "e0",
    }
    return JobSpec(request=Request(gpus=gpus, node_count=nodes), **{**asked, **more})


def a_job(
    number: int = 1,
    *,
    gpus: int = 1,
    owner: str = "ann",
    priority: int = DEFAULT_PRIORITY,
    position: int | None = None,
    status: Status | None = None,
) -> Job:
    """Queued, unless a status is given."""
    status = Queued() if status is None else status
    return Job(
        id=JobId(number),
        spec=a_spec(gpus=gpus, owner=owner, priority=priority),
        submitted_at=100.0,
        position=number if position is None else position,
        attempt=0 if isinstance(status, Queued) else 1,
        status=status,
    )


def numbered_gpus(count: int, node: str = BOX) -> tuple[Gpu, ...]:
    return tuple(Gpu(uuid=GpuUuid(f"{node}-{index}"), index=index) for index in range(count))


def a_node(*, gpus: int = 2, name: str = BOX, cpu_job_slots: int = 2, is_connected: bool = True) -> Node:
    known = {gpu.uuid: gpu for gpu in numbered_gpus(gpus, name)}
    return Node(
        name=NodeName(name), cpu_job_slots=cpu_job_slots, gpus=known, is_connected=is_connected, has_reported_gpus=True
    )


def a_booking(*indices: int, node: str = BOX) -> Booking:
    booked = tuple(BookedGpu(uuid=GpuUuid(f"{node}-{index}"), index=index) for index in indices)
    return Booking(node=NodeName(node), gpus=booked)


def a_state(*nodes: Node, jobs: tuple[Job, ...] = ()) -> State:
    state = State()
    state.nodes.update((node.name, node) for node in nodes)
    state.load(jobs, next_id=max((job.id for job in jobs), default=0) + 1)
    return state


def a_status(name: str, booking: Booking | None = None) -> Status:
    """One of each state's name; `unknown` has processes left, `unknown-ended` has none."""
    booking = a_booking(0) if booking is None else booking
    ran: dict[str, Any] = {"booking": booking, "pid": 41, "started_at": 110.0}
    statuses: dict[str, Status] = {
        "queued": Queued(),
        "starting": Starting(booking=booking, decided_at=105.0),
        "running": Running(**ran),
        "paused": Paused(**ran, paused_at=115.0, by="ann"),
        "stopping": Stopping(**ran, asked_at=120.0, grace_s=5.0),
        "unknown": Unknown(**ran, ended_at=None, message="its shim was killed"),
        "unknown-ended": Unknown(**ran, ended_at=130.0, message="its shim was killed"),
        "succeeded": Succeeded(**ran, ended_at=130.0),
        "failed": Failed(**ran, ended_at=130.0, reason="exit", exit_code=3),
        "cancelled": Cancelled(**ran, ended_at=130.0, signal=15),
    }
    return statuses[name]


def submitted(*specs: JobSpec) -> JobsSubmitted:
    return JobsSubmitted(specs=specs or (a_spec(),))


def started(job: int = 1, *, attempt: int = 1, pid: int = 41, at: float = 110.0) -> JobStarted:
    return JobStarted(job=JobId(job), attempt=attempt, pid=pid, started_at=at)


def exited(job: int = 1, *, attempt: int = 1, exit_code: int | None = 0, signal: int | None = None) -> JobExited:
    return JobExited(
        job=JobId(job),
        attempt=attempt,
        exit_code=exit_code,
        signal=signal,
        pid=41,
        started_at=110.0,
        ended_at=130.0,
    )


def killed(job: int = 1, *, signal: int = 15) -> JobExited:
    return replace(exited(job), exit_code=None, signal=signal)


def launch_failed(job: int = 1, *, attempt: int = 1, message: str = "train.py: not executable") -> LaunchFailed:
    return LaunchFailed(job=JobId(job), attempt=attempt, message=message, at=130.0)


def lost(job: int = 1, *, attempt: int = 1, is_alive: bool = False) -> JobLost:
    return JobLost(job=JobId(job), attempt=attempt, message="its shim was killed", is_alive=is_alive, at=130.0)


def gone(job: int = 1, *, attempt: int = 1) -> TreeGone:
    return TreeGone(job=JobId(job), attempt=attempt, at=140.0)


def free_gpus(node: Node) -> list[Gpu]:
    return [gpu for uuid, gpu in node.gpus.items() if uuid not in node.booked]
