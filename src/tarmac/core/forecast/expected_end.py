"""When a running job ends, as every display says it, by the newest reading of its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.core.model.status import is_working
from tarmac.core.runtimes import End

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.state import State

Progress: TypeAlias = "Mapping[JobId, float]"  # when jobs end by the progress that they print
NO_PROGRESS: Progress = {}


def expected_end(state: State, job: Job, now: float, progress: Progress) -> End | None:
    """Its progress says more than how long earlier jobs took, but a time limit holds whatever it says."""
    end = state.runtimes.end_of(job, now)
    by_progress = progress.get(job.id)
    if by_progress is None or not is_working(job.status):
        return end
    if end is not None and end.rests_on == "limit" and end.at <= by_progress:
        return end
    return End(at=max(now, by_progress), rests_on="progress")
