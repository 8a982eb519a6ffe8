"""Readings that come in, or come in again, as the core hears of them."""

from pathlib import Path

import pytest

from tarmac.controller.controller import Controller
from tarmac.core.events import JobStarted, Reported
from tarmac.core.model.ids import JobId
from tarmac.nodes.reports import GpuReading
from tests.controller.test_engine import DESK, RecordingFleet, run, specs, submit


@pytest.mark.parametrize("is_renewed", [True, False])
def test_idle_time_counts_only_while_readings_are_confirmed(tmp_path: Path, is_renewed: bool) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = [1000.0]
        controller.engine._clock = lambda: now[0]
        (job,) = await submit(controller, specs())
        started = JobStarted(job=JobId(job), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))
        controller.readings.take(DESK, [GpuReading(index=0, uuid="G0", utilization=0)], None, None)
        for _ in range(2000 // 5):
            now[0] += 5
            if is_renewed:
                controller.readings.renew(DESK)
            controller.readings._tick()
            await controller.engine.commit()
        assert controller.state.nodes[DESK].activity[JobId(job)].is_warned == is_renewed

    run(tmp_path, story)
