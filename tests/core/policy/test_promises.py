"""Guarantees about starts: backfill does not delay the first job, and every owner gets a turn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.names import Order, Policy
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tests.core.support.builders import BOX, a_node, a_spec
from tests.core.support.clockwork import Clockwork
from tests.core.support.effort import tries
from tests.core.support.loads import choosy, machines, shared, specs, whole

GIB = 1 << 30
FIFO = Rules(policy="fifo", starvation_s=1e18)
limited = specs(
    st.one_of(whole, whole, shared, choosy),
    tier=st.just("normal"),
    priority=st.just(10),
    time_limit_s=st.sampled_from([5.0, 20.0, 60.0, 90.0]),
)
loads = st.lists(limited, min_size=2, max_size=14)
limits_s = st.sampled_from([None, None, 5.0, 60.0])


@tries(200)
@given(
    nodes=machines(),
    first=loads,
    later=st.lists(limited, max_size=6),
    lasting=st.lists(st.sampled_from([0.1, 0.5, 1.0]), min_size=1, max_size=5),
)
def test_the_first_job_starts_by_its_planned_time(
    nodes: list[Node], first: list[JobSpec], later: list[JobSpec], lasting: list[float]
) -> None:
    """Regardless of backfilled jobs, and whether jobs use their full time limit."""
    works = Clockwork(nodes, FIFO, lasting)
    works.submit(*first)
    due: dict[int, float] = {}
    while works.ends:
        planned = works.planned_start()
        if planned is not None and planned.at is not None:
            due[planned.job] = min(planned.at, due.get(planned.job, planned.at))
        works.end_next()
        if later:
            works.submit(later.pop())
        late = {job: at for job, at in due.items() if works.started.get(job, works.now) > at}
        assert late == {}


def test_a_backfilled_start_that_moves_the_planned_gpus_is_followed_by_another_pass() -> None:
    """Job 12 is backfilled onto a planned GPU. The plan moves, and job 11 fits on the GPU that is no longer planned."""
    node = replace(a_node(gpus=4), slots={GpuUuid(f"{BOX}-2"): 2})
    node = replace(node, gpus={uuid: replace(gpu, memory_total_bytes=24 * GIB) for uuid, gpu in node.gpus.items()})
    works = Clockwork([node], FIFO, [1.0, 0.1])
    works.submit(
        *(
            replace(a_spec(time_limit_s=limit_s, grace_s=0.0), request=Request(**asked))
            for limit_s, asked in (
                (90.0, {"gpus": 4}),
                (5.0, {"gpus": 3}),
                (5.0, {"gpus": 2, "exclude_gpus": (0,)}),
                (5.0, {}),
                (5.0, {"gpus": 2}),
                (20.0, {"gpu_memory_bytes": 4 * GIB}),
                (5.0, {}),
                (90.0, {}),
                (60.0, {}),
                (60.0, {}),
                (90.0, {"gpu_share": 0.5}),
                (5.0, {"gpus": 2, "gpu_memory_bytes": 4 * GIB}),
                (5.0, {}),
                (5.0, {}),
            )
        )
    )
    while 12 not in works.started:
        works.end_next()
    assert works.started[11] == works.started[12]
    works.planned_start()  # which asserts that another pass finds nothing to do


@tries(150)
@given(nodes=machines(), load=loads)
def test_backfill_never_delays_the_first_waiting_job(nodes: list[Node], load: list[JobSpec]) -> None:
    """With jobs that use exactly their time limit."""
    machines = [replace(node, booked={}, host={}) for node in nodes]
    easy, plain = Clockwork(nodes, FIFO, [1.0]), Clockwork(machines, replace(FIFO, is_backfilling=False), [1.0])
    easy.submit(*load)
    planned = easy.planned_start()
    while easy.ends:
        easy.end_next()
    plain.submit(*load)
    while plain.ends:
        plain.end_next()
    assert set(easy.started) == set(plain.started)
    if planned is not None:
        assert easy.started[planned.job] <= plain.started[planned.job]


@pytest.mark.parametrize("order", ["submitted", "expected"])
@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
@tries(15)
@given(
    own=st.lists(st.tuples(st.integers(1, 4), limits_s), min_size=1, max_size=4),
    others=st.lists(
        st.tuples(st.sampled_from(["bob", "cat", "dan"]), st.sampled_from([1, 1, 1, 1, 2, 4]), limits_s),
        min_size=1,
        max_size=6,
    ),
    lasting=st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0]), min_size=1, max_size=5),
    share=st.sampled_from([0.25, 1.0, 4.0]),
)
def test_every_owner_with_a_share_gets_a_turn(
    policy: Policy,
    order: Order,
    own: list[tuple[int, float | None]],
    others: list[tuple[str, int, float | None]],
    lasting: list[float],
    share: float,
) -> None:
    """Even if others submit any number of jobs, with and without limits."""
    shares = replace(Rules().shares, of=(("ann", share),))
    rules = Rules(
        policy=policy,
        order=order,
        shares=shares,
        starvation_s=30.0,
        half_life_s=600.0,
        suspend_after_failures=0,
        drain_node_after_failures=0,
    )
    works = Clockwork([a_node(gpus=4, name="n0"), a_node(gpus=2, name="n1")], rules, lasting)
    flood = [a_spec(owner=owner, gpus=gpus, time_limit_s=limit_s) for owner, gpus, limit_s in others]
    works.submit(*(named(spec, n) for n, spec in enumerate(flood * 24)))
    works.submit(*(named(a_spec(gpus=gpus, time_limit_s=limit_s), 1000 + n) for n, (gpus, limit_s) in enumerate(own)))
    mine = {job.id for job in works.state.jobs.values() if job.spec.owner == "ann"}
    for turn in range(6000):  # many short jobs may end while one with a limit of a minute runs
        works.end_next()
        works.submit(named(flood[turn % len(flood)], 2000 + turn))
        if mine <= set(works.started):
            break
    assert not mine - set(works.started), "each has started"


def named(spec: JobSpec, number: int) -> JobSpec:
    return replace(spec, name=f"run {number}")
