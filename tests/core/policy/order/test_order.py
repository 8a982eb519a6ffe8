"""Whose turn it is: fifo, balance and fairshare, with numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.events import QueuePaused, QueueResumed
from tarmac.core.forecast.queue_forecast import line_up
from tarmac.core.ledger import HOUR_S
from tarmac.core.model.ids import JobId
from tarmac.core.model.rules import PerName
from tarmac.core.policy.order.order import owner_score, score
from tests.core.support.builders import a_spec
from tests.core.support.scene import Scene


def a_crowd(*, free: int, running: dict[str, int], waiting: list[tuple[str, dict[str, Any]]], **rules: Any) -> Scene:
    """Owners with running GPUs; then these jobs are submitted one by one while `free` GPUs are free."""
    scene = Scene(gpus=sum(running.values()) + free, **rules)
    for owner, gpus in running.items():
        if gpus:
            scene.run(a_spec(owner=owner, gpus=gpus))
    scene.happen(QueuePaused(by="root"))
    for owner, more in waiting:
        scene.submit(a_spec(owner=owner, **more))
    return scene


def started(scene: Scene) -> list[str]:
    """Owners in the order in which their jobs start when the queue resumes."""
    scene.happen(QueueResumed(by="root"))
    return [scene.jobs[JobId(job)].spec.owner for job, _ in scene.starts()]


@pytest.mark.parametrize(
    ("share", "used", "points"),
    [
        (2.0, 4.0, (2, 2.0)),
        (1.0, 2.0, (2, 2.0)),
        (0.5, 1.0, (2, 2.0)),
        (1.0, 0.0, (2, 0.0)),
        (0.0, 8.0, (1, 0.0)),
        (-1.0, 8.0, (0, 8.0)),
        (-2.0, 8.0, (0, 4.0)),
    ],
)
def test_the_score_of_an_owner(share: float, used: float, points: tuple[int, float]) -> None:
    assert score(share, used) == points


@pytest.mark.parametrize(
    ("shares", "running", "order"),
    [
        # One share each: fewest running GPUs first.
        ({}, {"ann": 3, "bob": 1, "cat": 2}, ["bob", "cat", "ann"]),
        # 4/2 = 2, 1/1 = 1, 1/0.5 = 2: bob, then ann before cat, who submitted later.
        ({"ann": 2, "cat": 0.5}, {"ann": 4, "bob": 1, "cat": 1}, ["bob", "ann", "cat"]),
        # 3/2 = 1.5, 2/1 = 2, 1/0.5 = 2.
        ({"ann": 2, "cat": 0.5}, {"ann": 3, "bob": 2, "cat": 1}, ["ann", "bob", "cat"]),
        # 0 goes before every positive one, whatever runs.
        ({"cat": 0}, {"ann": 0, "bob": 0, "cat": 5}, ["cat", "ann", "bob"]),
        # A negative one goes before 0, whatever runs.
        ({"ann": 0, "cat": -1}, {"ann": 0, "bob": 0, "cat": 5}, ["cat", "ann", "bob"]),
        # Among negative ones it is balanced again: 4/1 against 4/2.
        ({"ann": -1, "bob": -2}, {"ann": 4, "bob": 4, "cat": 0}, ["bob", "ann", "cat"]),
        # Equal scores by submit time.
        ({}, {"ann": 2, "bob": 2, "cat": 2}, ["ann", "bob", "cat"]),
        ({"ann": 0, "bob": 0, "cat": 0}, {"ann": 2, "bob": 1, "cat": 0}, ["ann", "bob", "cat"]),
    ],
)
def test_balance_orders_by_running_gpus_per_share(
    shares: dict[str, float], running: dict[str, int], order: list[str]
) -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [(owner, {}) for owner in ("ann", "bob", "cat")]
    scene = a_crowd(free=3, running=running, waiting=waiting, shares=PerName(1.0, tuple(shares.items())))
    assert started(scene) == order


def test_each_start_moves_the_owner_back() -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [("ann", {})] * 4 + [("bob", {})] * 4
    scene = a_crowd(free=6, running={"ann": 2}, waiting=waiting, shares=PerName(1.0, (("bob", 2.0),)))
    # ann 2, bob 0/2 → bob; .5 → bob; 1 → bob; 1.5 → bob; only ann is left
    assert started(scene) == ["bob", "bob", "bob", "bob", "ann", "ann"]


def test_owners_take_turns_gpu_by_gpu() -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [("ann", {"gpus": 2})] * 2 + [("bob", {})] * 4
    assert started(a_crowd(free=6, running={}, waiting=waiting)) == ["ann", "bob", "bob", "ann"]


@pytest.mark.parametrize("priority", [0, 10])
def test_raising_their_own_priority_does_not_help_an_owner(priority: int) -> None:
    """bob has two running jobs: regardless of his priorities, two of ann's go first, then they take turns."""
    waiting: list[tuple[str, dict[str, Any]]] = [("bob", {"priority": priority})] * 3 + [("ann", {})] * 3
    scene = a_crowd(free=5, running={"bob": 2}, waiting=waiting)
    assert started(scene) == ["ann", "ann", "bob", "ann", "bob"]


