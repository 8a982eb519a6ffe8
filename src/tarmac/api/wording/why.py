"""Why a job waits, whole: its place, what it asked for, what is free, GPU by GPU, and when it may start.

The same functions that decide are asked; nothing is decided here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.api.wording.degraded import still_true, unwritten
from tarmac.api.wording.formats import counted as count
from tarmac.api.wording.formats import size as gigabytes
from tarmac.api.wording.reasons import (
    ahead_words,
    grouped_lines,
    jobs_named,
    kept_words,
    said_of_gpu,
    sentence,
    sentences,
    spans,
)
from tarmac.api.wording.times import at_clock, iso
from tarmac.core.explain import Explainer, ReservedFor, TooFewGpus
from tarmac.core.fit.gpu_fit import Taken, TooLittleMemory, refusal_of
from tarmac.core.forecast.queue_forecast import position_of
from tarmac.core.model.job import Request
from tarmac.core.model.status import Queued, Running, Starting, Stopping, Unknown, holds_booking, state_name
from tarmac.shared.units import duration_words

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.explain import KeptFor, Reason
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.node import Node
    from tarmac.core.state import State

_IDLE = Request()


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuVerdict:
    node: NodeName
    index: int
    uuid: GpuUuid
    text: str
    jobs: tuple[JobId, ...]
    until: float | None  # when the last of these is expected to be gone
    would_do: bool


def why_view(controller: Controller, job: Job) -> dict[str, Any]:
    state, now = controller.state, controller.now()
    forecast = controller.forecast.now(is_fresh=True)
    explainer = Explainer(state, now)
    reasons = still_true(controller, explainer.reasons(job))
    not_kept = unwritten(controller, job)
    untold = [] if not_kept is None else [not_kept]
    is_queued = isinstance(job.status, Queued) and job.id in state.jobs
    has_gpus = is_queued and job.spec.request.gpus > 0
    gpus = [gpu for node in state.nodes.values() for gpu in gpus_of(explainer, node, job)] if has_gpus else []
    ahead = position_of(state, job, now) - 1 if is_queued and job.id not in state.blocked else None
    estimate = forecast.estimates.get(job.id)
    return {
        "id": job.id,
        "state": state_name(job.status),
        "position": forecast.places.get(job.id),
        "ahead": ahead,
        "asked": asked_of(job.spec),
        "free": free_for(state, gpus),
        "reasons": [
            *[{"kind": "unwritten", "text": text} for text in untold],
            *[reason_view(reason, now) for reason in reasons],
        ],
        "gpus": [_gpu_view(gpu) for gpu in gpus],
        "estimated_start": None if estimate is None else iso(estimate.start_at),
        "estimate_basis": None if estimate is None else estimate.basis,
        "lines": [
            _title(job, ahead),
            f"asked: {', '.join(asked_words(job.spec, now))}",
            *_runs_line(state, job, now),
            *_free_lines(gpus, job),
            *untold,
            *sentences(reasons, now),
            *_gpu_lines(gpus, state),
            *_kept_lines(explainer, job, now),
            *_others_line(state, job, ahead),
            *(
                [f"estimated start: ~{at_clock(estimate.start_at, now)}, resting on {estimate.basis}"]
                if estimate is not None
                else _no_estimate(is_queued=is_queued)
            ),
        ],
    }


def reason_view(reason: Reason, now: float) -> dict[str, Any]:
    numbers: dict[str, Any] = msgspec.to_builtins(reason)
    if isinstance(reason, TooFewGpus):
        del numbers["gpus"]  # these are told one by one
    return numbers | {"kind": _snake(type(reason).__name__), "text": sentence(reason, now)}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


# What was asked


def asked_of(spec: JobSpec) -> dict[str, Any]:
    """Whatever is not as it comes, under the names of a submit."""
    given = {name: value for name, value in msgspec.to_builtins(spec.request).items() if value not in (None, (), [], 0)}
    more = {"priority": spec.priority, "tier": spec.tier, "time_limit_s": spec.time_limit_s}
    return {"gpus": spec.request.gpus, **given, **{name: value for name, value in more.items() if value is not None}}


def asked_words(spec: JobSpec, now: float) -> list[str]:
    request = spec.request
    words = [count(request.gpus, "GPU") if request.gpus else "no GPU"]
    if request.gpu_memory_bytes is not None:
        words.append(f"{gigabytes(request.gpu_memory_bytes)} of each")
    if request.gpu_share is not None:
        words.append(f"{request.gpu_share * 100:g}% of each")
    if request.gpu_models:
        words.append(f"{' or '.join(request.gpu_models)}")
    if request.min_gpu_memory_bytes:
        words.append(f"GPUs of {gigabytes(request.min_gpu_memory_bytes)} or more")
    if request.gpus_on:
        words.append(f"only GPU {', '.join(map(str, request.gpus_on))}")
    if request.exclude_gpus:
        words.append(f"not GPU {', '.join(map(str, request.exclude_gpus))}")
    if request.memory_bytes:
        words.append(f"{gigabytes(request.memory_bytes)} of host memory")
    if request.cpus:
        words.append(count(request.cpus, "cpu"))
    words.append("no time limit" if spec.time_limit_s is None else f"at most {duration_words(spec.time_limit_s)}")
    if spec.begin_at is not None:
        words.append(f"not before {at_clock(spec.begin_at, now)}")
    return [*words, f"priority {spec.priority}", *([] if spec.tier == "normal" else [spec.tier])]


# What is there


def free_for(state: State, gpus: list[GpuVerdict]) -> dict[str, Any]:
    nodes = [node for node in state.nodes.values() if node.is_connected]
    idle = sum(
        refusal_of(node, gpu, _IDLE, state.rules) is None and uuid not in node.booked
        for node in nodes
        for uuid, gpu in node.gpus.items()
    )
    return {
        "gpus": sum(gpu.would_do for gpu in gpus),
        "idle": idle,
        "total": sum(len(node.gpus) for node in nodes),
        "memory_available_bytes": sum(node.memory_available_bytes or 0 for node in nodes) or None,
    }


def gpus_of(explainer: Explainer, node: Node, job: Job) -> list[GpuVerdict]:
    if not node.is_connected:
        return []
    kept = explainer.spoken_for(job, node)
    return [_gpu(explainer.state, node, gpu, job, explainer.now, kept.get(gpu.uuid)) for gpu in node.gpus.values()]


def _gpu(state: State, node: Node, gpu: Gpu, job: Job, now: float, kept: KeptFor | ReservedFor | None) -> GpuVerdict:
    reason = refusal_of(node, gpu, job.spec.request, state.rules)
    jobs = node.holders(gpu.uuid)
    ends = [state.runtimes.end_of(state.jobs[holder], now) for holder in jobs]
    known = [end.at for end in ends if end is not None]
    if reason is None and kept is not None:
        text = f"free, but {kept_words(kept, now)}"
    elif reason is None:
        text = "would do" if not jobs else f"would do, beside {jobs_named(jobs)}"
    elif isinstance(reason, Taken):
        text = "; ".join(_holder(state, holder, now) for holder in jobs)
    elif isinstance(reason, TooLittleMemory) and jobs:
        text = f"{said_of_gpu(reason, now)}; {'; '.join(_holder(state, holder, now) for holder in jobs)}"
    else:
        text = said_of_gpu(reason, now)
    if reason is not None and isinstance(kept, ReservedFor):
        text += f"; {kept_words(kept, now)}"
    return GpuVerdict(
        node=node.name,
        index=gpu.index,
        uuid=gpu.uuid,
        text=text,
        jobs=jobs,
        until=max(known) if known and len(known) == len(jobs) else None,
        would_do=reason is None and kept is None,
    )


_RESTS_ON = {
    "limit": "until {} at the latest (its limit)",
    "history": "until ~{} (as long as its last runs took)",
    "stop": "until {} at the latest (it is asked to stop)",
}


def _holder(state: State, number: JobId, now: float) -> str:
    """Held by whom, since when and until when."""
    job = state.jobs[number]
    return f"held by job {number} of {job.spec.owner}{_span(state, job, now)}"


def _span(state: State, job: Job, now: float) -> str:
    began = _held_since(job)
    since = "" if began is None else f" since {at_clock(began, now)}"
    end = state.runtimes.end_of(job, now)
    if end is None:
        return f"{since}, its end is not known"
    return f"{since}, {_RESTS_ON[end.rests_on].format(at_clock(end.at, now))}"


def _held_since(job: Job) -> float | None:
    match job.status:
        case Starting(decided_at=decided_at):
            return decided_at
        case Running() | Stopping() | Unknown():
            return job.status.started_at
        case _:
            return None


def _gpu_view(gpu: GpuVerdict) -> dict[str, Any]:
    return {
        "node": gpu.node,
        "index": gpu.index,
        "uuid": gpu.uuid,
        "text": gpu.text,
        "jobs": list(gpu.jobs),
        "until": iso(gpu.until),
    }


# Lines


def _title(job: Job, ahead: int | None) -> str:
    name = f" ({job.spec.name})" if job.spec.name else ""
    place = "" if ahead is None else f", {ahead_words(ahead)}"
    return f"job {job.id}{name} of {job.spec.owner}: {state_name(job.status)}{place}"


def _runs_line(state: State, job: Job, now: float) -> list[str]:
    """Of one that has its GPUs already: where, since when and until when."""
    booking = holds_booking(job.status)
    if booking is None or job.id not in state.jobs:
        return []
    where = f" GPU {spans([gpu.index for gpu in booking.gpus])}" if booking.gpus else ""
    return [f"it is on {booking.node}{where}{_span(state, job, now)}"]


def _free_lines(gpus: list[GpuVerdict], job: Job) -> list[str]:
    if not gpus or not job.spec.request.gpus:
        return []
    free = sum(gpu.would_do for gpu in gpus)
    return [f"free right now: {free} of {count(len(gpus), 'GPU')} would do"]


def _gpu_lines(gpus: list[GpuVerdict], state: State) -> list[str]:
    """One line for all GPUs of a node with the same to say; the node only where there are several."""
    lines: list[str] = []
    for name in dict.fromkeys(gpu.node for gpu in gpus):
        own = [(_name(state, gpu), gpu.text) for gpu in gpus if gpu.node == name]
        prefix = f"{name} " if len(state.nodes) > 1 else ""
        lines += [f"  {prefix}{line}" for line in grouped_lines(own)]
    return lines


def _name(state: State, gpu: GpuVerdict) -> int | GpuUuid:
    index = state.nodes[gpu.node].index_now(gpu.uuid)
    return gpu.uuid if index is None else index


def _kept_lines(explainer: Explainer, job: Job, now: float) -> list[str]:
    planned = explainer.planned
    if planned is None or planned.job != job.id:
        return []
    when = "because it has waited for long" if planned.at is None else f"for its start at ~{at_clock(planned.at, now)}"
    return [f"{count(len(planned.gpus), 'GPU')} of {planned.node} kept back for it, {when}; nothing later may delay it"]


def _others_line(state: State, job: Job, ahead: int | None) -> list[str]:
    """Where it is not priority alone that decides between people."""
    if ahead is None or state.rules.policy == "fifo":
        return []
    others = [owner for owner in state.queue.owners if owner != job.spec.owner]
    if not others:
        return []
    what = "fewest GPUs running" if state.rules.policy == "balance" else "fewest GPU-hours lately"
    who = ", ".join(sorted(others)[:5]) + (", …" if len(others) > 5 else "")
    return [f"jobs of {who} wait, too: whoever has the {what} for their share goes first (policy {state.rules.policy})"]


def _no_estimate(*, is_queued: bool) -> list[str]:
    return ["estimated start: not known"] if is_queued else []
