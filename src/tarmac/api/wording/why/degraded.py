"""What is out of order: why jobs wait while nothing can be written, and why their states may be out of date.

While nothing can be written, that is the reason to show, not that their machine seems unreachable.
The failed commit discarded the controller's memory, and reports of machines are ignored until writing works again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.notes import words
from tarmac.api.wording.refusals import refusal
from tarmac.api.wording.times import at_clock
from tarmac.core.explain.reasons import NoNode
from tarmac.core.fit.closure import NodeAway
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued, holds_booking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.core.explain.reasons import Reason
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job


def degraded_words(controller: Controller) -> str | None:
    """Why nothing can be written at the moment, and since when."""
    if controller.degraded is None or (since := degraded_since(controller)) is None:
        return None
    problem = refusal(controller.degraded).message
    return say("server.degraded", problem=problem, since=at_clock(since, controller.now()))


def degraded_since(controller: Controller) -> float | None:
    seconds = controller.degraded_s
    return None if seconds is None else controller.now() - seconds


def stale_words(controller: Controller, job: Job) -> str | None:
    """Why the state of a job that runs may be out of date."""
    booking = holds_booking(job.status)
    if booking is None:
        return None
    if (problem := degraded_words(controller)) is not None:
        return say("job.stale_unwritten", problem=problem)
    for name in booking.nodes:
        if (away := away_words(controller, name)) is not None:
            return say("job.stale_away", away=away)
    silent = [(seconds, name) for name in booking.nodes if (seconds := controller.fleet.silent_s(name)) is not None]
    if not silent:
        return None
    seconds, name = max(silent)
    return say("agent.silent_for", node=name if booking.others else None, seconds=seconds)


def away_words(controller: Controller, node: NodeName) -> str | None:
    """That a node cannot be reached, and since when. Its jobs may well go on there."""
    if controller.fleet.get(node) is None:
        return say("node.away_removed", node=node)
    seconds, now = controller.fleet.away_s(node), controller.now()
    return None if seconds is None else say("node.away", node=node, since=at_clock(now - seconds, now))


def wait_words(controller: Controller, numbers: Sequence[int]) -> str | None:
    """Why none of these jobs may end for a while, if it is not their own work or turn."""
    if (problem := degraded_words(controller)) is not None:
        return say("wait.unwritten", problem=problem)
    jobs = [job for number in numbers if (job := controller.state.jobs.get(JobId(number))) is not None]
    mode, now = controller.state.mode, controller.now()
    if mode.is_paused and any(isinstance(job.status, Queued) for job in jobs):
        since = None if mode.since is None else at_clock(mode.since, now)
        return say("wait.paused", by=mode.by or "Tarmac", since=since, reason=words(mode.reason))
    suspended = [job for job in jobs if isinstance(job.status, Queued) and job.spec.owner in controller.state.suspended]
    if suspended:
        owner = suspended[0].spec.owner
        return say("waiting.suspended", owner=owner, reason=words(controller.state.suspended[owner].reason))
    held = [job.id for job in jobs if isinstance(job.status, Held | Draft)]
    if held and len(held) == len(jobs):
        return say("wait.held", jobs=held, first=held[0])
    booked = (booking for job in jobs if (booking := holds_booking(job.status)) is not None)
    away = {name for booking in booked for name in booking.nodes}
    lost = sorted(name for name in away if not controller.fleet.is_connected(name))
    if lost:
        return say("wait.node_away", node=lost[0])
    fetched = [number for number in numbers if controller.fetches.is_under_way(number)]
    record = controller.fetches.of(fetched[0]) if fetched and not jobs else None
    return None if record is None else say("wait.fetch", job=record.job, node=record.node)


def silent_words(controller: Controller) -> str | None:
    """Which agent does not answer, or which node with jobs is away, and how old what it said is."""
    silent = [(session.name, session.silent_s) for session in controller.fleet if session.silent_s is not None]
    if not silent:
        return _away_with_jobs(controller)
    name, seconds = max(silent, key=lambda one: one[1] or 0)
    node = name if len(list(controller.fleet)) > 1 else None
    return say("agent.silent_for", node=node, seconds=seconds)


def _away_with_jobs(controller: Controller) -> str | None:
    """Which node with jobs cannot be reached."""
    for session in controller.fleet:
        away = None if session.is_connected else away_words(controller, session.name)
        node = controller.state.nodes.get(session.name)
        if away is not None and node is not None and node.host:
            return say("nodes.away_with_jobs", away=away, jobs=list(node.host))
    return None


def unwritten(controller: Controller, job: Job) -> str | None:
    """What a queued job waits for while nothing can be written."""
    if controller.degraded is None or not isinstance(job.status, Queued):
        return None
    return say("waiting.unwritten", problem=degraded_words(controller))


def still_true(controller: Controller, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """The reasons without those that only follow from the failed write."""
    if controller.degraded is None:
        return reasons
    return tuple(reason for reason in reasons if not isinstance(reason, NoNode | NodeAway))
