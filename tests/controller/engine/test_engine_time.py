"""Begin times, elapsed times and use, and what of them survives a restart."""

import asyncio
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from tarmac.api.views.job import Viewer
from tarmac.controller.controller import Controller
from tarmac.controller.engine.wall_clock import ClockSteps
from tarmac.core.events import (
    JobsSubmitted,
    JobStarted,
    QueuePaused,
    Reported,
    ReservationMade,
    StopAsked,
)
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.queue import Mode, Reservation
from tarmac.nodes.reports import GpuProcess, GpuReading
from tarmac.store.accounts import Usage
from tests.controller.engine.desk import DESK, RecordingFleet, exited, run, specs, submit


def test_a_job_starts_when_its_begin_time_comes(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        began = asyncio.get_running_loop().time()
        controller.engine._clock = lambda: 1000.0 + asyncio.get_running_loop().time() - began
        later = JobsSubmitted(specs=(replace(specs().specs[0], begin_at=1000.2),))
        await submit(controller, later)
        assert fleet.jobs_in("start") == []
        listener = controller.publisher.listen()
        while not fleet.jobs_in("start"):
            assert await listener.take(10), "nobody woke up"
        assert controller.now() >= 1000.2

    run(tmp_path, story)


def test_elapsed_times_do_not_follow_a_clock_that_is_set(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        began, ahead_s = monotonic(), [0.0]
        controller.engine._clock = lambda: 1000.0 + ahead_s[0] + monotonic() - began
        controller.engine._steps = ClockSteps(controller.engine._clock)
        await submit(controller, specs())
        report = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=940.0)
        await controller.engine.commit(Reported(node=DESK, report=report))
        job = controller.state.jobs[JobId(1)]
        for step_s in (86400.0, -90000.0):
            ahead_s[0] += step_s
            controller.engine._pass_time()
            elapsed_s = controller.state.runtimes.elapsed_s(job, controller.now())
            assert elapsed_s is not None
            assert 60 <= elapsed_s < 120
            assert controller.state.ledger.week_hours_of_owner("ann", controller.now()) < 0.1

    run(tmp_path, story)


def test_mode_reservations_and_history_survive_a_restart_and_a_failed_commit(tmp_path: Path) -> None:
    reservation = Reservation(
        id=1, owner="bob", node=DESK, gpus=(GpuUuid("G0"),), begins_at=9000.0, ends_at=9900.0, by="ann"
    )

    async def first(controller: Controller, _: RecordingFleet) -> None:
        await submit(controller, specs())
        started = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))
        controller.engine._clock = lambda: 4600.0
        await controller.engine.commit(exited(1), ReservationMade(reservation=reservation))
        await controller.engine.commit(QueuePaused(by="ann", reason="tea"))

    def check(controller: Controller) -> None:
        assert controller.state.mode == Mode(is_paused=True, by="ann", reason="tea", since=4600.0)
        assert controller.state.reservations == {1: reservation}
        assert controller.state.ledger.week_hours_of_owner("ann", 4600.0) == pytest.approx(1.0)
        assert controller.state.runtimes.expected_s(specs().specs[0]) == 1.0

    async def second(controller: Controller, _: RecordingFleet) -> None:
        check(controller)
        controller.engine._reload()
        check(controller)

    run(tmp_path, first)
    run(tmp_path, second)


def test_the_gpu_usage_of_a_job_is_counted_until_its_end(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = 1000.0
        controller.engine._clock = lambda: now
        await submit(controller, specs())
        started = JobStarted(job=JobId(1), attempt=1, pid=9, started_at=1000.0)
        await controller.engine.commit(Reported(node=DESK, report=started))
        process = GpuProcess(pid=9, job=1, memory_bytes=5)
        reading = GpuReading(index=0, uuid="G0", utilization=80, power_w=200.0, processes=[process])
        controller.readings.take(DESK, [reading], None, None)
        now = 1010.0
        ending = asyncio.ensure_future(controller.engine.commit(exited(1)))
        await asyncio.sleep(0)
        usage = Viewer(controller).usage(controller.jobs([1])[0])
        expected = Usage(1, 5, 80.0, 2000.0, held_s=10.0, measured_s=10.0, used_s=8.0)
        assert usage == expected, "while it is being written, whether or not it is on disk already"
        await ending
        assert controller.store.reader.usage(1) == Viewer(controller).usage(controller.jobs([1])[0]) == expected
        assert (controller.usage.attempts, controller.usage.being_written) == ({}, {})

    run(tmp_path, story)


def test_a_job_is_stopped_with_its_own_signal(tmp_path: Path) -> None:
    async def story(controller: Controller, fleet: RecordingFleet) -> None:
        spec = replace(specs().specs[0], signal=10, grace_s=3.0)
        await submit(controller, JobsSubmitted(specs=(spec,)))
        assert controller.signal_now(StopAsked(job=JobId(1), by="ann"))
        sent = [(frame["signal"], frame["grace_s"]) for frame in fleet.frames("signal")]
        assert sent == [(10, 3.0)]

    run(tmp_path, story)