def test_priorities_order_the_jobs_of_one_owner() -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [("bob", {}), ("bob", {"priority": 0}), ("ann", {})]
    scene = a_crowd(free=3, running={"bob": 1}, waiting=waiting)
    started(scene)
    assert [job for job, _ in scene.starts()] == [4, 3, 2]


@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
def test_with_one_owner_all_policies_are_fifo(policy: str) -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [
        ("ann", {}), ("ann", {"priority": 5}), ("ann", {"gpus": 2}), ("ann", {"priority": 20}), ("ann", {"priority": 5})
    ]  # fmt: skip
    scene = a_crowd(free=6, running={"ann": 1}, waiting=waiting, policy=policy)
    started(scene)
    assert [job for job, _ in scene.starts()] == [3, 6, 2, 4, 5]


def test_fifo_orders_all_owners_by_priority_and_place() -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [("ann", {}), ("ann", {}), ("bob", {}), ("bob", {"priority": 5})]
    scene = a_crowd(free=4, running={"ann": 3}, waiting=waiting, policy="fifo")
    assert started(scene) == ["bob", "ann", "ann", "bob"]


@pytest.mark.parametrize("policy", ["fifo", "balance", "fairshare"])
def test_a_higher_tier_always_goes_first(policy: str) -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [
        ("cat", {"tier": "preemptible", "priority": 0}),
        ("bob", {}),
        ("ann", {"tier": "urgent", "priority": 99}),
    ]
    shares = PerName(1.0, (("cat", -5.0),))
    scene = a_crowd(free=3, running={"ann": 3}, waiting=waiting, policy=policy, shares=shares)
    assert started(scene) == ["ann", "bob", "cat"]


def test_the_policy_can_change_while_jobs_wait() -> None:
    waiting: list[tuple[str, dict[str, Any]]] = [("ann", {}), ("bob", {}), ("cat", {})]
    scene = a_crowd(free=1, running={"ann": 1, "bob": 2}, waiting=waiting)
    owners = [[scene.jobs[JobId(job)].spec.owner for job in line_up(scene.state, scene.now)]]
    scene.set_rules(policy="fifo")
    owners += [[scene.jobs[JobId(job)].spec.owner for job in line_up(scene.state, scene.now)]]
    assert owners == [["cat", "ann", "bob"], ["ann", "bob", "cat"]]
    assert started(scene) == ["ann"]


def test_fairshare_weights_gpu_hours_by_age() -> None:
    """ann had 8 GPU-hours two half-lives ago: 2 are left; bob's 3 are fresh."""
    day = 24 * HOUR_S
    scene = Scene(gpus=0, policy="fairshare", half_life_s=float(day))
    scene.now = 100.0 * day
    then, fresh = 98 * 24, 100 * 24 - 1
    scene.state.load_hours([(then, "ann", "", 8.0 * HOUR_S), (fresh, "bob", "", 3.0 * HOUR_S)], scene.now)
    hours = {owner: owner_score(scene.state, owner, scene.now)[1] / HOUR_S for owner in ("ann", "bob", "cat")}
    assert hours == pytest.approx({"ann": 8 * 0.5 ** (2 - 0.5 / 24), "bob": 3 * 0.5 ** (0.5 / 24), "cat": 0.0})
    scene.submit(a_spec(owner="bob"), a_spec(owner="ann"), a_spec(owner="cat"))
    scene.see_gpus(3)
    assert [job for job, _ in scene.starts()] == [3, 2, 1]


def test_fairshare_divides_by_shares_and_counts_running_jobs() -> None:
    scene = Scene(gpus=2, policy="fairshare", half_life_s=1e12, shares=PerName(1.0, (("ann", 4.0),)))
    scene.run(a_spec(owner="ann"), a_spec(owner="bob"))
    scene.pass_s(400.0)
    ann, bob = (owner_score(scene.state, owner, scene.now)[1] for owner in ("ann", "bob"))
    since = scene.now - 1001.0
    assert (ann, bob) == pytest.approx((since / 4, since))
