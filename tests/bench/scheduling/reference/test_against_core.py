"""The reference schedulers and the core start every job at the same time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.scheduling.reference.cluster import Job
from bench.scheduling.reference.easy import Easy
from bench.scheduling.reference.fifo import Fifo
from bench.scheduling.reference.max_min import MaxMin
from bench.scheduling.reference.sjf import ShortestFirst
from bench.scheduling.schedule import by_reference
from bench.scheduling.workload import at_load, nodes, synthetic_jobs
from tarmac.core.model.rules import Rules
from tarmac.sim.trace import trace_job
from tarmac.sim.world import simulate
from tests.core.support.effort import tries

NEVER_S = 1e12
FIFO = Rules(policy="fifo", suspend_after_failures=0, drain_node_after_failures=0, starvation_s=NEVER_S)
PLAIN = replace(FIFO, is_backfilling=False)
BALANCE = replace(FIFO, policy="balance")
WIDTHS = (1, 1, 1, 2, 4, 8)


@st.composite
def workloads(draw: st.DrawFn) -> list[Job]:
    """A few owners submit jobs, some at the same time and of the same length."""
    count = draw(st.integers(1, 40))
    submits = sorted(draw(st.lists(st.integers(0, 60), min_size=count, max_size=count)))
    return [
        Job(
            number=number,
            submit_s=float(submit_s),
            owner=draw(st.sampled_from("abc")),
            gpus=draw(st.sampled_from(WIDTHS)),
            duration_s=(duration_s := float(draw(st.integers(1, 50)))),
            limit_s=duration_s * draw(st.sampled_from((1.0, 1.5, 3.0))),
        )
        for number, submit_s in enumerate(submits)
    ]


def core_starts(jobs: list[Job], node_count: int, rules: Rules, *, by_length: bool = False) -> list[float | None]:
    """`by_length`: the shortest job has the best priority, and the core knows each length."""
    rank = {job.number: place for place, job in enumerate(sorted(jobs, key=lambda job: (job.duration_s, job.number)))}
    trace = [
        trace_job(
            submit_s=job.submit_s,
            owner=job.owner,
            gpus=job.gpus,
            duration_s=job.duration_s,
            limit_s=job.duration_s if by_length else job.limit_s,
            priority=rank[job.number] if by_length else 0,
        )
        for job in jobs
    ]
    return simulate(trace, nodes(node_count), rules).starts


@pytest.mark.parametrize("node_count", [1, 3])
@tries(60)
@given(jobs=workloads())
def test_fifo_without_backfill_is_plain_fifo(node_count: int, jobs: list[Job]) -> None:
    assert core_starts(jobs, node_count, PLAIN) == by_reference(jobs, node_count, Fifo).starts


@pytest.mark.parametrize("node_count", [1, 3])
@tries(60)
@given(jobs=workloads())
def test_fifo_is_easy_backfill(node_count: int, jobs: list[Job]) -> None:
    assert core_starts(jobs, node_count, FIFO) == by_reference(jobs, node_count, Easy).starts


@tries(60)
@given(jobs=workloads())
def test_balance_on_one_node_is_max_min_sharing_with_easy_backfill(jobs: list[Job]) -> None:
    assert core_starts(jobs, 1, BALANCE) == by_reference(jobs, 1, MaxMin).starts


@pytest.mark.parametrize("node_count", [1, 3])
@tries(60)
@given(jobs=workloads())
def test_fifo_with_priorities_by_length_is_the_sjf_oracle(node_count: int, jobs: list[Job]) -> None:
    assert core_starts(jobs, node_count, FIFO, by_length=True) == by_reference(jobs, node_count, ShortestFirst).starts


@pytest.mark.parametrize("node_count", [1, 4])
@pytest.mark.parametrize("load", [0.7, 1.1])
def test_they_agree_on_a_long_queue_of_jobs_like_real_ones(node_count: int, load: float) -> None:
    jobs = at_load(synthetic_jobs(600), node_count, load)
    assert core_starts(jobs, node_count, PLAIN) == by_reference(jobs, node_count, Fifo).starts
    assert core_starts(jobs, node_count, FIFO) == by_reference(jobs, node_count, Easy).starts
    assert core_starts(jobs, 1, BALANCE) == by_reference(jobs, 1, MaxMin).starts
