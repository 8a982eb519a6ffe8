"""A broken environment must not burn a whole queue overnight: after many quick failures in a row it pauses itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import Notify
from tarmac.core.model.queue import Mode
from tarmac.core.model.status import Failed, Succeeded, Unknown

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


def count_end(state: State, job: Job, now: float) -> list[Notify]:
    """Once for every attempt that ended by itself."""
    status = job.status
    if not isinstance(status, Succeeded | Failed | Unknown):
        return []
    if not isinstance(status, Failed) or not _was_quick(status, state.rules.fail_fast_s):
        state.failures.clear()
        return []
    state.failures.append(job.id)
    most = state.rules.pause_after_failures
    if not most or len(state.failures) < most or state.mode.is_paused:
        return []
    reason = (
        f"{len(state.failures)} jobs in a row failed within {state.rules.fail_fast_s:g} s of their start,"
        f" the last was job {job.id} ({_how(status)})"
    )
    state.failures.clear()
    state.set_mode(Mode(is_paused=True, is_draining=state.mode.is_draining, by=None, reason=reason, since=now))
    return [Notify(what="queue-paused", message=f"the queue is paused: {reason}", job=job.id)]


def _was_quick(status: Failed, within_s: float) -> bool:
    return status.started_at is None or status.ended_at - status.started_at <= within_s


def _how(status: Failed) -> str:
    if status.reason == "exit":
        return f"exit code {status.exit_code}"
    return f"signal {status.signal}" if status.reason == "signal" else status.message or status.reason
