"""The limits of people, projects and the whole queue: which one is in the way, and by how much."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarmac.core.model import Held, Queued

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.model import Job, JobSpec, PerName, Rules
    from tarmac.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """`used` and `asked` together are more than `most`. `name` is the person or project it holds for."""

    limit: str
    name: str | None
    most: float
    used: float
    asked: float


def refusal_at_submit(state: State, specs: Sequence[JobSpec]) -> LimitReached | None:
    """What must not even be queued: too wide a job, or too many that wait."""
    rules = state.rules
    widest = max((spec.request.gpus for spec in specs), default=0)
    if rules.max_gpus_per_job and widest > rules.max_gpus_per_job:
        return LimitReached(limit="max_gpus_per_job", name=None, most=rules.max_gpus_per_job, used=0, asked=widest)
    if not (rules.max_queued or _is_set(rules.max_queued_per_user) or _is_set(rules.max_queued_per_project)):
        return None
    waiting = [job.spec for job in state.jobs.values() if isinstance(job.status, Queued | Held)]
    if rules.max_queued and len(waiting) + len(specs) > rules.max_queued:
        return LimitReached(limit="max_queued", name=None, most=rules.max_queued, used=len(waiting), asked=len(specs))
    owners = Counter(spec.owner for spec in waiting), Counter(spec.owner for spec in specs)
    projects = Counter(spec.project for spec in waiting), Counter(spec.project for spec in specs)
    return _too_many("max_queued_per_user", rules.max_queued_per_user, *owners) or _too_many(
        "max_queued_per_project", rules.max_queued_per_project, *projects
    )


def reached(state: State, job: Job, now: float) -> LimitReached | None:
    """Why its owner or project may not start this one now."""
    return next(_reached(state, job, now), None)


def _reached(state: State, job: Job, now: float) -> Iterator[LimitReached]:
    rules, ledger, spec = state.rules, state.ledger, job.spec
    gpus = gpus_asked(spec)
    if not gpus:
        return
    if rules.max_gpus_per_job and spec.request.gpus > rules.max_gpus_per_job:
        widest = rules.max_gpus_per_job
        yield LimitReached(limit="max_gpus_per_job", name=None, most=widest, used=0, asked=spec.request.gpus)
    for limit, most, name, used in (
        ("max_gpus_per_user", rules.max_gpus_per_user, spec.owner, ledger.gpus_of_owner),
        ("max_gpus_per_project", rules.max_gpus_per_project, spec.project, ledger.gpus_of_project),
    ):
        if name is not None and (bound := most(name)) and used.get(name, 0.0) + gpus > bound + 1e-9:
            yield LimitReached(limit=limit, name=name, most=bound, used=used.get(name, 0.0), asked=gpus)
    if bound := rules.gpu_hours_per_user(spec.owner):
        hours = ledger.week_hours(spec.owner, None, now)
        if hours >= bound:
            yield LimitReached(limit="gpu_hours_per_user", name=spec.owner, most=bound, used=hours, asked=0)
    if spec.project is not None and (bound := rules.gpu_hours_per_project(spec.project)):
        hours = ledger.week_hours(None, spec.project, now)
        if hours >= bound:
            yield LimitReached(limit="gpu_hours_per_project", name=spec.project, most=bound, used=hours, asked=0)


def gpus_asked(spec: JobSpec) -> float:
    """Shared cards count by their part, as far as it is known before the card is chosen."""
    share = spec.request.gpu_share
    return spec.request.gpus * (1.0 if share is None else share)


def has_limits(rules: Rules) -> bool:
    """Any that a start could be held up by."""
    per_name = (
        rules.max_gpus_per_user, rules.max_gpus_per_project, rules.gpu_hours_per_user, rules.gpu_hours_per_project,
    )  # fmt: skip
    return bool(rules.max_gpus_per_job) or any(map(_is_set, per_name))


def has_hour_limits(state: State) -> bool:
    return _is_set(state.rules.gpu_hours_per_user) or _is_set(state.rules.gpu_hours_per_project)


def _is_set(most: PerName) -> bool:
    return bool(most.default or most.of)


def _too_many(
    limit: str, most: PerName, waiting: Counter[str] | Counter[str | None], new: Counter[str] | Counter[str | None]
) -> LimitReached | None:
    for name, asked in new.items():
        if name is not None and (bound := most(name)) and waiting[name] + asked > bound:
            return LimitReached(limit=limit, name=name, most=bound, used=waiting[name], asked=asked)
    return None
