"""Plans are called when their turn comes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.submit.submissions import Token
from tarmac.core.events import (
    JobsSubmitted,
)
from tarmac.core.model.ids import JobId
from tarmac.core.model.job import After
from tarmac.core.model.status import Failed
from tarmac.core.state import State
from tarmac.refusal import Refused, conflict
from tests.controller.engine.desk import BODY, DIGEST, RecordingFleet, broken_check, exited, run, specs, submit


def test_a_plan_sees_earlier_decisions_of_the_same_batch(tmp_path: Path) -> None:
    seen: list[int] = []

    def plan(state: State) -> Decision[None]:
        seen.extend(state.jobs)
        return Decision(answer=None)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        await asyncio.gather(submit(controller, specs()), controller.engine.decide(plan))
        assert seen == [1]

    run(tmp_path, story)


def test_the_answer_of_a_plan_is_returned_once_its_events_are_on_disk(tmp_path: Path) -> None:
    def plan(state: State) -> Decision[int]:
        return Decision(answer=state.next_id, events=[specs(2)], environments={DIGEST: BODY})

    async def story(controller: Controller, _: RecordingFleet) -> None:
        assert await controller.engine.decide(plan) == 1
        assert await controller.engine.decide(plan) == 3
        assert sorted(controller.store.reader.jobs([1, 2, 3, 4])) == [1, 2, 3, 4]

    run(tmp_path, story)


def test_a_plan_that_refuses_changes_nothing_and_affects_no_other(tmp_path: Path) -> None:
    def refuse(_: State) -> None:
        raise conflict("jobs.still_running", jobs=[1], first=1)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        refused, accepted = await asyncio.gather(
            submit(controller, specs(), Token("ann", "t1"), refuse),
            submit(controller, specs()),
            return_exceptions=True,
        )
        assert isinstance(refused, Refused)
        assert list(accepted) == [1]  # type: ignore[call-overload]
        assert controller.degraded is None
        assert list(await submit(controller, specs(), Token("ann", "t1"))) == [2], "the token is still good"

    run(tmp_path, story)


def test_a_plan_thatbroken_checks_fails_only_its_own_caller(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        state = controller.state
        broken, accepted = await asyncio.gather(
            submit(controller, specs(), check=broken_check), submit(controller, specs()), return_exceptions=True
        )
        assert isinstance(broken, ZeroDivisionError)
        assert list(accepted) == [1]  # type: ignore[call-overload]
        assert (controller.degraded, controller.state, fleet.disconnects) == (None, state, 0)
        assert "a plan failed" in caplog.text

    run(tmp_path, story)


def test_a_job_may_depend_on_one_that_ends_in_the_same_batch(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        await submit(controller, specs())
        following = JobsSubmitted(specs=(replace(specs().specs[0], after=(After(job=JobId(1), on="ok"),)),))
        hopeless = JobsSubmitted(specs=(replace(specs().specs[0], after=(After(job=JobId(1), on="fail"),)),))
        await asyncio.gather(
            controller.engine.commit(exited(1)),
            submit(controller, following),
            submit(controller, hopeless),
        )
        assert fleet.jobs_in("start") == [1, 2]
        ended = controller.store.reader.job(3)
        assert ended is not None
        assert isinstance(ended.status, Failed)
        assert ended.status.reason == "dependency"

    run(tmp_path, story)
