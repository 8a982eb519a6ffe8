"""What docs/scheduling.md says about a heavy user under fairshare and balance, simulated."""

import pytest

from tarmac.cli.verbs.admin.simulate.nodes import machines
from tarmac.core.model.job import Request
from tarmac.core.model.names import Policy
from tarmac.shared.units import DAY_S, HOUR_S
from tarmac.sim.comparison import Scenario, Variant, compare
from tarmac.sim.figures import waits_of
from tarmac.sim.trace import TraceJob

WEEK_S = 7 * DAY_S
GPUS = 8


def a_job(owner: str, submit_s: float) -> TraceJob:
    return TraceJob(submit_s=submit_s, owner=owner, request=Request(gpus=1), duration_s=HOUR_S, name=owner)


def longest_wait_s(scenario: Scenario, owner: str) -> float:
    numbers = [number for number, job in enumerate(scenario.outcome.trace) if job.owner == owner]
    return max(waits_of(scenario.outcome, numbers))


@pytest.fixture(scope="module")
def found() -> dict[Policy, Scenario]:
    """Ann has the GPUs alone for a week. Then bob queues two weeks of work, and she submits one job an hour."""
    alone = [a_job("ann", hour * HOUR_S) for hour in range(7 * 24) for _ in range(GPUS)]
    queue = [a_job("bob", WEEK_S) for _ in range(14 * 24 * GPUS)]
    later = [a_job("ann", WEEK_S + 60 + hour * HOUR_S) for hour in range(7 * 24)]
    nodes = machines(f"1x{GPUS}", cpus=0, memory_bytes=0)
    variants = [Variant(policy="fairshare"), Variant(policy="balance")]
    return {one.variant.policy: one for one in compare([*alone, *queue, *later], nodes, variants)}


def test_under_fairshare_a_heavy_user_waits_for_four_days(found: dict[Policy, Scenario]):
    assert longest_wait_s(found["fairshare"], "ann") / DAY_S == pytest.approx(4, abs=0.5)


def test_under_balance_the_wait_is_the_length_of_one_job(found: dict[Policy, Scenario]):
    assert longest_wait_s(found["balance"], "ann") <= HOUR_S
