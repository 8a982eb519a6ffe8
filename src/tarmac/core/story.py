"""Every change of a job goes through here: it is checked against the table of transitions and recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tarmac.core import transitions
from tarmac.core.changes import StoryLine
from tarmac.core.model.status import state_name
from tarmac.core.transitions import ImpossibleTransition, story_text

if TYPE_CHECKING:
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Status
    from tarmac.core.state import State


def enter(state: State, job: Job, status: Status, cause: str, now: float, detail: dict[str, Any]) -> None:
    try:
        transitions.check(state_name(job.status), cause, state_name(status), job.id)
    except ImpossibleTransition as error:
        lines = [line for line in state.changes.story if line.job == job.id]
        error.add_story(story_text(line.at, line.attempt, line.kind, line.detail) for line in lines)
        raise
    state.enter(job, status)
    tell(state, job, cause, now, detail)


def tell(state: State, job: Job, kind: str, now: float, detail: dict[str, Any]) -> None:
    state.changes.story.append(StoryLine(job=job.id, attempt=job.attempt, at=now, kind=kind, detail=detail))
    state.changes.changed[job.id] = job
