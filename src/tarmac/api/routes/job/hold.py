"""Waiting jobs: hold, release, move and start them, and explain why they wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.routes.job.in_parts import Part, all_but_the_last_part, select_once
from tarmac.api.routes.job.jobs import find_job, jobs_at_work, selected_own
from tarmac.api.schemas.job.job import GpuRef
from tarmac.api.schemas.job.jobs import MoveAnswer, MoveRequest, StartAnswer, StartRequest
from tarmac.api.schemas.job.selection import (
    HoldAnswer,
    MovedJob,
    MoveManyAnswer,
    MoveManyRequest,
    ReleaseAnswer,
    Selection,
)
from tarmac.api.schemas.job.why import WhyView
from tarmac.api.wording.why.why import why_view
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.forecast_cache import places
from tarmac.controller.gpus.selection import gpus_named
from tarmac.controller.requests.moves import moves
from tarmac.controller.requests.permissions import refuse_others_jobs
from tarmac.controller.submit.gpu_names import name_of, name_with
from tarmac.core.events import JobMoved, JobsHeld, JobsReleased, StartForced
from tarmac.core.lines import place_of
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued, state_name
from tarmac.core.policy import forced_start
from tarmac.refusal import conflict, invalid, unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.model.job import Job
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State


MOST_MOVED = 100  # each move walks along the queue


async def hold_jobs(context: Context, body: Selection) -> HoldAnswer:
    """Keep waiting jobs from starting until they are released. Running jobs continue."""
    progress = await select_once(context, body)

    def hold(state: State, part: Sequence[int]) -> Part:
        queued = tuple(job.id for number in part if (job := _waiting(state, number, Queued)) is not None)
        return Part(queued, [JobsHeld(jobs=queued, by=context.caller.name)] if queued else ())

    def plan(state: State) -> Decision[HoldAnswer]:
        held = {number for number in progress.numbers if _waiting(state, number, Queued, Held) is not None}
        held.update(progress.done)
        others = [number for number in progress.numbers if number not in held]
        return Decision(answer=HoldAnswer(held=sorted(held), not_waiting=others), events=hold(state, last).events)

    last = await all_but_the_last_part(context, progress, progress.rest, hold)
    return await context.decide(plan, is_begun=progress.is_begun)


async def release_jobs(context: Context, body: Selection) -> ReleaseAnswer:
    """Put held jobs and drafts into the queue, each at its place."""
    progress = await select_once(context, body)

    def release(state: State, part: Sequence[int]) -> Part:
        held = tuple(JobId(number) for number in part if _waiting(state, number, Held, Draft) is not None)
        return Part(held, [JobsReleased(jobs=held, by=context.caller.name)] if held else ())

    def plan(state: State) -> Decision[ReleaseAnswer]:
        part = release(state, last)
        released = {*progress.done, *part.done}
        others = [number for number in progress.numbers if number not in released]
        return Decision(answer=ReleaseAnswer(released=sorted(released), not_held=others), events=part.events)

    last = await all_but_the_last_part(context, progress, progress.rest, release)
    return await context.decide(plan, is_begun=progress.is_begun)


async def move_job(context: Context, word: str, body: MoveRequest) -> MoveAnswer:
    """Move a job among its owner's waiting jobs. Its priority changes if the place requires it."""
    controller = context.controller
    job = find_job(context, word)
    refuse_others_jobs([job], context.caller)

    def plan(state: State) -> Decision[None]:
        _queued(state, job.id)
        event = JobMoved(job=job.id, place=body.position, by=context.caller.name)
        return Decision(answer=None, events=[event])

    await context.carry_out(plan)
    moved = controller.state.jobs.get(job.id, job)
    return MoveAnswer(position=_place(controller.state, moved), priority=moved.spec.priority)


def _place(state: State, job: Job) -> int:
    """Its place in the queue; 1 if it started meanwhile."""
    if not isinstance(job.status, Queued):
        return 1
    return place_of(state, job) if state.rules.order == "submitted" else places(state)[job.id]


