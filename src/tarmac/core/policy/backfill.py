"""Wide jobs do not starve: the first that does not fit gets a planned start, and nothing later may delay it.

The plan rests on the ends of what runs. Where no end is known, GPUs are kept back once the job has waited for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.job import Request
from tarmac.core.model.status import Queued, Stopping
from tarmac.core.policy.fit_cache import EarliestStarts
from tarmac.core.policy.gpu_fit import OutsideUse, Taken, has_conditions, refusal_of, suits
from tarmac.core.policy.placement import EVERYTHING, chosen_gpus, fitting_gpus, is_short_of_memory
from tarmac.core.policy.reservations import in_the_way
from tarmac.core.policy.what_if import without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.core.forecast.runtimes import End
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import GpuUuid, JobId, NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.node import Node
    from tarmac.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class EarliestStart:
    """When and on which GPUs of one node a request could start."""

    at: float | None  # None: some of the ends cannot be known
    gpus: tuple[GpuUuid, ...]  # none: never as the node is now
    free: int = 0  # of these, now
    rests_on: frozenset[str] = frozenset()
    good_until: float = inf  # an expectation that is not met by then was wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStart:
    """What is kept for the job that waits in front."""

    job: JobId
    node: NodeName
    gpus: frozenset[GpuUuid]
    at: float | None  # None: kept back because it has waited for long
    rests_on: frozenset[str]
    asks_host: bool

    @property
    def not_before(self) -> float | None:
        """Whoever is over by then is not in its way. Whoever is stopping may be gone long before its grace is."""
        return None if "stop" in self.rests_on else self.at


NOWHERE = EarliestStart(at=None, gpus=())
Hope: TypeAlias = tuple[int, float, int, "GpuUuid", "frozenset[str]", float]  # kind, when, index, GPU, why, good until
WHOLE_GPU = Request()
MOST_OVERDUE = 8  # that are looked at in one pass


class Exclusions:
    """What a job may not use although it is free: the claim of one in front, and others' reservations."""

    def __init__(self, state: State, job: Job, now: float, claim: PlannedStart | None) -> None:
        self._state = state
        self._job = job
        self._now = now
        self._claim = claim if is_bound_by(state, job, now, claim) else None
        self._end = state.durations.end_if_started(job.spec, now)

    def off(self, node: Node) -> frozenset[GpuUuid]:
        reserved = self.reserved(node)
        if self._claim is None:
            return reserved
        claimed = OffClaim(self._claim, self._job.spec.request).off(node)
        return claimed if claimed is EVERYTHING else reserved | claimed

    def reserved(self, node: Node) -> frozenset[GpuUuid]:
        if not self._state.reservations:
            return frozenset()
        others = in_the_way(self._state, self._job.spec, node.name, self._now, self._end)
        return frozenset(gpu for one in others for gpu in one.gpus)


class OffClaim:
    """What a claim keeps from a job that would not be over in time."""

    def __init__(self, claim: PlannedStart, request: Request) -> None:
        self._claim = claim
        self._is_rival_for_host = claim.asks_host and bool(request.memory_bytes or request.cpus)

    def off(self, node: Node) -> frozenset[GpuUuid]:
        if node.name != self._claim.node:
            return frozenset()
        return EVERYTHING if self._is_rival_for_host else self._claim.gpus


def is_bound_by(state: State, job: Job, now: float, claim: PlannedStart | None) -> bool:
    """It is not for this job, and started now, the job would not be gone when it is due."""
    if claim is None or claim.job == job.id:
        return False
    end = state.durations.end_if_started(job.spec, now)
    return claim.not_before is None or end is None or end > claim.not_before


def overdue(state: State, now: float) -> list[Job]:
    """Who was passed for long since their turn came, the longest first. Where turns do not go round, nobody is."""
    if state.rules.policy == "fifo" or not state.passed_since:
        return []
    since = islice(state.passed_since.items(), MOST_OVERDUE)
    jobs = [state.jobs[job] for job, at in since if now - at >= state.rules.starvation_s]
    return [job for job in jobs if _is_in_front(state, job)]


def _is_in_front(state: State, job: Job) -> bool:
    """Of its owner's own, and nobody of a higher tier waits."""
    own = state.queue.owners.get(job.spec.owner)
    if own is None or own.turn()[3] != job.id:
        return False
    return all(queue.turn()[0] >= own.turn()[0] for queue in state.queue.owners.values())


