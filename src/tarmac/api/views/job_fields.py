"""How each field of a JobView is read. Fields that a job, its spec or its request store as they are need no line."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tarmac.api.schemas.job.job import GpuRef, JobView, Leftovers, LeftProcess
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import basis_words
from tarmac.api.wording.times import iso
from tarmac.api.wording.why.degraded import stale_words
from tarmac.controller.log_paths import stdout_path
from tarmac.controller.submit.gpu_names import current_names, name_with
from tarmac.core.handlers.health import idle_s
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.status import (
    Draft,
    Failed,
    Held,
    Paused,
    Queued,
    Succeeded,
    Unknown,
    holds_booking,
    paused_s_of,
    state_name,
)
from tarmac.core.retries import attempts_max

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.api.views.job import Viewer
    from tarmac.controller.controller import Controller

    Getter: TypeAlias = Callable[[Viewer, Job], Any]


def warnings_of(controller: Controller, job: Job) -> list[str]:
    """What its owner should look at: idle GPUs, more memory used than booked."""
    booking = holds_booking(job.status)
    nodes = () if booking is None else (controller.state.node(name) for name in booking.held_nodes)
    activities = [node.activity[job.id] for node in nodes if job.id in node.activity]
    found = []
    if idle := [idle_s(activity, controller.now()) for activity in activities if activity.is_warned]:
        found.append(say("job.idle", seconds=max(idle)))
    if any(activity.is_over_booking for activity in activities):
        found.append(say("job.over_booking"))
    return found


def leftovers_of(job: Job) -> Leftovers | None:
    left = getattr(job.status, "leftovers", None)
    if left is None:
        return None
    processes = [LeftProcess(pid=one.pid, command=one.command) for one in left.processes]
    return Leftovers(count=left.count, processes=processes)


def reserved_gpu_memory(controller: Controller, job: Job) -> int | None:
    """On each of its GPUs; of different whole GPUs, that of the smallest. None if the size of one is not known."""
    booking = getattr(job.status, "booking", None)
    if booking is None or not booking.gpus:
        return job.spec.request.gpu_memory_bytes
    nodes = [controller.state.nodes[name] for name in booking.nodes if name in controller.state.nodes]
    known = {uuid: gpu for node in nodes for uuid, gpu in node.gpus.items()}
    sizes = [
        gpu.memory_bytes or (known[gpu.uuid].memory_total_bytes if gpu.uuid in known else 0) for gpu in booking.all_gpus
    ]
    return min(sizes) or None


def _reason(viewer: Viewer, job: Job) -> str | None:
    match job.status:
        case Queued() | Held() | Draft():
            return viewer.waiting_reason(job)
        case Failed(reason=reason):
            return reason
        case Unknown(reason=reason):
            return reason
        case _:
            return None


def _exit_code(_: Viewer, job: Job) -> int | None:
    return 0 if isinstance(job.status, Succeeded) else getattr(job.status, "exit_code", None)


def _of_status(name: str) -> Getter:
    return lambda _, job: getattr(job.status, name, None)


def _time_of_status(name: str) -> Getter:
    return lambda _, job: iso(getattr(job.status, name, None))


def _unless_zero(name: str) -> Getter:
    return lambda _, job: getattr(job.spec.request, name) or None


def _gpus_named(name: str) -> Getter:
    return lambda viewer, job: current_names(viewer.controller.state.nodes.values(), getattr(job.spec.request, name))


def _gpus(viewer: Viewer, job: Job) -> list[GpuRef]:
    """With their current indices while the job holds them, with those of its time once it has ended."""
    booking = getattr(job.status, "booking", None)
    if booking is None:
        return []
    nodes, is_held = viewer.controller.state.nodes, holds_booking(job.status) is not None
    found = []
    for name, gpu in booking.gpus_by_node():
        node = nodes.get(name) if is_held else None
        index = gpu.index if node is None else node.last_index(gpu.uuid, gpu.index)
        found.append(GpuRef(node=name, index=index, uuid=gpu.uuid, name=name_with(name, index, gpu.uuid, nodes)))
    return found


def rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def _stale_s(viewer: Viewer, job: Job) -> float | None:
    booking, controller = holds_booking(job.status), viewer.controller
    if booking is None:
        return None
    fleet = controller.fleet
    of_nodes = (age for name in booking.nodes for age in (fleet.silent_s(name), fleet.away_s(name)))
    ages = (*of_nodes, controller.degraded_s)
    return rounded(max((age for age in ages if age is not None), default=None))


def _node(_: Viewer, job: Job) -> str | None:
    booking = getattr(job.status, "booking", None)
    return None if booking is None else booking.node


def _command(_: Viewer, job: Job) -> list[str]:
    """argv; for a shell string, the argv that runs it."""
    return list(job.spec.command) if job.spec.command is not None else ["sh", "-c", job.spec.shell or ""]


def _waits_for(_: Viewer, job: Job) -> list[int]:
    if not job.spec.after or not isinstance(job.status, Queued | Held | Draft):
        return []
    return [after.job for after in job.spec.after if not after.is_met]


def _log_path(viewer: Viewer, job: Job) -> str:
    path = stdout_path(viewer.controller.state_folder, job, max(job.attempt, 1))
    return viewer.controller.nodes.path_on(_node(viewer, job), path)


def _estimated_start(viewer: Viewer, job: Job) -> str | None:
    estimate = viewer.estimate(job)
    return None if estimate is None else iso(estimate.start_at)


def _estimate_basis(viewer: Viewer, job: Job) -> str | None:
    estimate = viewer.estimate(job)
    return None if estimate is None else basis_words(estimate.rests_on)


def _estimate_rests_on(viewer: Viewer, job: Job) -> list[str]:
    estimate = viewer.estimate(job)
    return [] if estimate is None else sorted(estimate.rests_on)


def _elapsed_s(viewer: Viewer, job: Job) -> float | None:
    started, ended = (getattr(job.status, name, None) for name in ("started_at", "ended_at"))
    if started is not None and ended is not None:
        return float(max(0.0, ended - started - paused_s_of(job.status, viewer.now)))
    elapsed_s = viewer.controller.state.runtimes.elapsed_s(job, viewer.now)
    return None if elapsed_s is None else round(elapsed_s, 3)


def _pause_s(viewer: Viewer, job: Job) -> float:
    return round(paused_s_of(job.status, viewer.now), 3)


def _attempts_max(_: Viewer, job: Job) -> int | None:
    if not job.spec.retries:
        return None
    return attempts_max(job, is_waiting=isinstance(job.status, Queued | Held | Draft))


def _retry_at(_: Viewer, job: Job) -> str | None:
    return iso(job.status.retry_at) if isinstance(job.status, Queued) else None


COMPUTED: dict[str, Getter] = {
    "attempts_max": _attempts_max,
    "retry_at": _retry_at,
    "state": lambda _, job: state_name(job.status),
    "reason": _reason,
    "exit_code": _exit_code,
    "signal": _of_status("signal"),
    "gpus_asked": lambda _, job: job.spec.request.gpus,
    "gpus": _gpus,
    "node": _node,
    "command": _command,
    "submitted_at": lambda _, job: iso(job.submitted_at),
    "started_at": _time_of_status("started_at"),
    "ended_at": _time_of_status("ended_at"),
    "elapsed_s": _elapsed_s,
    "pause_s": _pause_s,
    "paused_at": _time_of_status("paused_at"),
    "paused_by": lambda _, job: job.status.by if isinstance(job.status, Paused) else None,
    "estimated_start": _estimated_start,
    "progress": lambda viewer, job: viewer.controller.progress.get(job),
    "peak_gpu_memory_bytes": lambda viewer, job: viewer.usage(job).peak_gpu_memory_bytes,
    "log_path": _log_path,
    "params": lambda _, job: dict(job.spec.params),
    "links": lambda viewer, job: viewer.links(job),
    "after": lambda _, job: [f"{after.job}:{after.on}" for after in job.spec.after],
    "waits_for": _waits_for,
    "min_gpu_memory_bytes": _unless_zero("min_gpu_memory_bytes"),
    "gpus_on": _gpus_named("gpus_on"),
    "exclude_gpus": _gpus_named("exclude_gpus"),
    "memory_bytes": _unless_zero("memory_bytes"),
    "cpus": _unless_zero("cpus"),
    "utilization": lambda viewer, job: viewer.usage(job).utilization,
    "energy_j": lambda viewer, job: viewer.usage(job).energy_j,
    "warnings": lambda viewer, job: warnings_of(viewer.controller, job),
    "estimate_basis": _estimate_basis,
    "estimate_rests_on": _estimate_rests_on,
    "begin_at": lambda _, job: iso(job.spec.begin_at),
    "position": lambda viewer, job: viewer.place(job),
    "stale_s": _stale_s,
    "stale_reason": lambda viewer, job: stale_words(viewer.controller, job),
    "held_by": lambda _, job: job.status.by if isinstance(job.status, Held) else None,
}


class Need(NamedTuple):
    attribute: str
    empty: Any = None


# Computed fields that are empty for every status without this attribute.
NEEDS: dict[str, Need] = {
    **dict.fromkeys(("node", "progress", "elapsed_s", "stale_s", "stale_reason"), Need("booking")),
    **dict.fromkeys(("gpus", "warnings"), Need("booking", ())),
    **{name: Need(name) for name in ("signal", "started_at", "ended_at", "paused_at")},
    "pause_s": Need("paused_s", 0.0),
    "paused_by": Need("paused_at"),
    **dict.fromkeys(("retry_at", "estimated_start", "estimate_basis", "position"), Need("retry_at")),
    "estimate_rests_on": Need("retry_at", ()),
}


def _path(name: str) -> str:
    """Where a job stores the field."""
    for prefix, record in (("spec.", JobSpec), ("spec.request.", Request), ("", Job)):
        if name in {field.name for field in fields(record)}:
            return prefix + name
    raise LookupError(f"a job does not store {name}: add it to COMPUTED")


STORED: dict[str, str] = {name: _path(name) for name in JobView.__struct_fields__ if name not in COMPUTED}
