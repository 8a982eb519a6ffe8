"""A submit whose output files are named after ids gets its turn, however many others come."""

import asyncio
from pathlib import Path

from tarmac.controller.controller import Controller
from tests.controller.engine.desk import RecordingFleet, run, specs, submit


def test_other_submits_wait_for_one_that_is_alone(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        async with controller.submissions.alone():
            other = asyncio.ensure_future(submit(controller, specs()))
            await asyncio.sleep(0.05)
            assert (other.done(), controller.state.next_id) == (False, 1)
        assert list(await other) == [1]

    run(tmp_path, story)
