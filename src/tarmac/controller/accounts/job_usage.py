"""What a job took: the stored use of its attempts that are over, and that of the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.accounts.rollup import release_now, usage_of
from tarmac.store.accounts import Usage

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job


def usage_so_far(controller: Controller, job: Job) -> Usage:
    if job.attempt == 0 or job.spec.request.gpus == 0:
        return Usage(job.id)
    past, current = controller.store.reader.usage(job.id), _current(controller, job)
    return past or Usage(job.id) if current is None else current if past is None else _both(past, current)


def _current(controller: Controller, job: Job) -> Usage | None:
    """Of the attempt that runs, or that has ended and is being written."""
    release, book = release_now(controller.state, job, controller.now()), controller.usage.book(job.id, job.attempt)
    if release is not None:
        return usage_of(release, book)
    return book.total(job.id) if book.work else None


def _both(past: Usage, current: Usage) -> Usage:
    peaks = [one.peak_gpu_memory_bytes for one in (past, current) if one.peak_gpu_memory_bytes is not None]
    energies = [one.energy_j for one in (past, current) if one.energy_j is not None]
    measured_s, used_s = past.measured_s + current.measured_s, past.used_s + current.used_s
    return Usage(
        current.job,
        max(peaks, default=None),
        round(100 * used_s / measured_s, 1) if measured_s else past.utilization,
        round(sum(energies), 1) if energies else None,
        held_s=past.held_s + current.held_s,
        pause_s=past.pause_s + current.pause_s,
        measured_s=measured_s,
        used_s=used_s,
    )
