"""Jobs that do not run: submit, hold, release, retry, move, edit, and begin times."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop
from math import inf
from typing import TYPE_CHECKING, TypeAlias, assert_never

from tarmac.core.events import JobEdited, JobMoved, JobsHeld, JobsReleased, JobsRetried, JobsSubmitted
from tarmac.core.handlers.dependencies import end_if_hopeless, resolved
from tarmac.core.handlers.retrying import retry
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import Job
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.core.positions import new_position, spread
from tarmac.core.queue import turn_of
from tarmac.core.story import enter, tell

if TYPE_CHECKING:
    from tarmac.core.model.status import Status
    from tarmac.core.state import State

WaitingEvent: TypeAlias = JobsSubmitted | JobsHeld | JobsReleased | JobsRetried | JobMoved | JobEdited


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
        case _:
            assert_never(event)


def _submit(state: State, event: JobsSubmitted, now: float) -> None:
    first = state.next_id
    group = JobId(first) if event.is_array else None
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
        )
        for number, spec in enumerate(event.specs, first)
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
    job = state.jobs.get(event.job)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        return
    ended = dict(event.ended)
    state.edit(job, resolved(state, event.spec, 0, ended))
    tell(state, job, "JobEdited", now, {"by": event.by})
    end_if_hopeless(state, job, ended, now)


def _move(state: State, event: JobMoved, now: float) -> None:
    """Place the job between two neighbours in its owner's order. Its priority changes only where it must."""
    job = state.jobs.get(event.job)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        return
    others = own_line(state, job)
    place = min(event.place - 1, len(others))
    before = others[place - 1] if place > 0 else None
    behind = others[place] if place < len(others) else None
    priority = _priority_between(job, before, behind)
    if priority != job.spec.priority:
        state.edit(job, replace(job.spec, priority=priority))
    low = before.position if before is not None and before.spec.priority == priority else -inf
    high = behind.position if behind is not None and behind.spec.priority == priority else inf
    position = new_position(job, low, high)
    if position is None:
        spread(state, [other for other in others if other.spec.priority == priority])
        _move(state, event, now)
        return
    state.put(job, position)
    tell(state, job, "JobMoved", now, {"by": event.by, "place": place + 1})


def own_line(state: State, job: Job) -> list[Job]:
    """The other waiting jobs of its owner and tier, in their order."""
    line = [
        other
        for other in state.jobs.values()
        if other.id != job.id
        and isinstance(other.status, Queued)
        and other.spec.owner == job.spec.owner
        and other.spec.tier == job.spec.tier
    ]
    return sorted(line, key=turn_of)


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
