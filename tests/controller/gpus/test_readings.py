"""Readings that come in, or come in again, as the core hears of them."""

from pathlib import Path

import pytest

from tarmac.controller.accounts.report import BegunReport, ReportRequest
from tarmac.controller.controller import Controller
from tarmac.core.events import JobStarted, Reported
from tarmac.core.model.ids import JobId
from tarmac.nodes.reports import GpuProcess, GpuReading
from tarmac.store.accounts import Key, Scope
from tests.controller.engine.desk import DESK, RecordingFleet, exited, run, specs, submit


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


def test_foreign_use_is_kept_if_it_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = [1000.0]
        controller.engine._clock = lambda: now[0]
        process = GpuProcess(pid=9, user="eve", memory_bytes=4 << 30)
        reading = GpuReading(index=0, uuid="G0", utilization=50, processes=[process])
        controller.readings.take(DESK, [reading], None, None)
        await controller.engine.commit()
        controller.usage.confirm(DESK, now[0] + 10)
        now[0] += 10
        with monkeypatch.context() as broken:
            broken.setattr("tarmac.store.writer.write", fail)
            with pytest.raises(OSError, match="full"):
                await controller.store_usage()
        (kept,) = controller.usage.foreign()
        assert kept.held_s == 10.0

    run(tmp_path, story)


def test_days_that_are_over_are_in_the_accounts_once(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = [86400.0 * 20000 + 100]
        controller.engine._clock = lambda: now[0]
        (job,) = await submit(controller, specs())
        await controller.engine.commit(
            Reported(node=DESK, report=JobStarted(job=JobId(job), attempt=1, pid=9, started_at=now[0]))
        )
        controller.readings.take(DESK, [GpuReading(index=0, uuid="G0", utilization=50)], None, None)
        for _ in range(3):
            controller.readings.renew(DESK)
            now[0] += 10
            controller.readings._tick()
            now[0] += 86400
        await controller.engine.commit()
        stored = controller.store.reader.account_sums("day", Scope("0", "9"))
        assert len(stored) == 2, "not the last day"
        assert {one.held_s for one in stored.values()} == {0.0}, "that follows at the end"
        used_s = BegunReport(controller, ReportRequest()).finish().total.used_s
        assert used_s == controller.usage.book(job, 1).total(job).used_s
        await controller.engine.commit(exited(job))
        (total,) = controller.store.reader.account_sums("owner", Scope("0", "9")).values()
        assert total.held_s > 2 * 86400
        assert total.used_s == used_s

    run(tmp_path, story)


def test_foreign_use_is_stored_every_minute_while_no_job_runs(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        now = [1000.0]
        controller.engine._clock = lambda: now[0]
        process = GpuProcess(pid=9, user="eve", memory_bytes=4 << 30)
        reading = GpuReading(index=0, uuid="G0", utilization=50, memory_total_bytes=24 << 30, processes=[process])
        controller.readings.take(DESK, [reading], None, None)
        for _ in range(25):  # two minutes
            now[0] += 5
            controller.readings.renew(DESK)
        await controller.engine.commit()
        (stored,) = controller.store.reader.account_sums("owner", Scope("0", "9")).items()
        assert stored[0] == Key("foreign", "", "eve")
        assert 60 <= stored[1].held_s <= 125
        assert stored[1].used_s == stored[1].held_s / 2
        await controller.store_usage()
        (total,) = controller.store.reader.account_sums("owner", Scope("0", "9")).values()
        assert total.held_s == 125.0, "the rest, when the controller ends"
        assert controller.usage.foreign() == []

    run(tmp_path, story)
