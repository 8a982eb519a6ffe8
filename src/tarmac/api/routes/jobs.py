"""Jobs: submit, list, look at, wait for, kill, forget."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from litestar import Response, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from tarmac.api import schemas
from tarmac.api.deps import Caller, EngineDep
from tarmac.api.views import Viewer, checked_fields
from tarmac.api.wording.reasons import limit_words
from tarmac.api.wording.times import iso
from tarmac.controller.engine import Engine, PendingCommit
from tarmac.controller.log_paths import default_log
from tarmac.controller.permissions import is_admin, need_admin, refuse_others_jobs
from tarmac.controller.selectors import job_filter, job_number
from tarmac.controller.start_frame import ARRAY_COUNT
from tarmac.controller.submit.checks import checked_specs
from tarmac.controller.submit.dependencies import Dependencies
from tarmac.controller.submit.request import SubmitRequest
from tarmac.core.events import JobsSubmitted, StopAsked
from tarmac.core.limits import refusal_at_submit
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import Draft, Held, Queued, is_ended
from tarmac.errors import Conflict, NotFound, UserError
from tarmac.store.rows import pack_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tarmac.core.model.job import Job, JobSpec
    from tarmac.core.state import State

MOST_PER_PAGE = 10_000
LONGEST_WAIT_S = 300.0

PageSize = Annotated[int, QueryParameter(ge=1, le=MOST_PER_PAGE)]
WaitSeconds = Annotated[float, QueryParameter(ge=0, le=LONGEST_WAIT_S)]


def _answers(shape: type) -> dict[int, ResponseSpec]:
    return {200: ResponseSpec(data_container=shape, description="as asked")}


@post("/jobs", responses={200: ResponseSpec(schemas.SubmitAnswer, description="this token was answered before")})
async def submit(engine: EngineDep, caller: Caller, data: JSONBody[SubmitRequest]) -> Response[schemas.SubmitAnswer]:
    """Queue one or many jobs: all of them or none. They are on disk before the answer is sent."""
    token = None if data.token is None else (caller, data.token)
    if token is not None and (known := engine.store.reader.submission(*token)) is not None:
        return Response(schemas.SubmitAnswer(ids=list(known)), status_code=200)
    if any(job.tier == "urgent" for job in data.jobs):
        need_admin(caller, engine.settings, "queue urgent jobs")
    digest, body = pack_environment(data.environment | ({ARRAY_COUNT: str(len(data.jobs))} if data.array else {}))
    specs = checked_specs(
        data,
        owner=caller,
        environment=digest,
        default_grace_s=engine.settings["grace_s"],
        state=engine.state,
        dependencies=Dependencies(engine.state, engine.store.reader, caller, siblings=len(data.jobs)),
    )
    event = JobsSubmitted(specs=specs, is_array=data.array, entry=data.entry, by=caller)
    ids = await engine.submit(event, {digest: body}, token, lambda state: _refuse_too_many(state, specs))
    return Response(schemas.SubmitAnswer(ids=list(ids)), status_code=201)


def _refuse_too_many(state: State, specs: tuple[JobSpec, ...]) -> None:
    """Asked when its turn comes: others may have submitted meanwhile."""
    mode = state.mode
    if mode.is_draining:
        why = f": {mode.reason}" if mode.reason else ""
        how = "paused and draining" if mode.is_paused else "draining"
        raise Conflict(
            f"no new jobs are taken: the queue is {how} by {mode.by or 'Tarmac itself'}{why}",
            hint="`tarmac queue resume` opens it again",
        )
    if (reached := refusal_at_submit(state, specs)) is not None:
        hint = "ask for fewer with -g" if reached.limit == "max_gpus_per_job" else "wait until some have started"
        raise UserError(f"{limit_words(reached)}; nothing was queued", hint=f"{hint}; `tarmac set` tells the limits")


@get("/jobs", responses=_answers(schemas.JobPage))
async def list_jobs(
    engine: EngineDep,
    caller: Caller,
    ids: FromQuery[str | None] = None,
    job_state: Annotated[str | None, QueryParameter(name="state")] = None,
    owner: FromQuery[str | None] = None,
    name: FromQuery[str | None] = None,
    tag: FromQuery[str | None] = None,
    limit: PageSize = 1000,
    after: FromQuery[int | None] = None,
    order: FromQuery[Literal["asc", "desc"]] = "asc",
    fields: FromQuery[str | None] = None,
) -> dict[str, Any]:
    """Jobs by id, page by page: give `next` of one page as `after` of the following one."""
    wanted_fields = checked_fields(fields)
    wanted = job_filter(engine.store.reader, caller, ids=_words(ids), state=job_state, owner=owner, name=name, tag=tag)
    # One more than asked for tells whether there is a next page.
    numbers = engine.store.reader.select_ids(wanted, after=after, limit=limit + 1, descending=order == "desc")
    page = numbers[:limit]
    jobs = engine.jobs(page)
    if wanted_fields is None or "progress" in wanted_fields:
        await engine.progress.refresh(jobs)
    viewer = Viewer(engine)
    return {
        "jobs": [viewer.job(job, wanted_fields) for job in jobs],
        "next": page[-1] if len(numbers) > limit else None,
    }


@get("/jobs/{word:str}", responses=_answers(schemas.WholeJobView))
async def show_job(engine: EngineDep, caller: Caller, word: FromPath[str]) -> dict[str, Any]:
    """One job with all there is to know. `last` is the caller's newest."""
    job = find_job(engine, caller, word)
    await engine.progress.refresh([job])
    return Viewer(engine, is_fresh=True).whole_job(job)


