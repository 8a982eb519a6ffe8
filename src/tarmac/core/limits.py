"""Limits of users, projects and the whole queue: which one is reached, and by how much."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.rules import PerName, Rules
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State

ROUNDING = 1e-9  # parts of GPUs are fractions


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """`used` and `asked` together are more than `most`. `name` is the user or project it applies to."""

    limit: str
    name: str | None
    most: float
    used: float
    asked: float


def refusal_at_submit(state: State, specs: Sequence[JobSpec]) -> LimitReached | None:
    """The limit that a submit exceeds: jobs that are too wide, or too many that wait."""
    rules = state.rules
    widest = max((spec.request.total_gpus for spec in specs), default=0)
    if rules.max_gpus_per_job and widest > rules.max_gpus_per_job:
        return LimitReached(limit="max_gpus_per_job", name=None, most=rules.max_gpus_per_job, used=0, asked=widest)
    if not (rules.max_queued or _is_set(rules.max_queued_per_user) or _is_set(rules.max_queued_per_project)):
        return None
    waiting = state.waiting_counts
    if rules.max_queued and waiting.total + len(specs) > rules.max_queued:
        return LimitReached(limit="max_queued", name=None, most=rules.max_queued, used=waiting.total, asked=len(specs))
    owners, projects = Counter(spec.owner for spec in specs), Counter(spec.project or "" for spec in specs)
    return _too_many("max_queued_per_user", rules.max_queued_per_user, waiting.of_owner, owners) or _too_many(
        "max_queued_per_project", rules.max_queued_per_project, waiting.of_project, projects
    )


def reached(state: State, job: Job, now: float) -> LimitReached | None:
    """The first limit that keeps the job from starting on any node."""
    return next(all_reached(state, job, now), None)


def all_reached(state: State, job: Job, now: float) -> Iterator[LimitReached]:
    """Every limit that is reached, so that a user who has one raised already knows the next."""
    if job.spec.request.gpus:
        yield from chain(_width(state, job), _at_once(state, job, gpus_asked(job.spec)), _in_a_week(state, job, now))


def reached_there(state: State, job: Job, booking: Booking) -> LimitReached | None:
    """The limit that a booking exceeds: what part of a GPU its memory is depends on the GPU."""
    return next(all_reached_there(state, job, booking), None)


def all_reached_there(state: State, job: Job, booking: Booking) -> Iterator[LimitReached]:
    if job.spec.request.gpu_memory_bytes is not None:
        yield from _at_once(state, job, sum(gpu.part for gpu in booking.all_gpus))


def _width(state: State, job: Job) -> Iterator[LimitReached]:
    most, asked = state.rules.max_gpus_per_job, job.spec.request.total_gpus
    if most and asked > most:
        yield LimitReached(limit="max_gpus_per_job", name=None, most=most, used=0, asked=asked)


def _at_once(state: State, job: Job, gpus: float) -> Iterator[LimitReached]:
    rules, ledger, spec = state.rules, state.ledger, job.spec
    for limit, most, name, counts in (
        ("max_gpus_per_user", rules.max_gpus_per_user, spec.owner, ledger.gpus_of_owner),
        ("max_gpus_per_project", rules.max_gpus_per_project, spec.project, ledger.gpus_of_project),
    ):
        bound = 0.0 if name is None else most(name)
        used = counts.get(name or "", 0.0)
        if bound and used + gpus > bound + ROUNDING:
            yield LimitReached(limit=limit, name=name, most=bound, used=used, asked=gpus)


def _in_a_week(state: State, job: Job, now: float) -> Iterator[LimitReached]:
    rules, ledger, owner, project = state.rules, state.ledger, job.spec.owner, job.spec.project
    if bound := rules.gpu_hours_per_user(owner):
        hours = ledger.week_hours_of_owner(owner, now)
        if hours >= bound:
            yield LimitReached(limit="gpu_hours_per_user", name=owner, most=bound, used=hours, asked=0)
    if project is not None and (bound := rules.gpu_hours_per_project(project)):
        hours = ledger.week_hours_of_project(project, now)
        if hours >= bound:
            yield LimitReached(limit="gpu_hours_per_project", name=project, most=bound, used=hours, asked=0)


def is_owner_done(limit: LimitReached) -> bool:
    """No job of this owner that asks for a GPU can start."""
    is_full = limit.used >= limit.most - ROUNDING
    return is_full and limit.limit in {"max_gpus_per_user", "gpu_hours_per_user"}


def gpus_asked(spec: JobSpec) -> float:
    """Shared GPUs count by their part. A request by memory counts 0: its part is unknown until a GPU is chosen."""
    request = spec.request
    if request.gpu_memory_bytes is not None:
        return 0.0
    return request.total_gpus * (1.0 if request.gpu_share is None else request.gpu_share)


def has_limits(rules: Rules) -> bool:
    """Is any limit set that can delay a start?"""
    users, projects = rules.max_gpus_per_user, rules.max_gpus_per_project
    user_hours, project_hours = rules.gpu_hours_per_user, rules.gpu_hours_per_project
    has_default = users.default or projects.default or user_hours.default or project_hours.default
    return bool(rules.max_gpus_per_job or has_default or users.of or projects.of or user_hours.of or project_hours.of)


def has_hour_limits(state: State) -> bool:
    return _is_set(state.rules.gpu_hours_per_user) or _is_set(state.rules.gpu_hours_per_project)


def _is_set(most: PerName) -> bool:
    return bool(most.default or most.of)


def _too_many(limit: str, most: PerName, waiting: Counter[str], new: Counter[str]) -> LimitReached | None:
    for name, asked in new.items():
        if name and (bound := most(name)) and waiting[name] + asked > bound:
            return LimitReached(limit=limit, name=name, most=bound, used=waiting[name], asked=asked)
    return None
