"""What running jobs print about their own progress: when they would be over.

Jobs print what they like. An end that cannot be true counts as none, so that other expectations apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.model.status import is_working

if TYPE_CHECKING:
    from tarmac.core.events import ProgressSeen
    from tarmac.core.state import State

FARTHEST_S = 365 * 86400.0  # the first step of a job may be slow, and its bar then shows years


def note_ends(state: State, event: ProgressSeen, now: float) -> None:
    for job_id, attempt, at in event.ends:
        job = state.jobs.get(job_id)
        if job is None or job.attempt != attempt or not is_working(job.status):
            continue
        is_possible = at is not None and now < at <= now + FARTHEST_S
        state.note_end_by_progress(job, at if is_possible else None)
