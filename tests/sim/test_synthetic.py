import pytest

from tarmac.sim.synthetic import made_up
from tests.sim.scene import nodes


def test_the_seed_determines_the_trace():
    assert made_up(50, nodes(2, 8), seed=1) == made_up(50, nodes(2, 8), seed=1)
    assert made_up(50, nodes(2, 8), seed=1) != made_up(50, nodes(2, 8), seed=2)


def test_jobs_arrive_faster_than_the_gpus_can_run_them():
    trace = made_up(5000, nodes(4, 8), seed=1)
    work = sum(job.request.gpus * job.duration_s for job in trace)
    assert work / (32 * trace[-1].submit_s) == pytest.approx(1.25, rel=0.1)


def test_no_job_requests_more_gpus_than_a_node_has():
    trace = made_up(200, nodes(1, 2), seed=1)
    assert {job.request.gpus for job in trace} == {1, 2}


def test_some_jobs_reach_their_limit_and_some_have_none():
    trace = made_up(1000, nodes(1, 8), seed=1)
    assert 0 < sum(job.is_cut_short for job in trace) < 100
    assert 50 < sum(job.limit_s is None for job in trace) < 200
