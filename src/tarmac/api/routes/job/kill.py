"""Kill jobs, and remove them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.routes.job.in_parts import (
    JOBS_AT_ONCE,
    Part,
    Progress,
    all_but_the_last_part,
    each_but_the_last,
    parts_of,
    select_once,
)
from tarmac.api.schemas.job.selection import KillAnswer, KillRequest, RemoveAnswer, Selection
from tarmac.api.wording.why.degraded import degraded_words
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.history.log_files import delete_logs
from tarmac.core.events import JobsHeld, JobsReleased, StopAsked
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued, is_ended
from tarmac.refusal import Refused, conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tarmac.controller.engine.decision import Plan
    from tarmac.core.model.job import Job
    from tarmac.core.state import State


async def kill_jobs(context: Context, body: KillRequest) -> KillAnswer:
    """Cancel waiting jobs; send running ones TERM, and KILL after the grace period.

    While nothing can be written, running jobs are signalled all the same: one of them may be what fills the disk.
    """
    controller = context.controller
    progress = await select_once(context, body)
    alive = [number for number in progress.rest if number in controller.state.jobs]
    asked = {*progress.done, *alive}
    others = [number for number in progress.numbers if number not in asked]
    answer = KillAnswer(asked=sorted(asked), already_ended=others)
    if not alive:
        return answer
    await controller.fleet.check_liveness()  # so that the answer can say that the signal comes late
    try:
        rest = await _waiting_ones_killed(context, progress, alive, body.grace_s)
        stop = _stop(rest, context.caller.name, body.grace_s)
        return await context.decide(lambda _: Decision(answer=answer, events=[stop]))
    except Exception:
        is_writable, stop = controller.degraded is None, _stop(alive, context.caller.name, body.grace_s)
        signalled = [] if is_writable else [one.job for one in stop.one_by_one() if controller.signal_now(one)]
        if not signalled:
            raise
        return KillAnswer(
            asked=list(signalled),
            already_ended=answer.already_ended,
            not_asked=[number for number in alive if number not in signalled],
            unwritten=degraded_words(controller),
        )


async def _waiting_ones_killed(
    context: Context, progress: Progress, numbers: list[int], grace_s: float | None
) -> list[int]:
    """If there are very many jobs, kill the waiting ones part by part. Return the others and the last part.

    Jobs at work come last, so that no job that is to be killed starts in their place. The newest waiting ones come
    first, so that none starts because the job ended that it waited for.
    """
    if len(numbers) <= JOBS_AT_ONCE:
        return numbers

    def kill(state: State, part: Sequence[int]) -> Part:
        alive = [number for number in part if number in state.jobs]
        return Part(alive, [_stop(alive, context.caller.name, grace_s)] if alive else ())

    jobs = context.controller.state.jobs
    waiting = [number for number in numbers if isinstance(jobs[JobId(number)].status, Queued | Held | Draft)]
    await all_but_the_last_part(context, progress, waiting[::-1], kill)
    jobs = context.controller.state.jobs  # after a failed commit it is another one
    return [number for number in numbers if number in jobs] or numbers[-1:]


def _stop(numbers: Sequence[int], caller: str, grace_s: float | None = None) -> StopAsked:
    first, *more = map(JobId, numbers)
    return StopAsked(job=first, by=caller, grace_s=grace_s, more=tuple(more))


async def remove_jobs(context: Context, body: Selection) -> RemoveAnswer:
    """Remove jobs and their logs. Waiting jobs are cancelled; running ones must be killed first.

    Very many are removed part by part, after all of them that wait are held: none starts between two parts.
    If that is interrupted, a repetition removes the others.
    """
    controller = context.controller
    progress = await select_once(context, body)
    numbers, held = progress.rest, _Held(context)

    async def remove(part: Sequence[int]) -> None:
        jobs: list[Job] = []
        await controller.engine.decide(_part_removal(context, progress, part, jobs))
        await _clear_away(controller, jobs)

    try:
        _refuse_running(controller, _live(controller, numbers))
        if len(numbers) > JOBS_AT_ONCE:
            await held.hold(numbers)
            _refuse_running(controller, _live(controller, numbers))
        last = await each_but_the_last(numbers, remove)
        jobs: list[Job] = []
        answer = await context.decide(_removal(context, last, jobs, progress.done), is_begun=progress.is_begun)
    except Refused:
        await held.release()
        raise
    await _clear_away(controller, jobs)
    return answer


class _Held:
    """Jobs that are held until they are removed."""

    def __init__(self, context: Context) -> None:
        self._engine = context.controller.engine
        self._by = context.caller.name
        self._jobs: list[JobId] = []

    async def hold(self, numbers: Sequence[int]) -> None:
        def plan(part: Sequence[int], state: State) -> Decision[None]:
            queued = _with_status(state, part, Queued)
            self._jobs += queued
            return Decision(answer=None, events=[JobsHeld(jobs=queued, by=self._by)] if queued else ())

        await self._decide(numbers, plan)

    async def release(self) -> None:
        """If they are not removed: let those that were not held before wait again."""

        def plan(part: Sequence[int], state: State) -> Decision[None]:
            held = _with_status(state, part, Held)
            return Decision(answer=None, events=[JobsReleased(jobs=held, by=self._by)] if held else ())

        await self._decide(self._jobs, plan)

    async def _decide(self, numbers: Sequence[int], plan: Callable[[Sequence[int], State], Decision[None]]) -> None:
        for part in parts_of(numbers):
            await self._engine.decide(partial(plan, part))


def _with_status(state: State, numbers: Sequence[int], kind: type[Queued | Held]) -> tuple[JobId, ...]:
    jobs = (state.jobs.get(JobId(number)) for number in numbers)
    return tuple(job.id for job in jobs if job is not None and isinstance(job.status, kind))


def _live(controller: Controller, numbers: Sequence[int]) -> list[Job]:
    jobs = controller.state.jobs
    return [jobs[JobId(number)] for number in numbers if number in jobs]


def _part_removal(context: Context, progress: Progress, numbers: Sequence[int], jobs: list[Job]) -> Plan[RemoveAnswer]:
    removal = _removal(context, numbers, jobs, progress.done)

    def plan(state: State) -> Decision[RemoveAnswer]:
        decision = removal(state)
        return replace(decision, kept=progress.add(decision.removed))

    return plan


def _removal(context: Context, numbers: Sequence[int], jobs: list[Job], before: Sequence[int]) -> Plan[RemoveAnswer]:
    """Adds the jobs that it removes to `jobs`. The answer also lists those that were removed before."""
    controller = context.controller

    def plan(_: State) -> Decision[RemoveAnswer]:
        # One of them may have started or ended since, or run again.
        jobs.extend(controller.jobs(list(numbers)))
        _refuse_running(controller, jobs, before)
        waiting = [job.id for job in jobs if not is_ended(job.status)]
        removed = [job.id for job in jobs]
        events = [_stop(waiting, context.caller.name)] if waiting else []
        return Decision(answer=RemoveAnswer(removed=sorted([*before, *removed])), events=events, removed=removed)

    return plan


async def _clear_away(controller: Controller, jobs: Sequence[Job]) -> None:
    """Delete the logs of removed jobs, and drop them from the history."""
    controller.history.removed([job.id for job in jobs])
    controller.snapshot_upkeep.look_soon()
    await asyncio.to_thread(delete_logs, controller.state_folder, jobs)  # a large file takes a while


def _refuse_running(controller: Controller, jobs: Sequence[Job], removed: Sequence[int] = ()) -> None:
    """`removed`: jobs of the same request that are removed already."""
    busy = [job.id for job in jobs if not is_ended(job.status) and not isinstance(job.status, Queued | Held | Draft)]
    if busy and removed:
        raise conflict("jobs.removed_in_part", jobs=busy, first=busy[0], removed=sorted(removed), count=len(removed))
    if busy:
        if controller.degraded is not None:  # they may have ended, and that could not be written
            raise conflict("jobs.maybe_running", jobs=busy, first=busy[0])
        raise conflict("jobs.still_running", jobs=busy, first=busy[0])
