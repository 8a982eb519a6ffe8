"""The full answer to why a job waits: its place, its request, what is free, GPU by GPU, and its estimated start.

The functions that decide also give the reasons; nothing is decided here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.api.schemas.job.why import WhyFree, WhyGpu, WhyReason, WhyView
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import basis_words, words
from tarmac.api.wording.requested import requested_fields, requested_words
from tarmac.api.wording.times import at_clock, iso
from tarmac.api.wording.why.degraded import stale_words, still_true, unwritten
from tarmac.api.wording.why.reasons import (
    ahead_words,
    closed_words,
    gpu_words,
    grouped_lines,
    holders_of,
    kept_words,
    sentence,
    sentences,
)
from tarmac.api.wording.why.starting import start_lines
from tarmac.core.explain.explainer import Explainer
from tarmac.core.explain.reasons import (
    CpuSlotsTaken,
    HostBooked,
    KeptFor,
    OwnerSuspended,
    ReservedFor,
    RetryAt,
    TooFewGpus,
)
from tarmac.core.fit.closure import NodeDrained, closure
from tarmac.core.fit.gpu_fit import Taken, TooLittleMemory, refusal_of
from tarmac.core.forecast.expected_end import NO_PROGRESS, expected_end
from tarmac.core.forecast.queue_forecast import position_of
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Request
from tarmac.core.model.status import Paused as PausedJob
from tarmac.core.model.status import Queued, Running, Starting, Stopping, Unknown, holds_booking, state_name
from tarmac.core.policy.eligibility import Paused
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.controller.controller import Controller
    from tarmac.core.explain.reasons import Reason
    from tarmac.core.forecast.expected_end import Progress
    from tarmac.core.forecast.queue_forecast import Estimate
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.state import State

_IDLE = Request()
MOST_OWNERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuVerdict:
    node: NodeName
    index: int
    uuid: GpuUuid
    text: str
    jobs: tuple[JobId, ...]
    until: float | None  # when the last of these jobs is expected to end
    would_do: bool


def why_view(controller: Controller, job: Job) -> WhyView:
    state, now = controller.state, controller.now()
    forecast = controller.forecast.now(is_fresh=True)
    explainer = Explainer(state, now)
    reasons = with_estimates(still_true(controller, explainer.reasons(job)), forecast.estimates)
    not_kept = unwritten(controller, job)
    untold = [] if not_kept is None else [not_kept]
    hanging = start_lines(controller, job)
    is_queued = isinstance(job.status, Queued) and job.id in state.jobs
    has_gpus = is_queued and job.spec.request.gpus > 0
    nodes = [node for node in state.nodes.values() if has_gpus and job.spec.request.allows(node.name)]
    gpus = [gpu for node in nodes for gpu in gpus_of(explainer, node, job, forecast.progress)]
    soon = [say("waiting.about_to_start")] if is_queued and not (reasons or untold or hanging) else []
    ahead = position_of(state, job, now) - 1 if is_queued and job.id not in state.blocked else None
    estimate = forecast.estimates.get(job.id)
    return WhyView(
        id=job.id,
        state=state_name(job.status),
        position=forecast.places.get(job.id),
        ahead=ahead,
        asked=requested_fields(job.spec, state.nodes.values()),
        free=free_for(state, gpus),
        reasons=[
            *[WhyReason(kind="unwritten", text=text) for text in untold],
            *[WhyReason(kind=kind, text=text) for kind, text in hanging],
            *[reason_view(reason, now, len(state.nodes)) for reason in reasons],
            *[WhyReason(kind="about_to_start", text=text) for text in soon],
        ],
        gpus=[_gpu_view(gpu) for gpu in gpus],
        estimated_start=None if estimate is None else iso(estimate.start_at),
        estimate_basis=None if estimate is None else basis_words(estimate.rests_on),
        lines=[
            _title(job, ahead),
            say("why.requested", request=requested_words(job.spec, state.nodes.values(), now)),
            *_runs_line(state, job, now, forecast.progress),
            *_stale_lines(controller, job),
            *_free_lines(gpus, job),
            *untold,
            *[text for _, text in hanging],
            *sentences(reasons, now, len(state.nodes)),
            *soon,
            *paused_lines(state, reasons),
            *_gpu_lines(gpus, state),
            *_kept_lines(explainer, job, now, None if estimate is None else estimate.start_at),
            *_others_line(state, job, ahead),
            *_estimate_lines(estimate, now, is_queued=is_queued),
        ],
    )


def with_estimates(reasons: tuple[Reason, ...], estimates: Mapping[JobId, Estimate]) -> tuple[Reason, ...]:
    """Say the same about the start of another job as that job itself does."""
    return tuple(
        replace(reason, at=estimates[reason.job].start_at)
        if isinstance(reason, KeptFor) and reason.job in estimates
        else reason
        for reason in reasons
    )


def reason_view(reason: Reason, now: float, nodes: int) -> WhyReason:
    numbers: dict[str, Any] = msgspec.to_builtins(reason)
    if isinstance(reason, TooFewGpus):
        del numbers["gpus"]  # the answer lists them one by one
    if isinstance(reason, Paused | RetryAt | OwnerSuspended | NodeDrained):
        numbers["reason"] = words(reason.reason)
    kind_and_text = {"kind": _snake(type(reason).__name__), "text": sentence(reason, now, nodes)}
    return msgspec.convert(numbers | kind_and_text, WhyReason)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


# What is there


def free_for(state: State, gpus: list[GpuVerdict]) -> WhyFree:
    nodes = [node for node in state.nodes.values() if node.takes_jobs]
    idle = sum(
        refusal_of(node, gpu, _IDLE, state.rules) is None and uuid not in node.booked
        for node in nodes
        for uuid, gpu in node.gpus.items()
    )
    return WhyFree(
        gpus=sum(gpu.would_do for gpu in gpus),
        idle=idle,
        total=sum(len(node.gpus) for node in nodes),
        memory_available_bytes=sum(node.memory_available_bytes or 0 for node in nodes) or None,
    )


def gpus_of(explainer: Explainer, node: Node, job: Job, progress: Progress = NO_PROGRESS) -> list[GpuVerdict]:
    if not node.is_connected:
        return []
    kept = explainer.unavailable_gpus(job, node)
    return [_gpu(explainer, node, gpu, job, kept.get(gpu.uuid), progress) for gpu in node.gpus.values()]


def _gpu(
    explainer: Explainer, node: Node, gpu: Gpu, job: Job, kept: KeptFor | ReservedFor | None, progress: Progress
) -> GpuVerdict:
    state, now = explainer.state, explainer.now
    reason = refusal_of(node, gpu, job.spec.request, state.rules)
    closed = closure(node, job.spec.request)
    jobs = node.holders(gpu.uuid)
    ends = [expected_end(state, state.jobs[holder], now, progress) for holder in jobs]
    known = [end.at for end in ends if end is not None]
    if closed is not None:
        text = closed_words(closed)
    elif reason is None and kept is not None:
        text = say("gpu.free_but", kept=kept_words(kept, now))
    elif reason is None:
        text = say("gpu.available_shared", jobs=jobs) if jobs else say("gpu.available")
    elif isinstance(reason, Taken):
        text = say("clauses.several", clauses=[_holder(state, holder, now, progress) for holder in jobs])
    elif isinstance(reason, TooLittleMemory) and jobs:
        holders = [_holder(state, holder, now, progress) for holder in jobs]
        text = say("clauses.several", clauses=[gpu_words(reason, now), *holders])
    else:
        text = gpu_words(reason, now)
    if reason is not None and isinstance(kept, ReservedFor):
        text = say("clauses.several", clauses=[text, kept_words(kept, now)])
    return GpuVerdict(
        node=node.name,
        index=gpu.index,
        uuid=gpu.uuid,
        text=text,
        jobs=jobs,
        until=max(known) if known and len(known) == len(jobs) else None,
        would_do=reason is None and kept is None and closed is None,
    )


def _holder(state: State, number: JobId, now: float, progress: Progress) -> str:
    """Which job holds it, since when and until when."""
    job = state.jobs[number]
    since, until = _held_since(job, now), _held_until(state, job, now, progress)
    return say("run.holder", job=number, owner=job.spec.owner, since=since, until=until)


def _held_since(job: Job, now: float) -> str | None:
    match job.status:
        case Starting(decided_at=decided_at):
            return at_clock(decided_at, now)
        case Running() | Stopping() | Unknown():
            at = job.status.started_at
            return None if at is None else at_clock(at, now)
        case _:
            return None


def _held_until(state: State, job: Job, now: float, progress: Progress) -> str:
    end = expected_end(state, job, now, progress)
    if end is None and isinstance(job.status, PausedJob):
        return say("run.paused", since=at_clock(job.status.paused_at, now), by=job.status.by)
    if end is None:
        return say("run.until_unknown")
    at = at_clock(end.at, now)
    match end.rests_on:
        case "limit":
            return say("run.until_limit", at=at)
        case "stop":
            return say("run.until_stopped", at=at)
        case "progress":
            return say("run.until_progress", at=at)
        case _:
            return say("run.until_history", at=at)


def _gpu_view(gpu: GpuVerdict) -> WhyGpu:
    return WhyGpu(
        node=gpu.node, index=gpu.index, uuid=gpu.uuid, text=gpu.text, jobs=list(gpu.jobs), until=iso(gpu.until)
    )


# Lines


def _title(job: Job, ahead: int | None) -> str:
    place = None if ahead is None else ahead_words(ahead)
    spec = job.spec
    return say("why.title", job=job.id, name=spec.name, owner=spec.owner, state=state_name(job.status), place=place)


def _runs_line(state: State, job: Job, now: float, progress: Progress) -> list[str]:
    """Where a job with a booking is, since when and until when."""
    booking = holds_booking(job.status)
    if booking is None or job.id not in state.jobs:
        return []
    since, until = _held_since(job, now), _held_until(state, job, now, progress)
    lines = []
    for place in booking.places:
        indices = [gpu.index for gpu in place.gpus]
        gpus = say("gpu.list", indices=indices) if indices else None
        lines.append(say("run.place", node=place.node, gpus=gpus, since=since, until=until))
    return lines


def _stale_lines(controller: Controller, job: Job) -> list[str]:
    """Why the state of a job with a booking may be out of date."""
    text = stale_words(controller, job) if job.id in controller.state.jobs else None
    return [] if text is None else [text]


def _free_lines(gpus: list[GpuVerdict], job: Job) -> list[str]:
    if not gpus or not job.spec.request.gpus:
        return []
    free = sum(gpu.would_do for gpu in gpus)
    return [say("why.available", free=free, total=len(gpus))]


def _gpu_lines(gpus: list[GpuVerdict], state: State) -> list[str]:
    lines: list[str] = []
    for name in dict.fromkeys(gpu.node for gpu in gpus):
        own = [(_name(state, gpu), gpu.text) for gpu in gpus if gpu.node == name]
        lines += [f"  {line}" for line in grouped_lines(own, name, len(state.nodes))]
    return lines


def _name(state: State, gpu: GpuVerdict) -> int | GpuUuid:
    index = state.nodes[gpu.node].index_now(gpu.uuid)
    return gpu.uuid if index is None else index


def paused_lines(state: State, reasons: tuple[Reason, ...]) -> list[str]:
    """Paused jobs that hold what the job waits for."""
    holders = {JobId(job) for reason in reasons if isinstance(reason, TooFewGpus) for job in holders_of(reason.gpus)}
    short = [reason.node for reason in reasons if isinstance(reason, HostBooked | CpuSlotsTaken)]
    hosted = {job for node in short for job in state.nodes[node].host}
    paused = sorted(job for job in holders | hosted if isinstance(state.jobs[job].status, PausedJob))
    return [say("waiting.paused_jobs", jobs=paused)] if paused else []


def _kept_lines(explainer: Explainer, job: Job, now: float, estimated_at: float | None) -> list[str]:
    planned = explainer.planned_start(job)
    if planned is None:
        return []
    node, gpus = planned.node, len(planned.gpus)
    at = planned.shown_at if estimated_at is None else estimated_at
    if at is not None:
        return [say("why.held_back", node=node, gpus=gpus, at=at_clock(at, now))]
    if planned.is_overdue:
        return [say("why.held_back_overdue", node=node, gpus=gpus)]
    return [say("why.held_back_undated", node=node, gpus=gpus)]


def _others_line(state: State, job: Job, ahead: int | None) -> list[str]:
    """How the policy chooses between users, if it is not by priority alone."""
    if ahead is None or state.rules.policy == "fifo":
        return []
    others = [owner for owner in state.queue.owners if owner != job.spec.owner]
    if not others:
        return []
    shown = [*sorted(others)[:MOST_OWNERS], *(["…"] if len(others) > MOST_OWNERS else [])]
    return [say("why.other_owners", owners=shown, policy=state.rules.policy)]


def _estimate_lines(estimate: Estimate | None, now: float, *, is_queued: bool) -> list[str]:
    if estimate is not None:
        return [say("why.estimate", at=at_clock(estimate.start_at, now), basis=basis_words(estimate.rests_on))]
    return [say("why.no_estimate")] if is_queued else []
