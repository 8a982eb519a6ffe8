"""The attempts of a job: those that ended, from the store, and the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.job import AttemptView, GpuRef
from tarmac.api.wording.notes import ending_words
from tarmac.api.wording.times import iso
from tarmac.controller.log_paths import is_elsewhere, stdout_path
from tarmac.controller.submit.gpu_names import name_with
from tarmac.core.model.attempt import Attempt, attempt_of, end_of
from tarmac.core.model.status import (
    Cancelled,
    Failed,
    Succeeded,
    Unknown,
    holds_booking,
    is_ended,
    paused_s_of,
    state_name,
)
from tarmac.store.rows import StoredAttempt

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking
    from tarmac.store.accounts import Usage


def attempt_views(controller: Controller, job: Job, usage: Usage) -> list[AttemptView]:
    """The first one first. `usage`: of the job so far."""
    ended = controller.store.reader.attempts(job.id)
    views = [_ended(controller, job, one) for one in ended if one.attempt.number <= job.attempt]
    is_known = any(one.attempt.number == job.attempt for one in ended)
    if not is_known and (last := _last_by_status(job)) is not None:  # it ended before attempts were stored
        views.append(_ended(controller, job, StoredAttempt(last, usage.peak_gpu_memory_bytes, None, None)))
    elif not is_known and (booking := holds_booking(job.status)) is not None:
        views.append(_current(controller, job, booking))
    return views


def _last_by_status(job: Job) -> Attempt | None:
    status = job.status
    if not isinstance(status, Succeeded | Failed | Cancelled | Unknown) or not is_ended(status):
        return None
    if status.booking is None or status.ended_at is None:
        return None
    return attempt_of(job.id, job.attempt, status.booking, status, end_of(status), status.ended_at)


def _ended(controller: Controller, job: Job, stored: StoredAttempt) -> AttemptView:
    attempt = stored.attempt
    return AttemptView(
        attempt=attempt.number,
        state=attempt.end,
        reason=attempt.reason,
        exit_code=attempt.exit_code,
        signal=attempt.signal,
        node=attempt.booking.node,
        gpus=_gpus(controller, attempt.booking),
        started_at=iso(attempt.started_at),
        ended_at=iso(attempt.ended_at),
        elapsed_s=_ran_s(attempt),
        pause_s=round(attempt.paused_s, 3),
        peak_gpu_memory_bytes=stored.peak_gpu_memory_bytes,
        log_path=_log_path(controller, job, attempt.number, attempt.booking.node),
        message=ending_words(attempt.message),
        error_line=attempt.error_line,
    )


def _log_path(controller: Controller, job: Job, attempt: int, node: str) -> str | None:
    if is_elsewhere(job):
        return None
    return controller.nodes.path_on(node, stdout_path(controller.state_folder, job, attempt))


def _ran_s(attempt: Attempt) -> float | None:
    """Without pauses."""
    if attempt.started_at is None:
        return None
    return max(0.0, attempt.ended_at - attempt.started_at - attempt.paused_s)


def _current(controller: Controller, job: Job, booking: Booking) -> AttemptView:
    elapsed_s = controller.state.runtimes.elapsed_s(job, controller.now())
    return AttemptView(
        attempt=job.attempt,
        state=state_name(job.status),
        reason=None,
        exit_code=None,
        signal=None,
        node=booking.node,
        gpus=_gpus(controller, booking),
        started_at=iso(getattr(job.status, "started_at", None)),
        ended_at=None,
        elapsed_s=None if elapsed_s is None else round(elapsed_s, 3),
        pause_s=round(paused_s_of(job.status, controller.now()), 3),
        peak_gpu_memory_bytes=controller.usage.book(job.id, job.attempt).total(job.id).peak_gpu_memory_bytes,
        log_path=_log_path(controller, job, job.attempt, booking.node),
        message=None,
        error_line=None,
    )


def _gpus(controller: Controller, booking: Booking) -> list[GpuRef]:
    """With the indices of their time."""
    nodes = controller.state.nodes
    return [
        GpuRef(node=name, index=gpu.index, uuid=gpu.uuid, name=name_with(name, gpu.index, gpu.uuid, nodes))
        for name, gpu in booking.gpus_by_node()
    ]
