"""Jobs that do not run: submit, hold, release, retry, move, edit, and begin times."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop
from itertools import count, repeat
from math import inf
from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.changes import StoryLine
from tarmac.core.events import JobEdited, JobMoved, JobsHeld, JobsLabelled, JobsReleased, JobsRetried, JobsSubmitted
from tarmac.core.handlers.queue.dependencies import end_if_hopeless, resolved
from tarmac.core.handlers.queue.retrying import retry
from tarmac.core.lines import others_in_line
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.core.positions import new_position, spread
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.model.status import Status
    from tarmac.core.state import State

WaitingEvent: TypeAlias = JobsSubmitted | JobsHeld | JobsReleased | JobsRetried | JobMoved | JobEdited | JobsLabelled


def change(state: State, event: WaitingEvent, now: float) -> None:
    match event:
        case JobsSubmitted():
            _submit(state, event, now)
        case JobsHeld():
            _hold(state, event, now)
        case JobsReleased():
            _release(state, event, now)
        case JobsRetried():
            retry(state, event, now)
        case JobMoved():
            _move(state, event, now)
        case JobEdited():
            _edit(state, event, now)
        case JobsLabelled():
            _label(state, event, now)
        case _:
            assert_never(event)


def _submit(state: State, event: JobsSubmitted, now: float) -> None:
    first = state.next_id
    group = JobId(first) if event.is_group else None
    entry: Status = Queued()
    if event.entry != "queued":
        entry = Draft() if event.entry == "draft" else Held(by=event.by, since=now)
    ended = dict(event.ended)
    jobs = [
        Job(
            id=JobId(number),
            spec=resolved(state, spec, first, ended) if spec.after else spec,
            submitted_at=now,
            position=number,
            status=entry,
            group=group,
            index=index,
        )
        for number, spec, index in zip(count(first), event.specs, event.indices or repeat(None), strict=False)
    ]
    state.next_id = first + len(jobs)
    state.accept(jobs)
    for job in jobs:
        if job.spec.after:
            end_if_hopeless(state, job, ended, now)


def _hold(state: State, event: JobsHeld, now: float) -> None:
    for number in event.jobs:
        job = state.jobs.get(number)
        if job is not None and isinstance(job.status, Queued):
            enter(state, job, Held(by=event.by, since=now), "JobsHeld", now, {"by": event.by})


def _release(state: State, event: JobsReleased, now: float) -> None:
    for number in event.jobs:
        job = state.jobs.get(number)
        if job is not None and isinstance(job.status, Held | Draft):
            enter(state, job, Queued(since=now), "JobsReleased", now, {"by": event.by})


def _edit(state: State, event: JobEdited, now: float) -> None:
    ended = dict(event.ended)
    edits = []
    for number, spec in ((event.job, event.spec), *event.more):
        job = state.jobs.get(number)
        if job is not None and isinstance(job.status, Queued | Held | Draft):
            edits.append((job, resolved(state, spec, 0, ended) if spec.after else spec))
    state.edit_many(edits)
    for job, _ in edits:
        tell(state, job, "JobEdited", now, {"by": event.by})
    for job, _ in edits:
        if job.spec.after:
            end_if_hopeless(state, job, ended, now)


def _label(state: State, event: JobsLabelled, now: float) -> None:
    """A job that has ended is only stored anew: nothing else looks at it."""
    for job in event.jobs:
        live = state.jobs.get(job.id)
        if live is not None:
            state.relabel(live, job.spec)
        else:
            state.changes.relabelled[job.id] = job
        line = StoryLine(job=job.id, attempt=job.attempt, at=now, kind="JobsLabelled", detail={"by": event.by})
        state.changes.story.append(line)


def _move(state: State, event: JobMoved, now: float) -> None:
    """Place the job between two neighbours in its owner's order. Its priority changes only where it must."""
    job = state.jobs.get(event.job)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        return
    others = others_in_line(state, job, event.place)
    place = min(event.place - 1, len(others))
    before = state.jobs[others[place - 1]] if place > 0 else None
    behind = state.jobs[others[place]] if place < len(others) else None
    priority = _priority_between(job, before, behind)
    if priority != job.spec.priority:
        state.edit(job, replace(job.spec, priority=priority))
    low = before.position if before is not None and before.spec.priority == priority else -inf
    high = behind.position if behind is not None and behind.spec.priority == priority else inf
    position = new_position(job, low, high)
    if position is None:
        line = (state.jobs[number] for number in others_in_line(state, job))
        spread(state, [other for other in line if other.spec.priority == priority])
        _move(state, event, now)
        return
    state.put(job, position)
    tell(state, job, "JobMoved", now, {"by": event.by, "place": place + 1})


def pass_time(state: State, now: float) -> bool:
    """Queue the jobs whose begin time has come. True if there are any."""
    has_any = False
    while state.timers and state.timers[0][0] <= now:
        _, number = heappop(state.timers)
        job = state.blocked.pop(number, None)
        if job is not None:
            has_any = True
            state.enqueue([job], now)
    return has_any


def turn_back(state: State, now: float) -> None:
    """The clock was set back: begin times that had come are ahead again. Waits between attempts do not grow."""
    early = [job for job in state.jobs.values() if isinstance(job.status, Queued) and (job.not_before or now) > now]
    for job in early:
        state.dequeue(job)
        shortened = job.status.with_wait_from(now) if isinstance(job.status, Queued) else job.status
        if shortened != job.status:
            job.status = shortened
            state.changes.changed[job.id] = job
    state.enqueue(early, now)


def _priority_between(job: Job, before: Job | None, behind: Job | None) -> int:
    priority = job.spec.priority
    if behind is not None and priority > behind.spec.priority:
        return behind.spec.priority
    if before is not None and priority < before.spec.priority:
        return before.spec.priority
    return priority
