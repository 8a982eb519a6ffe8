"""Jobs that wait for other jobs: which of their dependencies are met, and which can no longer be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.note import note
from tarmac.core.model.status import Failed
from tarmac.core.story import enter

if TYPE_CHECKING:
    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.model.names import Outcome
    from tarmac.core.state import State


def settle(state: State, now: float) -> None:
    """Update the dependents of jobs that have ended. Those that end through this are handled in turn."""
    while state.just_ended:
        number = state.just_ended.pop()
        for waiting in sorted(state.dependents.get(number, ())):
            job = state.jobs[waiting]
            state.edit(job, resolved(state, job.spec, 0, {}))
            end_if_hopeless(state, job, {}, now)
    state.forget_old_outcomes()


def resolved(state: State, spec: JobSpec, first: int, ended: dict[JobId, Outcome]) -> JobSpec:
    """Resolve ids within the same submit, and mark the dependencies that are already met."""
    after = []
    for one in spec.after:
        number = JobId(first - one.job - 1) if one.job < 0 else one.job
        outcome = state.outcomes.get(number) or ended.get(number)
        is_met = one.is_met or (number not in state.jobs and _is_as_wanted(one, outcome))
        after.append(After(job=number, on=one.on, is_met=is_met))
    return replace(spec, after=tuple(after))


def end_if_hopeless(state: State, job: Job, ended: dict[JobId, Outcome], now: float) -> None:
    """A dependency that can no longer be met ends the job at once."""
    for after in job.spec.after:
        outcome = state.outcomes.get(after.job) or ended.get(after.job)
        is_open = after.job in state.jobs or after.is_met or _is_as_wanted(after, outcome)
        if not is_open and job.id in state.jobs:
            message = note("dependency.unmet", job=after.job, outcome=outcome, on=after.on)
            status = Failed(booking=None, pid=None, started_at=None, ended_at=now, reason="dependency", message=message)
            enter(state, job, status, "DependencyFailed", now, {"message": message})


def resolve_dependencies(state: State, job: Job, ended: dict[JobId, Outcome], now: float) -> None:
    """Look again at what a job waits for, when it returns to the queue."""
    if job.spec.after:
        state.edit(job, resolved(state, job.spec, 0, ended))
        end_if_hopeless(state, job, ended, now)


def _is_as_wanted(after: After, outcome: Outcome | None) -> bool:
    return outcome is not None and after.on in {"any", outcome}
