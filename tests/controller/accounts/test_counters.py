"""Counts since the controller started."""

from __future__ import annotations

from dataclasses import replace

from tarmac.controller.accounts.counters import LONGEST_STEP_S, Counters, Ended, Histogram, Holder
from tarmac.core.changes import Changes
from tarmac.core.model.status import Failed, Starting
from tarmac.nodes.reports import GpuReading
from tests.core.support.builders import a_booking, a_job, a_status

ANN = Holder("job", "ann", "")


def test_gpu_time_is_added_by_the_part_that_is_held() -> None:
    counters = Counters()
    reading = GpuReading(index=0, uuid="g0", utilization=50, power_w=100.0)
    counters.add_held(ANN, 10.0, 0.5)
    counters.add_use(ANN, reading, 10.0, 0.5)
    counters.add_use(ANN, GpuReading(index=0, uuid="g0"), 10.0, 0.5)
    assert (counters.held_s[ANN], counters.used_s[ANN], counters.energy_j[ANN]) == (5.0, 2.5, 500.0)


def test_a_clock_that_is_set_adds_little_and_takes_nothing_away() -> None:
    counters = Counters()
    counters.add_held(ANN, 1e6, 1.0)
    counters.add_held(ANN, -1e6, 1.0)
    assert counters.held_s[ANN] == LONGEST_STEP_S


def test_jobs_are_counted_as_they_come_start_and_end() -> None:
    counters = Counters()
    job = a_job(1)
    counters.count(Changes(new=[job]))
    starting = Starting(booking=a_booking(0), decided_at=job.submitted_at + 42)
    counters.count(Changes(changed={job.id: replace(job, attempt=1, status=starting)}))
    counters.count(Changes(changed={job.id: replace(job, attempt=2, status=starting)}))
    failed = Failed(booking=None, pid=None, started_at=1.0, ended_at=2.0, reason="oom-gpu")
    counters.count(Changes(changed={job.id: replace(job, status=failed)}))
    counters.count(Changes(changed={job.id: replace(job, status=a_status("succeeded", a_booking(0)))}))
    counters.count(Changes(changed={job.id: replace(job, status=a_status("unknown", a_booking(0)))}))
    assert counters.submitted == {"ann": 1}
    assert counters.ended == {Ended("ann", "failed", "oom-gpu"): 1, Ended("ann", "succeeded", ""): 1}
    assert (counters.waits_s.total, counters.waits_s.cumulative()[-1]) == (42.0, 1), "the first attempt alone"


def test_a_wait_begins_with_the_begin_time() -> None:
    counters = Counters()
    job = a_job(1)
    job.spec = replace(job.spec, begin_at=job.submitted_at + 40)
    starting = Starting(booking=a_booking(0), decided_at=job.submitted_at + 42)
    counters.count(Changes(changed={job.id: replace(job, attempt=1, status=starting)}))
    assert counters.waits_s.total == 2.0


def test_buckets_include_their_bound_and_are_cumulative() -> None:
    histogram = Histogram((1.0, 10.0))
    for value in (0.0, 1.0, 1.5, 10.0, 99.0):
        histogram.observe(value)
    assert histogram.cumulative() == [2, 4, 5]