def claim_for(state: State, job: Job, now: float) -> PlannedStart | None:
    if not job.spec.request.gpus:
        return None  # one slot is as wide as any other
    if state.leaving and (made := _claim_on_what_is_left(state, job, now)) is not None:
        return made
    prospects = prospects_for(state, job, now)
    known = [
        (prospect.at, number, name) for number, (name, prospect) in enumerate(prospects) if prospect.at is not None
    ]
    if known:
        at, number, name = min(known)
        return _claim(job, name, prospects[number][1], max(at, now))
    if now - waits_since(job) < state.rules.starvation_s:
        return None
    possible = [(-prospect.free, number) for number, (_, prospect) in enumerate(prospects) if prospect.gpus]
    if not possible:
        return None
    _, number = min(possible)
    return _claim(job, *prospects[number], None)


def _claim_on_what_is_left(state: State, job: Job, now: float) -> PlannedStart | None:
    """Others were asked to make room for it: just what they leave is kept, or they would leave for nothing."""
    leavers: dict[NodeName, list[Stopping]] = {}
    for number in sorted(state.leaving):
        status = state.jobs[number].status
        if isinstance(status, Stopping) and status.for_job == job.id:
            leavers.setdefault(status.booking.node, []).append(status)
    for name, leaving in leavers.items():
        node = without(state.nodes[name], leaves_by_itself(state, name, job))
        off = Exclusions(state, job, now, None).reserved(node)
        gpus = [gpu for gpu in fitting_gpus(node, job.spec.request, state.rules) or () if gpu.uuid not in off]
        if len(gpus) >= job.spec.request.gpus:
            chosen = tuple(gpu.uuid for gpu in chosen_gpus(node, gpus, job.spec.request))
            at = max(status.asked_at + status.grace_s for status in leaving)
            return _claim(job, name, EarliestStart(at=at, gpus=chosen, rests_on=frozenset({"stop"})), max(at, now))
    return None


def leaves_by_itself(state: State, node: NodeName, job: Job) -> list[JobId]:
    """Who is on the way out of the node, and leaves nothing that is promised to another job."""
    return [
        number for number in state.nodes[node].host if number in state.leaving and not _is_promised(state, number, job)
    ]


def _is_promised(state: State, number: JobId, job: Job) -> bool:
    """What it leaves is for whom it was asked to leave, while that one waits."""
    status = state.jobs[number].status
    for_job = status.for_job if isinstance(status, Stopping) else None
    other = None if for_job is None or for_job == job.id else state.jobs.get(for_job)
    return other is not None and isinstance(other.status, Queued)


def waits_since(job: Job) -> float:
    since = job.status.since if isinstance(job.status, Queued) and job.status.since is not None else job.submitted_at
    return max(since, job.spec.begin_at or since)


def prospects_for(state: State, job: Job, now: float) -> list[tuple[NodeName, EarliestStart]]:
    """Node by node, reservations of others taken into account."""
    request = job.spec.request
    kept = _refreshed(state, request, now)
    if not state.reservations:
        return list(kept.items())
    bounds = Exclusions(state, job, now, None)
    return [
        (name, _prospect(state, node, request, now, off) if (off := bounds.reserved(node)) else kept[name])
        for name, node in state.nodes.items()
    ]


def _refreshed(state: State, request: Request, now: float) -> dict[NodeName, EarliestStart]:
    room = state.room
    known = room.prospects.get(request)
    if known is None:
        if len(room.prospects) > 64:
            room.prospects.clear()
        known = room.prospects[request] = EarliestStarts(seen=room.seen)
        stale: Iterable[NodeName] = state.nodes
    else:
        overdue = {name for name, prospect in known.of.items() if prospect.good_until < now}
        stale = room.touched_since(known.seen) | overdue
    for name in stale:
        known.of[name] = _prospect(state, state.nodes[name], request, now, frozenset())
    known.seen = room.seen
    return known.of


def _claim(job: Job, node: NodeName, prospect: EarliestStart, at: float | None) -> PlannedStart:
    request = job.spec.request
    return PlannedStart(
        job=job.id,
        node=node,
        gpus=frozenset(prospect.gpus),
        at=at,
        rests_on=prospect.rests_on,
        asks_host=bool(request.memory_bytes or request.cpus),
    )