@get("/jobs/{word:str}/events", responses=_answers(schemas.Story))
async def job_story(engine: EngineDep, caller: Caller, word: FromPath[str]) -> dict[str, Any]:
    """What happened to a job, in order."""
    job = find_job(engine, caller, word)
    return {
        "events": [
            {"id": event.id, "at": iso(event.at), "attempt": event.attempt, "kind": event.kind, "detail": event.detail}
            for event in engine.store.reader.story(job.id)
        ]
    }


@get("/jobs/wait", responses=_answers(schemas.WaitAnswer))
async def wait_for_jobs(
    engine: EngineDep, caller: Caller, ids: FromQuery[str], timeout_s: WaitSeconds = 30.0
) -> dict[str, Any]:
    """Answers when all of them have ended, or after the timeout with those that have."""
    reader = engine.store.reader
    numbers = reader.select_ids(job_filter(reader, caller, ids=_words(ids)))
    pending = numbers
    listener = engine.publisher.listen()
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while (pending := [job for job in pending if not engine.is_ended(job)]) and not engine.is_ending:
                    await listener.take(timeout_s)
    finally:
        engine.publisher.unlisten(listener)
    viewer = Viewer(engine)
    ended = engine.jobs(sorted(set(numbers) - set(pending)))
    return {"jobs": [viewer.job(job) for job in ended], "pending": pending}


@post("/jobs/kill", status_code=200)
async def kill_jobs(engine: EngineDep, caller: Caller, data: JSONBody[schemas.KillRequest]) -> schemas.KillAnswer:
    """Ask jobs to end: queued ones at once, running ones with TERM, then KILL after the grace period."""
    numbers = selected_own(engine, caller, data)
    alive = [number for number in numbers if number in engine.state.jobs]
    asked = set(alive)
    if engine.degraded is not None and (stoppable := [number for number in alive if _signal(engine, number, data)]):
        return schemas.KillAnswer(asked=stoppable, already_ended=[])
    if alive:
        await engine.commit(PendingCommit(events=[_stop(alive, caller, data.grace_s)]))
    return schemas.KillAnswer(asked=alive, already_ended=[number for number in numbers if number not in asked])


def _stop(numbers: Sequence[int], caller: str, grace_s: float | None = None) -> StopAsked:
    first, *more = map(JobId, numbers)
    return StopAsked(job=first, by=caller, grace_s=grace_s, more=tuple(more))


def _signal(engine: Engine, number: int, data: schemas.KillRequest) -> bool:
    return engine.signal_now(JobId(number), data.grace_s)


@post("/jobs/rm", status_code=200)
async def remove_jobs(engine: EngineDep, caller: Caller, data: JSONBody[schemas.Selection]) -> schemas.RemoveAnswer:
    """Forget jobs and the logs Tarmac keeps of them. Queued ones are cancelled; running ones must be killed first."""
    numbers = selected_own(engine, caller, data)
    waiting = [job.id for job in _none_running(engine, numbers) if not is_ended(job.status)]
    if waiting:
        await engine.commit(PendingCommit(events=[_stop(waiting, caller)]))
    # One of them may have got its GPUs while its stop was kept; what has ended stays so.
    jobs = _none_running(engine, numbers)
    await engine.commit(PendingCommit(events=[], removed=[job.id for job in jobs]))
    for job in jobs:
        for attempt in range(1, job.attempt + 1):
            with suppress(FileNotFoundError):
                os.unlink(default_log(engine.state_folder, job.id, attempt))
    return schemas.RemoveAnswer(removed=numbers)


def _none_running(engine: Engine, numbers: list[int]) -> list[Job]:
    jobs = engine.jobs(numbers)
    busy = [job.id for job in jobs if not is_ended(job.status) and not isinstance(job.status, Queued | Held | Draft)]
    if busy:
        listed = ", ".join(map(str, busy[:10]))
        raise Conflict(f"still running: {listed}; nothing was removed", hint=f"tarmac kill {busy[0]}, then rm again")
    return jobs


def find_job(engine: Engine, caller: str, word: str) -> Job:
    job = engine.job(job_number(engine.store.reader, caller, word))
    if job is None:
        raise NotFound(f"no job {word}", hint="`tarmac ls -a` lists every job that is remembered")
    return job


def selected_own(engine: Engine, caller: str, selection: schemas.Selection) -> list[int]:
    """Those that are meant, if the caller may do something to all of them."""
    numbers = _selected(engine, caller, selection)
    if not is_admin(caller, engine.settings):
        refuse_others_jobs(engine.jobs(numbers), caller, engine.settings)
    return numbers


def _selected(engine: Engine, caller: str, selection: schemas.Selection) -> list[int]:
    if not selection.ids and not (selection.name or selection.tag or selection.state or selection.owner):
        raise UserError("which jobs?", hint="give ids, `last`, `all`, or a filter such as --name")
    wanted = job_filter(
        engine.store.reader,
        caller,
        ids=selection.ids,
        state=selection.state,
        owner=selection.owner,
        name=selection.name,
        tag=selection.tag,
    )
    return engine.store.reader.select_ids(wanted)


def _words(text: str | None) -> Iterable[str]:
    return () if not text else text.split(",")
