"""Which notifications a decision causes: the events of jobs whose owners asked for them, and those of the queue.

Called for every decision, before its commit: the notifications are committed with what they report. A decision about
jobs without notifications costs one look at each of its lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.core.commands import Notify
from tarmac.core.model.note import Note
from tarmac.core.model.status import Failed, Queued, Unknown, is_ended, state_name
from tarmac.shared.names import QUEUE_EVENTS
from tarmac.store.outbox import Notification

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tarmac.controller.notify.targets import Subscription
    from tarmac.core.changes import Changes, StoryLine
    from tarmac.core.commands import Command
    from tarmac.core.model.attempt import Attempt
    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Status
    from tarmac.core.state import State

OUT_OF_MEMORY = ("oom-gpu", "oom-host")


def notifications(
    changes: Changes,
    commands: Iterable[Command],
    state: State,
    subscriptions: Sequence[Subscription],
    now: float,
    due_at: float,
) -> list[Notification]:
    found = [one for line in changes.story for one in _of_line(line, changes, now, due_at)]
    found += [one for attempt in changes.attempts for one in _of_attempt(attempt, changes, now, due_at)]
    ended = [job for job in changes.changed.values() if is_ended(job.status)]
    for job in ended:
        found += _for_job(job, _events_of_end(job.status), now, due_at, end_detail(job))
    if subscriptions:
        for what, detail in _of_queue(commands, state, has_ended=bool(ended)):
            found += of_queue(subscriptions, what, detail, now, due_at)
    return found


def of_queue(
    subscriptions: Iterable[Subscription], event: str, detail: dict[str, Any], now: float, due_at: float
) -> Iterator[Notification]:
    """An event of the queue as a whole, for all targets that get it."""
    for owner, target, events in subscriptions:
        if event in events:
            yield Notification(owner=owner, target=target, at=now, event=event, job=None, detail=detail, due_at=due_at)


def _of_line(line: StoryLine, changes: Changes, now: float, due_at: float) -> Iterator[Notification]:
    job = changes.changed.get(line.job)
    if job is None or not job.spec.notify:
        return
    if line.kind == "JobStarted":
        yield from _for_job(job, ("start",), now, due_at, {**_base(job), **_booking(job.status)})
    elif line.kind == "Warned" and _is_about_idleness(line.detail.get("message")):
        detail = {**_base(job), **_booking(job.status), "message": plain(line.detail["message"])}
        yield from _for_job(job, ("idle",), now, due_at, detail)


def _of_attempt(attempt: Attempt, changes: Changes, now: float, due_at: float) -> Iterator[Notification]:
    """An attempt that failed, and after which the job is tried again. The end of the last one is the end of the job."""
    job = changes.changed.get(attempt.job)
    if job is None or not job.spec.notify or attempt.end not in {"failed", "unknown"}:
        return
    if not isinstance(job.status, Queued) and job.attempt <= attempt.number:
        return
    wait_s = job.status.retry_wait_s if isinstance(job.status, Queued) else 0.0
    retried = {"attempt": attempt.number, "state": attempt.end, "is_retried": True, "wait_s": wait_s}
    events = ("oom", "retry") if attempt.reason in OUT_OF_MEMORY else ("retry",)
    yield from _for_job(job, events, now, due_at, {**_base(job), **_end(attempt), **_booking(attempt), **retried})


def _is_about_idleness(message: object) -> bool:
    return isinstance(message, Note) and message.key == "warning.idle"


def _events_of_end(status: Status) -> tuple[str, ...]:
    """The words that cover this end, the most specific one first."""
    match status:
        case Failed(reason=reason) if reason in OUT_OF_MEMORY:
            return ("oom", "fail", "end")
        case Failed() | Unknown():
            return ("fail", "end")
        case _:
            return ("end",)


def _for_job(
    job: Job, events: Sequence[str], now: float, due_at: float, detail: dict[str, Any]
) -> Iterator[Notification]:
    """One for each target of the job, under the first of these words that its owner asked for."""
    spec = job.spec
    asked = next((event for event in events if event in spec.notify_on), None)
    if asked is None:
        return
    for target in spec.notify:
        yield Notification(
            owner=spec.owner, target=target, at=now, event=asked, job=job.id, detail=detail, due_at=due_at
        )


def _base(job: Job) -> dict[str, Any]:
    spec = job.spec
    return {"name": spec.name, "owner": spec.owner, "attempt": job.attempt, "index": job.index}


def end_detail(job: Job) -> dict[str, Any]:
    return {**_base(job), **_booking(job.status), **_end(job.status), "state": state_name(job.status)}


def _end(ended: Status | Attempt) -> dict[str, Any]:
    began_at, ended_at = getattr(ended, "started_at", None), getattr(ended, "ended_at", None)
    return {
        "reason": getattr(ended, "reason", None),
        "exit_code": getattr(ended, "exit_code", None),
        "signal": getattr(ended, "signal", None),
        "message": plain(getattr(ended, "message", None)),
        "error_line": getattr(ended, "error_line", None),
        "run_s": None if began_at is None or ended_at is None else max(0.0, ended_at - began_at),
    }


def _booking(status: Status | Attempt) -> dict[str, Any]:
    booking = getattr(status, "booking", None)
    if booking is None:
        return {}
    found = {"node": booking.node, "gpus": [gpu.index for gpu in booking.gpus]}
    return found | ({"nodes": list(booking.nodes)} if booking.others else {})


def plain(value: Note | str | None) -> Any:
    """A note as data."""
    return msgspec.to_builtins(value)


def _of_queue(commands: Iterable[Command], state: State, *, has_ended: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for command in commands:
        if isinstance(command, Notify) and command.what in QUEUE_EVENTS:
            yield command.what, {"message": plain(command.message)}
    if has_ended and _is_empty(state):
        yield "queue-empty", {}


def _is_empty(state: State) -> bool:
    """No job waits or runs. Jobs that a person holds back do not count."""
    return not state.queue and not state.blocked and not any(node.host for node in state.nodes.values())
