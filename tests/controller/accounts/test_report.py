"""Reports of a controller with a real database: over midnight, over attempts and restarts, of jobs that still run."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tarmac.controller.accounts.report import BegunReport, Report, ReportRequest, report_at_rest
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.core.events import (
    GpusSeen,
    JobExited,
    JobsPaused,
    JobsResumed,
    JobsSubmitted,
    JobStarted,
    QueueResumed,
    QueueStopped,
    Reported,
    RunReport,
)
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.store import accounts
from tarmac.store.accounts import Account, By, Key, Scope, Sums
from tests.controller.accounts.zones import zone
from tests.controller.engine.desk import DESK, RecordingFleet, run, specs, submit

HOUR_S = 3600.0
MIDNIGHT = datetime(2026, 11, 17, tzinfo=UTC).timestamp()
MONDAY, TUESDAY = "2026-11-16", "2026-11-17"


async def an_hour(controller: Controller) -> Clock:
    """Job 1 runs since midnight, an hour ago."""
    clock = Clock(controller, MIDNIGHT)
    await submit(controller, specs())
    await begin(controller, clock)
    clock.now += HOUR_S
    return clock


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with zone("UTC"):
        yield


class Clock:
    """Time that passes as a test says, and is not mistaken for a clock that was set."""

    def __init__(self, controller: Controller, now: float) -> None:
        self.now = self.began_at = now
        controller.engine._clock = lambda: self.now
        controller.engine._steps = self  # type: ignore[assignment]

    def take(self) -> float:
        return 0.0


def held(found: Report) -> dict[str, float]:
    return {key.name: sums.held_s for key, sums in found.rows.items()}


def now_by(controller: Controller, by: By, since: float = 0.0, until: float | None = None) -> Report:
    return BegunReport(controller, ReportRequest(by=by, since=since, until=until)).finish()


async def begin(controller: Controller, clock: Clock, job: int = 1, attempt: int = 1) -> None:
    clock.began_at = clock.now
    await tell(controller, JobStarted(job=JobId(job), attempt=attempt, pid=9, started_at=clock.now))


async def end(controller: Controller, clock: Clock, job: int = 1, attempt: int = 1) -> None:
    await tell(
        controller,
        JobExited(
            job=JobId(job),
            attempt=attempt,
            exit_code=0,
            signal=None,
            pid=9,
            started_at=clock.began_at,
            ended_at=clock.now,
        ),
    )


async def tell(controller: Controller, what: RunReport) -> None:
    await controller.engine.commit(Reported(node=DESK, report=what))


def test_a_job_over_midnight_counts_on_both_days_while_it_runs_and_once_it_has_ended(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = Clock(controller, MIDNIGHT - HOUR_S)
        await submit(controller, specs())
        await begin(controller, clock)
        clock.now = MIDNIGHT + 2 * HOUR_S
        expected = {MONDAY: HOUR_S, TUESDAY: 2 * HOUR_S}
        assert held(now_by(controller, "day")) == expected
        await end(controller, clock)
        assert held(now_by(controller, "day")) == expected
        assert held(now_by(controller, "owner")) == {"ann": 3 * HOUR_S}
        assert held(now_by(controller, "owner", until=MIDNIGHT - 1)) == {"ann": HOUR_S}
        assert held(now_by(controller, "owner", since=MIDNIGHT + 5 * HOUR_S)) == {"ann": 2 * HOUR_S}, "whole days"
        assert now_by(controller, "gpu").rows.keys() == {Key("job", DESK, "G0")}

    run(tmp_path, story)


def test_attempts_add_up_and_what_lies_between_does_not_count(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = await an_hour(controller)
        await controller.engine.commit(QueueStopped(by="ann", grace_s=1.0))
        await end(controller, clock)
        clock.now += HOUR_S
        assert held(now_by(controller, "owner")) == {"ann": HOUR_S}
        await controller.engine.commit(QueueResumed(by="ann"))
        await begin(controller, clock, attempt=2)
        clock.now += HOUR_S
        await end(controller, clock, attempt=2)
        found = now_by(controller, "owner")
        assert (held(found), found.total.jobs) == ({"ann": 2 * HOUR_S}, 1)
        usage = controller.store.reader.usage(1)
        assert usage is not None
        assert usage.held_s == 2 * HOUR_S

    run(tmp_path, story)


def test_removed_jobs_stay_in_the_report(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = await an_hour(controller)
        await end(controller, clock)
        before = now_by(controller, "project")
        await controller.engine.decide(lambda _: Decision(answer=None, removed=[JobId(1)]))
        assert controller.job(1) is None
        assert now_by(controller, "project") == before

    run(tmp_path, story)


def test_the_project_and_owner_of_each_job_have_their_rows(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = Clock(controller, MIDNIGHT)
        spec = specs().specs[0]
        await submit(controller, JobsSubmitted(specs=(replace(spec, project="vision"),)))
        await begin(controller, clock)
        clock.now += HOUR_S
        await end(controller, clock)
        await submit(controller, JobsSubmitted(specs=(replace(spec, owner="bob"),)))
        await begin(controller, clock, job=2)
        clock.now += HOUR_S
        assert held(now_by(controller, "project")) == {"vision": HOUR_S, "": HOUR_S}
        assert held(now_by(controller, "owner")) == {"ann": HOUR_S, "bob": HOUR_S}
        assert now_by(controller, "owner").total.jobs == 2
        for owner, jobs in (("ann", 1), ("bob", 1), ("eve", 0)):
            assert BegunReport(controller, ReportRequest(by="day", owner=owner)).finish().total.jobs == jobs
        assert BegunReport(controller, ReportRequest(project="vision")).finish().total.held_s == HOUR_S

    run(tmp_path, story)


def test_days_without_use_are_listed_between_those_with_some(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = await an_hour(controller)
        await end(controller, clock)
        account = Account(day="2026-11-20", owner="bob", held_s=1.0)
        await controller.engine.decide(lambda _: Decision(answer=None, accounts=[account]))
        clock.now += 72 * HOUR_S
        assert held(now_by(controller, "day", until=clock.now)) == {
            TUESDAY: HOUR_S, "2026-11-18": 0.0, "2026-11-19": 0.0, "2026-11-20": 1.0,
        }  # fmt: skip

    run(tmp_path, story)


def test_paused_time_is_counted_apart_while_it_lasts_and_once_the_job_has_ended(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = await an_hour(controller)
        await controller.engine.commit(JobsPaused(jobs=(JobId(1),), by="ann"))
        clock.now += 2 * HOUR_S
        found = now_by(controller, "owner").total
        assert (found.held_s, found.pause_s) == (3 * HOUR_S, 2 * HOUR_S)
        await controller.engine.commit(JobsResumed(jobs=(JobId(1),), by="ann"))
        clock.now += HOUR_S
        await end(controller, clock)
        found = now_by(controller, "owner").total
        assert (found.held_s, found.pause_s) == (4 * HOUR_S, 2 * HOUR_S)
        usage = controller.store.reader.usage(1)
        assert usage is not None
        assert usage.pause_s == 2 * HOUR_S

    run(tmp_path, story)


def test_the_controller_decides_while_a_report_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    add_up = accounts.sums

    def slowly(connection: sqlite3.Connection, by: By, scope: Scope) -> dict[Key, Sums]:
        begun.set()
        assert may_go_on.wait(30)
        return add_up(connection, by, scope)

    monkeypatch.setattr(accounts, "sums", slowly)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = await an_hour(controller)
        asked = asyncio.create_task(report_at_rest(controller, ReportRequest()))
        assert await asyncio.to_thread(begun.wait, 30)
        clock.now += HOUR_S
        await end(controller, clock)  # committed meanwhile
        assert controller.store.reader.usage(1) is not None
        may_go_on.set()
        assert held(await asked) == {"ann": HOUR_S}, "as of the moment it was asked for"
        assert held(await report_at_rest(controller, ReportRequest())) == {"ann": 2 * HOUR_S}

    run(tmp_path, story)


def test_an_attempt_that_ran_out_of_memory_teaches_that_also_if_it_is_retried(tmp_path: Path) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        clock = Clock(controller, MIDNIGHT)
        gpu = Gpu(uuid=GpuUuid("G0"), index=0, memory_total_bytes=24 << 30)
        await controller.engine.commit(GpusSeen(node=DESK, gpus=(gpu,)))
        (spec,) = specs().specs
        await submit(controller, JobsSubmitted(specs=(replace(spec, name="train", retries=1),)))
        await begin(controller, clock)
        ended = JobExited(
            job=JobId(1), attempt=1, exit_code=1, signal=None, pid=9, started_at=MIDNIGHT, ended_at=MIDNIGHT, oom="gpu"
        )
        await tell(controller, ended)
        assert controller.state.jobs[JobId(1)].retried == 1
        assert controller.store.reader.memory_peaks("ann", "name:train") == [24 << 30]

    run(tmp_path, story)
