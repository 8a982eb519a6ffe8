from collections import Counter
from itertools import pairwise
from math import log

import pytest

from tarmac.sim.synthetic import made_up
from tarmac.sim.trace import TraceJob
from tests.sim.scene import nodes


@pytest.fixture(scope="module")
def trace() -> list[TraceJob]:
    return made_up(20_000, nodes(4, 8), seed=1)


def test_the_seed_determines_the_trace():
    assert made_up(50, nodes(2, 8), seed=1) == made_up(50, nodes(2, 8), seed=1)
    assert made_up(50, nodes(2, 8), seed=1) != made_up(50, nodes(2, 8), seed=2)


@pytest.mark.parametrize("jobs", [1, 2, 37, 1000])
def test_it_has_as_many_jobs_as_asked_for_in_the_order_of_their_submits(jobs: int):
    trace = made_up(jobs, nodes(1, 8), seed=5)
    assert len(trace) == jobs
    assert [job.submit_s for job in trace] == sorted(job.submit_s for job in trace)
    assert trace[0].submit_s >= 0


@pytest.mark.parametrize("node_count", [1, 4, 1000])
def test_jobs_arrive_faster_than_the_gpus_can_run_them(node_count: int):
    trace = made_up(5000, nodes(node_count, 8), seed=1)
    work = sum(job.request.gpus * job.duration_s for job in trace)
    assert work / (node_count * 8 * trace[-1].submit_s) == pytest.approx(1.25, rel=0.1)


def test_no_job_requests_more_gpus_than_a_node_has():
    trace = made_up(200, nodes(1, 2), seed=1)
    assert {job.request.gpus for job in trace} == {1, 2}


def test_some_jobs_reach_their_limit_and_some_have_none():
    trace = made_up(1000, nodes(1, 8), seed=1)
    assert 0 < sum(job.is_cut_short for job in trace) < 100
    assert 50 < sum(job.limit_s is None for job in trace) < 200


def test_durations_range_from_seconds_to_days(trace: list[TraceJob]):
    durations = sorted(job.duration_s for job in trace)
    assert durations[len(durations) // 20] < 60
    assert durations[-len(durations) // 100] > 86400
    assert 300 < durations[len(durations) // 2] < 3600


def test_most_jobs_are_narrow_and_wide_ones_do_most_of_the_work(trace: list[TraceJob]):
    jobs, work = Counter[int](), Counter[int]()
    for job in trace:
        jobs[job.request.gpus] += 1
        work[job.request.gpus] += job.request.gpus * job.duration_s
    assert jobs[1] > 0.7 * jobs.total()
    assert work[4] + work[8] > 0.5 * work.total()


def test_a_few_owners_submit_most_jobs(trace: list[TraceJob]):
    jobs = Counter(job.owner for job in trace)
    assert sum(count for _, count in jobs.most_common(3)) > 0.5 * len(trace)
    assert len(jobs) > 10


def test_jobs_come_in_bursts(trace: list[TraceJob]):
    gaps = sorted(after.submit_s - before.submit_s for before, after in pairwise(trace))
    mean_s = sum(gaps) / len(gaps)
    assert gaps[len(gaps) // 2] < 0.1 * mean_s  # at an even rate, the median would be 0.7 of it
    assert gaps[-len(gaps) // 100] > 10 * mean_s


def test_an_owners_consecutive_jobs_take_about_as_long(trace: list[TraceJob]):
    """Otherwise no scheduler could predict them from the last ones."""
    ratios, last = [], dict[tuple[str, int], float]()
    for job in trace:
        kind = (job.owner, job.request.gpus)
        if kind in last:
            ratios.append(abs(log(job.duration_s / last[kind])))
        last[kind] = job.duration_s
    assert 0.7 < sum(ratio < log(2) for ratio in ratios) / len(ratios) < 0.9