async def move_jobs(context: Context, body: MoveManyRequest) -> MoveManyAnswer:
    """Move the waiting jobs of a selection to one place, in their order. Other jobs of the selection stay."""
    controller = context.controller
    numbers = selected_own(context, body)
    waiting = [job.id for number in numbers if (job := _waiting(controller.state, number, Queued)) is not None]
    if len(waiting) > MOST_MOVED:
        raise invalid("move.too_many", jobs=len(waiting), most=MOST_MOVED)

    def plan(state: State) -> Decision[None]:
        by = context.caller.name
        return Decision(
            answer=None,
            events=[JobMoved(job=job, place=place, by=by) for job, place in moves(state, waiting, body.position)],
        )

    await context.carry_out(plan)
    line = places(controller.state)
    moved = [(controller.state.jobs[job], line[job]) for job in waiting if job in line]
    return MoveManyAnswer(
        moved=[MovedJob(id=job.id, position=place, priority=job.spec.priority) for job, place in moved],
        not_waiting=[number for number in numbers if number not in set(waiting)],
    )


async def start_job(context: Context, word: str, body: StartRequest) -> StartAnswer:
    """Start a waiting job now, regardless of order, limits and use. A taken GPU is booked twice only with `yes`."""
    controller = context.controller
    job = find_job(context, word)

    def plan(state: State) -> Decision[StartAnswer]:
        live = still_waiting(state, job.id)
        booking = _forced_booking(controller, live, body)
        gpus = tuple(gpu.uuid for gpu in booking.gpus)
        event = StartForced(job=live.id, node=booking.node, gpus=gpus, by=context.caller.name)
        return Decision(answer=_started_on(booking, state), events=[event])

    return await context.decide(plan)


def _started_on(booking: Booking, state: State) -> StartAnswer:
    name, nodes = booking.node, state.nodes
    return StartAnswer(
        gpus=[
            GpuRef(node=name, index=gpu.index, uuid=gpu.uuid, name=name_with(name, gpu.index, gpu.uuid, nodes))
            for gpu in booking.gpus
        ]
    )


async def why_job(context: Context, word: str) -> WhyView:
    """Explain why a job waits: its place, its request, what is free, what it waits for, and when it may start."""
    controller, job = context.controller, find_job(context, word)
    await asyncio.gather(
        controller.fleet.check_liveness(),
        controller.start_waits.refresh(job),
        controller.progress.refresh(jobs_at_work(controller)),
    )
    return why_view(controller, find_job(context, word))


def _waiting(state: State, number: int, *kinds: type[Queued | Held | Draft]) -> Job | None:
    job = state.jobs.get(JobId(number))
    return job if job is not None and isinstance(job.status, kinds) else None


def still_waiting(state: State, number: JobId) -> Job:
    job = state.jobs.get(number)
    if job is None or not isinstance(job.status, Queued | Held | Draft):
        state_now = "ended" if job is None else state_name(job.status)
        raise conflict("job.not_waiting", job=number, state=state_now)
    return job


def _queued(state: State, number: JobId) -> None:
    job = still_waiting(state, number)
    if not isinstance(job.status, Queued):
        raise conflict("job.cannot_move", job=number, state=state_name(job.status))


def _forced_booking(controller: Controller, job: Job, body: StartRequest) -> Booking:
    state = controller.state
    if job.spec.request.node_count > 1:
        raise invalid("start.several_nodes", job=job.id)
    named = gpus_named(state.nodes.values(), map(str, body.gpus_on or ()))
    if len(named) > 1:
        raise invalid("gpu.pinned_to_several_nodes", nodes=list(named))
    wanted = tuple(gpu for gpus in named.values() for gpu in gpus)
    asked = job.spec.request.gpus
    if wanted and len(wanted) != asked:
        raise invalid("start.wrong_count", job=job.id, asked=asked, named=len(wanted))
    booking = forced_start.plan(state, job, wanted)
    if booking is None:
        closed = forced_start.closed_node(state, job, wanted)
        if closed is not None:
            raise conflict("start.node_closed", job=job.id, node=closed.name, watch_only=closed.is_watch_only)
        raise unavailable("start.no_machine", job=job.id, asked=asked)
    node, nodes = state.node(booking.node), state.nodes.values()
    taken = list(forced_start.double_booked(state, booking))
    if taken and not body.yes:
        raise conflict("start.double_booking", taken=[(name_of(node, gpu.uuid, nodes), jobs) for gpu, jobs in taken])
    return booking
