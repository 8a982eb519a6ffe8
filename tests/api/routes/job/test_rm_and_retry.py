"""`rm` and `retry` of the same job, decided in one turn: in whatever order, only the first one is carried out."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from tarmac.api.deps import Context
from tarmac.api.routes.job.kill import remove_jobs
from tarmac.api.routes.job.retry import retry_jobs
from tarmac.api.schemas.job.selection import RetryRequest, Selection
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller
from tarmac.core.events import JobsHeld
from tarmac.core.model.ids import JobId
from tarmac.refusal import Refused
from tests.controller.engine.desk import RecordingFleet, exited, run, specs, submit

ANN = Caller(name="ann", uid=1000, is_admin=True)


def remove(context: Context, job: int = 1) -> Awaitable[Any]:
    return remove_jobs(context, Selection(ids=[str(job)]))


def retry(context: Context, job: int = 1) -> Awaitable[Any]:
    return retry_jobs(context, RetryRequest(ids=[str(job)]))


def context_of(controller: Controller) -> Context:
    broadcast: Any = None
    return Context(controller=controller, caller=ANN, headers=Headers(), end=lambda: None, broadcast=broadcast)


async def in_one_turn(controller: Controller, *requests: Callable[[Context], Awaitable[Any]]) -> list[Any]:
    """They all arrive while a commit is under way, so they are decided together."""
    slow = controller.submissions.submit(specs(gpus=9), {}, None, lambda _: None)
    context = context_of(controller)
    _, *answers = await asyncio.gather(slow, *(one(context) for one in requests), return_exceptions=True)
    return answers


def agree(controller: Controller, job: int) -> bool:
    """Memory and database either both have the job, or neither has."""
    return (JobId(job) in controller.state.jobs) == (controller.store.reader.job(job) is not None)


@pytest.mark.parametrize(("first", "second"), [(remove, retry), (retry, remove)])
def test_only_the_first_one_is_carried_out(tmp_path: Path, first: Any, second: Any) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        await controller.engine.commit(exited(1))
        done, refused = await in_one_turn(controller, first, second)
        assert not isinstance(done, Exception), done
        assert isinstance(refused, Refused)
        assert (JobId(1) in controller.state.jobs) == (first is retry)
        assert agree(controller, 1)

    run(tmp_path, story)


def test_a_job_that_waits_again_is_cancelled_and_removed(tmp_path: Path) -> None:
    """It was retried in the same turn, and the only GPU is taken."""

    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        await controller.engine.commit(exited(1))
        await submit(controller, specs())  # takes the GPU
        retried, removed = await in_one_turn(controller, retry, remove)
        assert (retried.retried, removed.removed) == ([1], [1])
        assert JobId(1) not in controller.state.jobs
        assert controller.store.reader.job(1) is None

    run(tmp_path, story)


def test_a_job_is_removed_once(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        await controller.engine.commit(exited(1))
        first, second = await in_one_turn(controller, remove, remove)
        assert (first.removed, second.removed) == ([1], [])

    run(tmp_path, story)


def test_waiting_jobs_are_cancelled_and_removed_in_one_step(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs(3))
        await controller.engine.commit(JobsHeld(jobs=(JobId(3),), by="ann"))
        context = context_of(controller)
        for job in (2, 3):
            assert (await remove_jobs(context, Selection(ids=[str(job)]))).removed == [job]
            assert agree(controller, job)
        with pytest.raises(Refused):
            await remove_jobs(context, Selection(ids=["1"]))
        assert fleet.jobs_in("start") == [1]
        assert agree(controller, 1)

    run(tmp_path, story)
