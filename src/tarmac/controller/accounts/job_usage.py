"""What a job took: the stored use of its attempts that are over, and that of the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.accounts.rollup import both, release_now, usage_of
from tarmac.store.accounts import Usage

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job


def usage_so_far(controller: Controller, job: Job) -> Usage:
    if job.attempt == 0 or job.spec.request.gpus == 0:
        return Usage(job.id)
    past = controller.usage.being_written.get(job.id) or controller.store.reader.usage(job.id)
    release = release_now(controller.state, job, controller.now())
    if release is None:
        return past or Usage(job.id)
    current = usage_of(release, controller.usage.book(job.id, job.attempt))
    return current if past is None else both(past, current)
