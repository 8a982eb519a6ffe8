"""Pauses the queue after many quick failures in a row: a broken environment must not burn it overnight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.commands import Notify
from tarmac.core.model.note import note
from tarmac.core.model.queue import Mode
from tarmac.core.model.status import Failed, Succeeded, Unknown

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.model.note import Value
    from tarmac.core.state import State


def count_end(state: State, job: Job, now: float) -> list[Notify]:
    """Call once for every attempt that ended on its own."""
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
    reason = note(
        "paused.failures",
        count=len(state.failures),
        within_s=state.rules.fail_fast_s,
        job=job.id,
        reason=status.reason,
        detail=_detail(status),
    )
    state.failures.clear()
    state.set_mode(Mode(is_paused=True, is_draining=state.mode.is_draining, by=None, reason=reason, since=now))
    return [Notify(what="queue-paused", message=note("notice.queue_paused", reason=reason), job=job.id)]


def _was_quick(status: Failed, within_s: float) -> bool:
    return status.started_at is None or status.ended_at - status.started_at <= within_s


def _detail(status: Failed) -> Value:
    match status.reason:
        case "exit":
            return status.exit_code
        case "signal":
            return status.signal
        case _:
            return status.message
