"""Which GPUs several plans withhold from a job."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Request
from tarmac.core.model.plan import PlannedStart
from tarmac.core.policy.plans.exclusions import ALL_GPUS, NO_GPUS, Exclusions, PlannedGpus, would_delay
from tests.core.support.builders import NOW, a_job, a_node, a_spec, a_state

GIB = 2**30


def a_plan(number: int, node: str, *indices: int, **more: Any) -> PlannedStart:
    gpus = frozenset(GpuUuid(f"{node}-{index}") for index in indices)
    given = {"at": NOW + 100.0, "rests_on": frozenset({"limit"}), "uses_host": False, **more}
    return PlannedStart(job=JobId(number), node=NodeName(node), gpus=gpus, **given)


def test_plans_withhold_their_gpus_node_by_node() -> None:
    nodes = [a_node(gpus=4, name=name) for name in ("n0", "n1", "n2")]
    off = PlannedGpus([a_plan(1, "n0", 0, 1), a_plan(2, "n1", 3), a_plan(3, "n0", 2)], Request(gpus=1))
    assert [off.off(node) for node in nodes] == [{"n0-0", "n0-1", "n0-2"}, {"n1-3"}, NO_GPUS]


@pytest.mark.parametrize("order", [1, -1])
def test_a_plan_that_needs_the_host_closes_its_node_for_jobs_that_do_too(order: int) -> None:
    plans = [a_plan(1, "n0", 0, uses_host=True), a_plan(2, "n0", 1)][::order]
    node = a_node(gpus=4, name="n0")
    assert PlannedGpus(plans, Request(gpus=1, memory_bytes=GIB)).off(node) is ALL_GPUS
    assert PlannedGpus(plans, Request(gpus=0, cpus=2)).off(node) is ALL_GPUS
    assert PlannedGpus(plans, Request(gpus=1)).off(node) == {"n0-0", "n0-1"}


def test_a_job_stays_off_the_plans_that_it_would_delay_and_off_no_other() -> None:
    nodes = [a_node(gpus=2, name=name) for name in ("n0", "n1")]
    state = a_state(*nodes)
    job = a_job(9)
    job.spec = a_spec(time_limit_s=150.0)
    plans = [a_plan(1, "n0", 0, 1), a_plan(2, "n1", 0, 1, at=NOW + 200.0)]
    assert [would_delay(state, job, NOW, planned) for planned in plans] == [True, False]
    assert [Exclusions(state, job, NOW, plans).off(node) for node in nodes] == [{"n0-0", "n0-1"}, NO_GPUS]


def test_a_job_does_not_delay_its_own_plan_and_nothing_passes_gpus_that_come_free_at_any_moment() -> None:
    state = a_state(a_node(gpus=2, name="n0"))
    job = a_job(1)
    job.spec = a_spec(time_limit_s=1.0)
    assert not would_delay(state, job, NOW, a_plan(1, "n0", 0))
    stops = {"rests_on": frozenset({"stop", "limit"})}
    assert would_delay(state, job, NOW, a_plan(2, "n0", 0, **stops))
    assert would_delay(state, job, NOW, a_plan(2, "n0", 0, at=None, is_overdue=True))


def test_a_job_that_ends_exactly_in_time_passes() -> None:
    state = a_state(a_node(gpus=2, name="n0"))
    job = a_job(1)
    job.spec = a_spec(time_limit_s=100.0)
    assert not would_delay(state, job, NOW, a_plan(2, "n0", 0))
    assert would_delay(state, job, NOW + 0.5, a_plan(2, "n0", 0))
