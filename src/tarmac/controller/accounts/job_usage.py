"""What a job took: the stored use of its attempts that are over, and that of the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.accounts.rollup import both, release_now, usage_of
from tarmac.store.accounts import Usage

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job


def has_usage(job: Job) -> bool:
    return job.attempt > 0 and job.spec.request.gpus > 0


def usage_so_far(controller: Controller, job: Job, stored: Usage | None) -> Usage:
    """`stored`: what the store says about attempts that are over."""
    if not has_usage(job):
        return Usage(job.id)
    past = controller.usage.being_written.get(job.id) or stored
    release = release_now(controller.state, job, controller.now())
    if release is None:
        return past or Usage(job.id)
    current = usage_of(release, controller.usage.book(job.id, job.attempt))
    return current if past is None else both(past, current)
