"""Jobs and GPUs as people and programs get to see them. Field names are a promise; see docs/api.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tarmac.api.wording.degraded import still_true, unwritten
from tarmac.api.wording.reasons import ahead_words, gpu_lines, sentences
from tarmac.api.wording.times import iso
from tarmac.controller.gpus.foreign_processes import is_ignored, told
from tarmac.controller.log_paths import stderr_path, stdout_path
from tarmac.core.explain import Explainer, TooFewGpus
from tarmac.core.forecast.queue_forecast import position_of
from tarmac.core.handlers.health import idle_s
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.status import Draft, Failed, Held, Queued, Unknown, holds_booking, state_name
from tarmac.errors import UserError
from tarmac.nodes.reports import GpuReading
from tarmac.shared.units import duration_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tarmac.controller.controller import Controller
    from tarmac.controller.forecast_cache import Forecast
    from tarmac.core.explain import Reason
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.gpu import Drain, NamedGpu
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuProcess

    Getter: TypeAlias = Callable[["Viewer", Job], Any]


class Viewer:
    """Makes views of one moment. What many jobs share (why they wait, their places) is worked out once, and only
    if somebody wants to know. `is_fresh`: places and estimates, too, are those of this very moment.
    """

    def __init__(self, controller: Controller, *, is_fresh: bool = False) -> None:
        self.controller = controller
        self._is_fresh = is_fresh
        self._explainer: Explainer | None = None
        self._forecast: Forecast | None = None
        self._said: dict[tuple[Reason, ...], str | None] = {}

    def job(self, job: Job, fields: Sequence[str] | None = None) -> dict[str, Any]:
        return {name: FIELDS[name](self, job) for name in fields or FIELDS}

    def whole_job(self, job: Job) -> dict[str, Any]:
        """With what only somebody who looks at this one job wants to know."""
        spec, status = job.spec, job.status
        folder = self.controller.state_folder
        return self.job(job) | {
            "message": getattr(status, "message", None) or getattr(status, "note", None),
            "why": self._why(job),
            "pid": getattr(status, "pid", None),
            "umask": spec.umask,
            "grace_s": spec.grace_s,
            "shell": spec.shell,
            "stdout_path": stdout_path(folder, job, max(job.attempt, 1)),
            "stderr_path": stderr_path(folder, job, max(job.attempt, 1)),
            "stop_signal": spec.signal,
        }

    def gpus(self) -> list[dict[str, Any]]:
        readings = self.controller.readings.latest
        nodes = dict.fromkeys((*readings, *self.controller.state.nodes))
        return [self._gpu(node, one) for node in nodes for one in (*readings.get(node, ()), *self._untold(node))]

    def _untold(self, name: NodeName) -> list[GpuReading]:
        """GPUs that jobs hold and that the agent does not tell of: it just began, or lost what it knew."""
        known = {reading.uuid for reading in self.controller.readings.of(name)}
        held = self.controller.state.node(name).booked
        booked = {uuid: next(iter(jobs.values())) for uuid, jobs in held.items() if uuid not in known}
        return [
            GpuReading(index=gpu.index, uuid=uuid, make="", health="the agent does not tell of it")
            for uuid, gpu in booked.items()
        ]

    def waiting_reason(self, job: Job) -> str | None:
        if (not_kept := unwritten(self.controller, job)) is not None:
            return not_kept
        reasons = self._reasons(job)
        if reasons not in self._said:
            now = self.controller.now()
            self._said[reasons] = "; ".join(sentences(reasons, now)) or None
        return self._said[reasons]

    def place(self, job: Job) -> int | None:
        return self._look().places.get(job.id) if isinstance(job.status, Queued) else None

    def estimate(self, job: Job) -> Estimate | None:
        return self._look().estimates.get(job.id) if isinstance(job.status, Queued) else None

    def _look(self) -> Forecast:
        if self._forecast is None:
            self._forecast = self.controller.forecast.now(is_fresh=self._is_fresh)
        return self._forecast

    def _reasons(self, job: Job) -> tuple[Reason, ...]:
        if self._explainer is None:
            self._explainer = Explainer(self.controller.state, self.controller.now())
        return still_true(self.controller, self._explainer.reasons(job))

    def _why(self, job: Job) -> list[str]:
        """In a few lines; GET /jobs/ID/why tells all."""
        reasons, not_kept = self._reasons(job), unwritten(self.controller, job)
        if not reasons and not_kept is None:
            return []
        state, now = self.controller.state, self.controller.now()
        has_place = isinstance(job.status, Queued) and job.id not in state.blocked
        place = [ahead_words(position_of(state, job, now) - 1)] if has_place else []
        gpus = [line for reason in reasons if isinstance(reason, TooFewGpus) for line in gpu_lines(reason.gpus, now)]
        return [*place, *([] if not_kept is None else [not_kept]), *sentences(reasons, now), *gpus]

    def _gpu(self, name: NodeName, reading: GpuReading) -> dict[str, Any]:
        node = self.controller.state.node(name)
        uuid = GpuUuid(reading.uuid)
        held = node.booked.get(uuid, {})
        drain = node.drains.get(uuid)
        use = node.uses.get(uuid)
        return {
            "node": name,
            "index": node.last_index(uuid, reading.index),
            "uuid": reading.uuid,
            "model": reading.model,
            "memory_total_bytes": reading.memory_total_bytes,
            "memory_used_bytes": reading.memory_used_bytes,
            "utilization": reading.utilization,
            "temperature": reading.temperature,
            "jobs": list(held),
            "processes": [self._process(name, process) for process in reading.processes],
            "drained": drain is not None,
            "reason": None if drain is None else self._drain_words(drain),
            "power_w": reading.power_w,
            "slots": node.slots.get(uuid, 1),
            "booked_bytes": sum(gpu.memory_bytes or reading.memory_total_bytes for gpu in held.values()),
            "make": reading.make,
            "parent": reading.parent,
            "health": reading.health,
            "gone_since": iso(reading.gone_since),
            "held": f"held by {told(use.foreign_processes, self.controller.now())}"
            if use is not None and use.foreign_processes
            else None,
        }

    def _drain_words(self, drain: Drain) -> str:
        if drain.healthy_since is None:
            return drain.reason
        left_s = drain.healthy_since + self.controller.state.rules.healthy_s - self.controller.now()
        return f"was sick ({drain.reason}), used again in {duration_words(max(0, left_s))}"

    def _process(self, node: NodeName, process: GpuProcess) -> dict[str, Any]:
        is_ours = process.job in self.controller.state.jobs
        return {
            "pid": process.pid,
            "user": process.user,
            "command": process.command,
            "memory_bytes": process.memory_bytes,
            "started_at": iso(process.started_at),
            "job": process.job if is_ours else None,
            "ignored": not is_ours and self._is_ignored(node, process),
        }

    def _is_ignored(self, node: NodeName, process: GpuProcess) -> bool:
        return is_ignored(process, self.controller.settings, self.controller.ignored.starts_on(node))

    def usage(self, job: Job) -> tuple[int | None, float | None, float | None]:
        """Peak memory, average utilisation, energy: of the running one so far, of an ended one as kept."""
        now = self.controller.usage.of(job.id)
        if now is not None:
            return now.peak_gpu_memory_bytes, now.utilization, now.energy_j
        if job.attempt == 0 or job.spec.request.gpus == 0:
            return None, None, None
        return self.controller.store.reader.usage(job.id) or (None, None, None)


def warnings_of(viewer: Viewer, job: Job) -> list[str]:
    """What its owner should look at: GPUs held for nothing, more memory taken than booked."""
    booking = holds_booking(job.status)
    if booking is None:
        return []
    state = viewer.controller.state
    node = state.node(booking.node)
    activity = node.activity.get(job.id)
    found = []
    if activity is not None and activity.is_warned:
        found.append(f"idle for {duration_words(idle_s(activity, viewer.controller.now()))}")
    if activity is not None and activity.is_over_booking:
        found.append("takes more GPU memory than it booked")
    return found


def _reason(viewer: Viewer, job: Job) -> str | None:
    match job.status:
        case Queued() | Held() | Draft():
            return viewer.waiting_reason(job)
        case Failed(reason=reason):
            return reason
        case Unknown():
            return "lost"
        case _:
            return None


def _of_status(name: str) -> Getter:
    return lambda _, job: getattr(job.status, name, None)


def _time_of_status(name: str) -> Getter:
    return lambda _, job: iso(getattr(job.status, name, None))


def _of_request(name: str) -> Getter:
    return lambda _, job: getattr(job.spec.request, name)


def _gpus_named(name: str) -> Getter:
    """By the index that each has now; by UUID where it has none."""

    def named(viewer: Viewer, job: Job) -> list[int | str]:
        wanted: tuple[NamedGpu | int, ...] = getattr(job.spec.request, name)
        nodes = viewer.controller.state.nodes.values()
        return [gpu if isinstance(gpu, int) else _name_now(nodes, gpu.uuid) for gpu in wanted]

    return named


def _name_now(nodes: Iterable[Node], uuid: GpuUuid) -> int | str:
    return next((index for node in nodes if (index := node.index_now(uuid)) is not None), uuid)


def _gpus(viewer: Viewer, job: Job) -> list[dict[str, Any]]:
    """With the indices of now while it has them; of an ended job, those of its time."""
    booking = getattr(job.status, "booking", None)
    if booking is None:
        return []
    node = viewer.controller.state.nodes.get(booking.node) if holds_booking(job.status) is not None else None
    indices = [gpu.index if node is None else node.last_index(gpu.uuid, gpu.index) for gpu in booking.gpus]
    return [
        {"node": booking.node, "index": index, "uuid": gpu.uuid}
        for index, gpu in zip(indices, booking.gpus, strict=True)
    ]


def _node(_: Viewer, job: Job) -> str | None:
    booking = getattr(job.status, "booking", None)
    return None if booking is None else booking.node


def _command(_: Viewer, job: Job) -> list[str]:
    """argv; a shell string as the shell will get it."""
    return list(job.spec.command) if job.spec.command is not None else ["sh", "-c", job.spec.shell or ""]


def _log_path(viewer: Viewer, job: Job) -> str:
    return stdout_path(viewer.controller.state_folder, job, max(job.attempt, 1))


def _estimated_start(viewer: Viewer, job: Job) -> str | None:
    estimate = viewer.estimate(job)
    return None if estimate is None else iso(estimate.start_at)


def _estimate_basis(viewer: Viewer, job: Job) -> str | None:
    estimate = viewer.estimate(job)
    return None if estimate is None else estimate.basis


FIELDS: dict[str, Getter] = {
    "id": lambda _, job: job.id,
    "name": lambda _, job: job.spec.name,
    "owner": lambda _, job: job.spec.owner,
    "project": lambda _, job: job.spec.project,
    "tags": lambda _, job: job.spec.tags,
    "state": lambda _, job: state_name(job.status),
    "reason": _reason,
    "exit_code": lambda _, job: 0 if state_name(job.status) == "succeeded" else getattr(job.status, "exit_code", None),
    "signal": _of_status("signal"),
    "attempt": lambda _, job: job.attempt,
    "priority": lambda _, job: job.spec.priority,
    "tier": lambda _, job: job.spec.tier,
    "gpus_asked": lambda _, job: job.spec.request.gpus,
    "gpus": _gpus,
    "node": _node,
    "command": _command,
    "cwd": lambda _, job: job.spec.cwd,
    "submitted_at": lambda _, job: iso(job.submitted_at),
    "started_at": _time_of_status("started_at"),
    "ended_at": _time_of_status("ended_at"),
    "estimated_start": _estimated_start,
    "progress": lambda viewer, job: viewer.controller.progress.get(job.id),
    "peak_gpu_memory_bytes": lambda viewer, job: viewer.usage(job)[0],
    "log_path": _log_path,
    "group": lambda _, job: job.group,
    "after": lambda _, job: [f"{after.job}:{after.on}" for after in job.spec.after],
    "gpu_memory_bytes": _of_request("gpu_memory_bytes"),
    "gpu_share": _of_request("gpu_share"),
    "gpu_models": _of_request("gpu_models"),
    "min_gpu_memory_bytes": lambda _, job: job.spec.request.min_gpu_memory_bytes or None,
    "gpus_on": _gpus_named("gpus_on"),
    "exclude_gpus": _gpus_named("exclude_gpus"),
    "idle_below": _of_request("idle_below"),
    "memory_bytes": lambda _, job: job.spec.request.memory_bytes or None,
    "cpus": lambda _, job: job.spec.request.cpus or None,
    "utilization": lambda viewer, job: viewer.usage(job)[1],
    "energy_j": lambda viewer, job: viewer.usage(job)[2],
    "warnings": warnings_of,
    "estimate_basis": _estimate_basis,
    "time_limit_s": lambda _, job: job.spec.time_limit_s,
    "begin_at": lambda _, job: iso(job.spec.begin_at),
    "index": lambda _, job: job.spec.index,
    "max_running": lambda _, job: job.spec.max_running,
    "position": lambda viewer, job: viewer.place(job),
    "held_by": lambda _, job: job.status.by if isinstance(job.status, Held) else None,
}


def checked_fields(words: str | None) -> list[str] | None:
    if not words:
        return None
    names = words.split(",")
    if unknown := [name for name in names if name not in FIELDS]:
        raise UserError(f"a job has no field {unknown[0]!r}", hint=f"fields are: {', '.join(FIELDS)}")
    return names
