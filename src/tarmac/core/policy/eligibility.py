"""May a job start at all, before GPUs are considered? Checks the limits of its owner, project and array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.core.limits import reached
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.core.limits import LimitReached
    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import Job
    from tarmac.core.model.note import Note
    from tarmac.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The queue is paused: no job starts."""

    by: str | None
    reason: Note | str | None
    since: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFull:
    """The array already runs as many jobs as it may at once."""

    group: JobId
    most: int


def paused(state: State) -> Paused | None:
    mode = state.mode
    return Paused(by=mode.by, reason=mode.reason, since=mode.since) if mode.is_paused else None


def gate(state: State, job: Job, now: float) -> LimitReached | ArrayFull | None:
    """The same answer for every job of a class."""
    most = job.spec.max_running
    if most is not None and job.group is not None and len(state.groups.get(job.group, ())) >= most:
        return ArrayFull(group=job.group, most=most)
    return reached(state, job, now)
