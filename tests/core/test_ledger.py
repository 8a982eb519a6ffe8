"""GPU time of owners: by clock hours, within a week, and weighted by age."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest

from tarmac.core.events import QueueStopped
from tarmac.core.ledger import HOUR_S, WEEK_S, Ledger
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import Job, Request
from tarmac.core.model.status import Booking
from tarmac.core.state import State
from tests.core.support.builders import BOX, a_booking, a_job, a_spec
from tests.core.support.scene import Scene

LIFE_S = 7.0 * 24 * HOUR_S


def of_project(job: Job, project: str) -> Job:
    job.spec = a_spec(project=project)
    return job


def test_the_gpu_time_of_an_ended_job_is_split_by_clock_hours() -> None:
    ledger = Ledger()
    ledger.begin(of_project(a_job(1), "p"), a_booking(0, 1), 3000.0, 3000.0, LIFE_S)
    assert ledger.gpus_of_owner == {"ann": 2.0}
    assert ledger.gpus_of_project == {"p": 2.0}
    rows = ledger.end(JobId(1), 8000.0, LIFE_S)
    assert rows == [(0, "ann", "p", 1200.0), (1, "ann", "p", 7200.0), (2, "ann", "p", 1600.0)]
    assert ledger.hours_of_owner == {"ann": {0: 1200.0, 1: 7200.0, 2: 1600.0}}
    assert ledger.hours_of_project == {"p": {0: 1200.0, 1: 7200.0, 2: 1600.0}}
    assert (ledger.running, ledger.gpus_of_owner, ledger.gpus_of_project) == ({}, {}, {})


def test_a_part_of_a_gpu_counts_as_that_part() -> None:
    quarter = BookedGpu(uuid=GpuUuid("box-0"), index=0, memory_bytes=10, part=0.25)
    ledger = Ledger()
    ledger.begin(a_job(1), Booking(node=BOX, gpus=(quarter,)), 0.0, 0.0, LIFE_S)
    ledger.begin(a_job(2), Booking(node=BOX, gpus=(quarter,)), 0.0, 0.0, LIFE_S)
    assert ledger.gpus_of_owner == {"ann": 0.5}
    assert ledger.end(JobId(1), 100.0, LIFE_S) == [(0, "ann", "", 25.0)]
    assert ledger.gpus_of_owner == {"ann": 0.25}


def test_a_job_without_gpus_leaves_no_rows() -> None:
    ledger = Ledger()
    ledger.begin(a_job(1, gpus=0), a_booking(), 0.0, 0.0, LIFE_S)
    assert ledger.end(JobId(1), 9000.0, LIFE_S) == []
    assert ledger.gpus_of_owner == {}


def test_weekly_hours_include_ended_and_running_jobs() -> None:
    now = 2.0 * WEEK_S
    ledger = Ledger()
    hour = int(now // HOUR_S)
    ledger.add([(hour - 1, "ann", "p", 1800.0), (hour - 168, "ann", "", 3600.0), (hour - 169, "ann", "p", 9e9)])
    assert ledger.week_hours_of_owner("ann", now) == 1.5
    assert ledger.week_hours_of_project("p", now) == 0.5
    assert ledger.week_hours_of_owner("bob", now) == 0.0
    ledger.begin(of_project(a_job(1), "p"), a_booking(0, 1), now - 900.0, now, LIFE_S)
    ledger.begin(a_job(2, owner="bob"), a_booking(2), 0.0, now, LIFE_S)
    assert ledger.week_hours_of_owner("ann", now) == 2.0
    assert ledger.week_hours_of_project("p", now) == 1.0
    assert ledger.week_hours_of_owner("bob", now) == 168.0, "no more than the week, however long it runs"


def test_after_one_half_life_half_is_left() -> None:
    ledger = Ledger()
    ledger.begin(a_job(1), a_booking(0), 0.0, 0.0, 1000.0)
    ledger.end(JobId(1), 10.0, 1000.0)
    at_end = ledger.faded_gpu_s("ann", 10.0, 1000.0)
    assert at_end == pytest.approx(10.0, rel=0.01)
    assert ledger.faded_gpu_s("ann", 1010.0, 1000.0) == pytest.approx(at_end / 2)
    assert ledger.faded_gpu_s("ann", 3010.0, 1000.0) == pytest.approx(at_end / 8)


def test_one_gpu_forever_counts_as_the_half_life_over_ln_2() -> None:
    ledger = Ledger()
    ledger.begin(a_job(1), a_booking(0), 0.0, 0.0, 1000.0)
    for now in range(0, 40_000, 700):
        ledger.faded_gpu_s("ann", float(now), 1000.0)
    assert ledger.faded_gpu_s("ann", 40_000.0, 1000.0) == pytest.approx(1442.695, abs=0.01)


def test_a_clock_that_goes_back_subtracts_nothing() -> None:
    ledger = Ledger()
    ledger.begin(a_job(1), a_booking(0), 500.0, 500.0, 1000.0)
    before = ledger.faded_gpu_s("ann", 900.0, 1000.0)
    assert ledger.faded_gpu_s("ann", 100.0, 1000.0) == before
    assert ledger.end(JobId(1), 100.0, 1000.0) == []


def a_busy_week() -> tuple[Scene, float]:
    scene = Scene(gpus=4, policy="fairshare", half_life_s=LIFE_S)
    scene.now = 1000.0 * HOUR_S
    scene.run(a_spec(gpus=2), a_spec(owner="bob"))
    scene.pass_s(30 * HOUR_S)
    scene.finish(1)
    scene.pass_s(20 * HOUR_S)
    scene.run(a_spec(project="p"))
    scene.pass_s(10 * HOUR_S)
    return scene, scene.now


def scores(state: State, now: float, half_life_s: float) -> dict[str, float]:
    return {owner: state.ledger.faded_gpu_s(owner, now, half_life_s) for owner in ("ann", "bob")}


@pytest.mark.parametrize("half_life_s", [LIFE_S, LIFE_S / 7])
def test_recomputed_scores_equal_incremental_scores(half_life_s: float) -> None:
    """Time is stored per clock hour, so the result is exact to half an hour."""
    scene, now = a_busy_week()
    scene.set_rules(half_life_s=half_life_s)
    now = scene.now
    changed = scores(scene.state, now, half_life_s)
    steady = Scene(gpus=4, policy="fairshare", half_life_s=half_life_s)
    again = deepcopy(scene.state.ledger)
    again.fade_anew(now, half_life_s)
    assert scores(scene.state, now, half_life_s) == changed
    assert again.faded_gpu_s("ann", now, half_life_s) == pytest.approx(changed["ann"])
    steady.now = 1000.0 * HOUR_S
    steady.run(a_spec(gpus=2), a_spec(owner="bob"))
    steady.pass_s(30 * HOUR_S)
    steady.finish(1)
    steady.pass_s(20 * HOUR_S)
    steady.run(a_spec())
    steady.pass_s(10 * HOUR_S)
    assert changed == pytest.approx(scores(steady.state, now, half_life_s), rel=0.002)


def test_a_restart_gives_the_same_scores() -> None:
    scene, now = a_busy_week()
    before = scores(scene.state, now, LIFE_S)
    rows = [(*key, gpu_s) for key, gpu_s in scene.state.take_changes().hours.items()]
    assert sum(row[3] for row in rows) == pytest.approx(2 * 30 * HOUR_S, abs=20)
    restarted = State(rules=scene.state.rules)
    restarted.load(list(scene.state.jobs.values()), next_id=9, now=now)
    restarted.load_hours(rows, now)
    assert scores(restarted, now, LIFE_S) == pytest.approx(before, rel=0.002)
    assert restarted.ledger.gpus_of_owner == scene.state.ledger.gpus_of_owner == {"ann": 1.0, "bob": 1.0}
    assert restarted.ledger.gpus_of_project == {"p": 1.0}
    week = scene.state.ledger.week_hours_of_owner("ann", now)
    assert restarted.ledger.week_hours_of_owner("ann", now) == pytest.approx(week, abs=0.01)


def test_old_hours_are_dropped() -> None:
    ledger = Ledger()
    ledger.add([(0, "ann", "", 1.0), (2000, "ann", "", 2.0)])
    ledger.fade_anew(2001.0 * HOUR_S, LIFE_S)
    assert ledger.hours_of_owner == {"ann": {2000: 2.0}}


def test_a_stopping_job_counts_until_it_has_ended() -> None:
    scene = Scene()
    scene.run()
    scene.stop(1)
    assert scene.state.ledger.gpus_of_owner == {"ann": 1.0}
    scene.finish(1, exit_code=None, signal=15)
    assert scene.state.ledger.gpus_of_owner == {}


def test_shared_gpus_count_by_the_booked_part() -> None:
    scene = Scene(gpus=1)
    scene.submit(*(replace(a_spec(), request=Request(gpu_share=part)) for part in (0.25, 0.5)))
    assert scene.at_work() == [1, 2]
    assert scene.state.ledger.gpus_of_owner["ann"] == pytest.approx(0.75)


def test_every_attempt_that_gives_its_gpus_back_has_what_the_hours_count() -> None:
    scene = Scene(gpus=2)
    scene.now = 1000.0 * HOUR_S
    scene.run(a_spec(gpus=2), a_spec(owner="bob", project="p"), a_spec(gpus=0))
    scene.pass_s(2.5 * HOUR_S)
    scene.finish(1)
    scene.begin()
    scene.pass_s(HOUR_S)
    scene.happen(QueueStopped(by="ann"))
    scene.finish(2)
    changes = scene.state.take_changes()
    told: dict[tuple[str, str], float] = {}
    for release in changes.releases:
        gpu_s = (release.until - release.since) * sum(gpu.part for gpu in release.booking.gpus)
        key = (release.owner, release.project or "")
        told[key] = told.get(key, 0.0) + gpu_s
    counted: dict[tuple[str, str], float] = {}
    for (_, owner, project), gpu_s in changes.hours.items():
        counted[owner, project] = counted.get((owner, project), 0.0) + gpu_s
    assert told.keys() == {("ann", ""), ("bob", "p")}
    assert told == pytest.approx(counted)
    assert {(release.job, release.attempt) for release in changes.releases} >= {(1, 1), (2, 1)}
    assert all(release.job in changes.changed for release in changes.releases)
