"""What follows the end of an attempt: it is recorded, and its job ends, is requeued or is tried again.

All of it happens in the event that reports the end, hence in one commit: no retry is lost, and none is decided twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.core.model.attempt import attempt_of, end_of
from tarmac.core.model.status import Booked, Failed, Queued, Requeue, Stopping, Unknown
from tarmac.core.retries import grown, kind_of, may_retry, wait_s
from tarmac.core.story import tell

if TYPE_CHECKING:
    from tarmac.core.model.attempt import Ended
    from tarmac.core.model.job import Job
    from tarmac.core.model.names import AttemptEnd, RetryKind
    from tarmac.core.model.status import Status
    from tarmac.core.state import State


def status_after(
    state: State,
    job: Job,
    ended: Ended,
    now: float,
    *,
    requeue: Requeue | None = None,
    peak_bytes: int | None = None,
    is_by_warning: bool = False,
) -> Status:
    """The next status of the job.

    `requeue`: the attempt was stopped to run again. `peak_bytes`: of GPU memory. `is_by_warning`: the warning of its
    time limit ended it, which counts as reaching the limit.
    """
    _record(state, job, ended, requeue, now)
    if isinstance(ended, Failed) and kind_of(ended) == "oom":
        job.ooms += 1
    if requeue is not None:
        return Queued(since=now, requeued=requeue)
    if (_reached_its_limit(ended) or is_by_warning) and job.spec.requeue and job.spec.can_run_again:
        return Queued(since=now, requeued=Requeue(why="time_limit"))
    if not may_retry(job, _kind(job, ended)):
        return ended
    if isinstance(ended, Failed) and kind_of(ended) == "oom" and job.spec.on_oom == "grow":
        _grow(state, job, ended, peak_bytes, now)
    return _retry(state, job, ended, now)


def _record(state: State, job: Job, ended: Ended, requeue: Requeue | None, now: float) -> None:
    status = job.status
    assert isinstance(status, Booked)
    end: AttemptEnd = end_of(ended)
    if requeue is not None:
        end = "preempted" if requeue.why == "preempted" else "requeued"
    ended_at = now if ended.ended_at is None else ended.ended_at
    state.changes.attempts.append(attempt_of(job.id, job.attempt, status.booking, ended, end, ended_at))


def _reached_its_limit(ended: Ended) -> bool:
    return isinstance(ended, Failed) and ended.reason == "timeout"


def _kind(job: Job, ended: Ended) -> RetryKind | None:
    """An attempt that was lost while it was preempted was not stopped by a person."""
    if isinstance(ended, Unknown) and isinstance(job.status, Stopping) and job.status.requeue is not None:
        return "lost"
    return kind_of(ended)


def _grow(state: State, job: Job, ended: Failed, peak_bytes: int | None, now: float) -> None:
    before, after = job.spec.request, grown(state, job, ended, peak_bytes)
    if after == before:
        return
    state.edit(job, replace(job.spec, request=after))
    detail = {
        "gpu_memory_bytes": after.gpu_memory_bytes,
        "memory_bytes": after.memory_bytes,
        "peak_bytes": peak_bytes,
        "is_whole_gpu": before.is_shared and not after.is_shared,
    }
    tell(state, job, "RequestGrown", now, detail)


def _retry(state: State, job: Job, ended: Ended, now: float) -> Queued:
    seconds = wait_s(job, state.rules)
    job.retried += 1
    requeue = Requeue(why="failed", reason=ended.reason if isinstance(ended, Failed | Unknown) else None)
    if isinstance(ended, Failed) and ended.reason in {"exit", "signal"}:
        requeue = replace(requeue, detail=ended.exit_code if ended.reason == "exit" else ended.signal)
    retry_at = now + seconds if seconds else None
    return Queued(since=now, requeued=requeue, retry_at=retry_at, retry_wait_s=seconds)