def _prospect(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> EarliestStart:
    if not node.is_connected or not 0 < request.gpus <= len(node.gpus):
        return NOWHERE  # without GPUs, too: one slot is as wide as any other, so nothing is planned for it
    if request.is_shared or request.memory_bytes or request.cpus or node.slots:
        return _by_release(state, node, request, now, off)
    hopes = _hopes_for(state, node, request, now, off)[: request.gpus]
    if len(hopes) < request.gpus:
        return NOWHERE
    gpus = tuple(hope[3] for hope in hopes)
    free = sum(hope[0] == 0 for hope in hopes)
    good_until = min(hope[5] for hope in hopes)
    rests_on = frozenset().union(*(hope[4] for hope in hopes))
    is_known = hopes[-1][0] <= 1 and not is_short_of_memory(node, state.rules)
    return EarliestStart(
        at=hopes[-1][1] if is_known else None, gpus=gpus, free=free, rests_on=rests_on, good_until=good_until
    )


def _hopes_for(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> list[Hope]:
    """GPUs that suit, the best first. Who holds them is the same for all whole-GPU requests, so it is kept."""
    if request.idle_below is not None:
        hopes = sorted(_hopes(state, node, request, now))
    elif (kept := state.room.hopes_on(node.name, now)) is not None:
        hopes = kept
    else:
        hopes = state.room.hopes[node.name] = sorted(_hopes(state, node, WHOLE_GPU, now))
    has_instances = request.gpus > 1 and any(gpu.parent is not None for gpu in node.gpus.values())
    if not off and not has_instances and not has_conditions(request):
        return hopes
    return [hope for hope in hopes if hope[3] not in off and _suits(state, node.gpus[hope[3]], request)]


def _suits(state: State, gpu: Gpu, request: Request) -> bool:
    """Where GPUs are not named one by one, all of one model and size are alike."""
    if request.gpus_on or request.exclude_gpus or gpu.parent is not None:
        return suits(gpu, request, state.rules) is None
    alike = state.room.alike.setdefault(request, {})
    kind = (gpu.model, gpu.memory_total_bytes)
    known = alike.get(kind)
    if known is None:
        known = alike[kind] = suits(gpu, request, state.rules) is None
    return known


def _hopes(state: State, node: Node, request: Request, now: float) -> Iterable[Hope]:
    """Each GPU that could serve: free ones first, then by when they become free, then those of which nobody knows."""
    for gpu in node.gpus.values():
        reason = refusal_of(node, gpu, request, state.rules)
        if reason is None:
            yield (0, 0.0, gpu.index, gpu.uuid, frozenset(), inf)
        elif isinstance(reason, Taken):
            latest = _latest([state.durations.end_of(state.jobs[job], now) for job in reason.jobs])
            if latest is None:
                yield (2, 0.0, gpu.index, gpu.uuid, frozenset(), inf)
            else:
                at, rests_on, good_until = latest
                yield (1, at, gpu.index, gpu.uuid, rests_on, good_until)
        elif isinstance(reason, OutsideUse):
            yield (3, 0.0, gpu.index, gpu.uuid, frozenset(), inf)


def _latest(ends: list[End | None]) -> tuple[float, frozenset[str], float] | None:
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    latest = max(known, key=lambda end: end.at)
    expected = [end.at for end in known if end.rests_on == "history"]
    return latest.at, frozenset(end.rests_on for end in known), min(expected, default=inf)


def _by_release(state: State, node: Node, request: Request, now: float, off: frozenset[GpuUuid]) -> EarliestStart:
    """The general way, for parts of GPUs and of the host: let jobs end one after the other until it fits."""
    ends = {job: state.durations.end_of(state.jobs[job], now) for job in node.host}
    known = sorted((end.at, job) for job, end in ends.items() if end is not None)
    unknown = [job for job, end in ends.items() if end is None]
    gone: list[JobId] = []
    for at, job in [(0.0, None), *known, *((inf, job) for job in unknown)]:
        if job is not None:
            gone.append(job)
        fitting = fitting_gpus(without(node, gone), request, state.rules)
        gpus = [gpu for gpu in fitting or () if gpu.uuid not in off]
        if fitting is not None and len(gpus) >= request.gpus:
            chosen = tuple(gpu.uuid for gpu in chosen_gpus(node, gpus, request))
            used = [end for job in gone if (end := ends[job]) is not None]
            return EarliestStart(
                at=None if at == inf else at,
                gpus=chosen,
                free=sum(uuid not in node.booked for uuid in chosen),
                rests_on=frozenset(end.rests_on for end in used),
                good_until=min((end.at for end in used if end.rests_on == "history"), default=inf),
            )
    return NOWHERE
