"""Several planned starts: how many, for whom, on which nodes, and what passes them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tarmac.core.events import NodeJoined, NodeLeft
from tarmac.core.explain.explainer import Explainer
from tarmac.core.explain.reasons import KeptFor
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import JobSpec
from tarmac.core.model.plan import PlannedStart
from tarmac.core.model.rules import PerName
from tarmac.core.policy.order.fair_parts import FairParts
from tarmac.core.policy.plans.planned_start import most_plans
from tarmac.core.policy.scheduling_pass import Pass
from tarmac.core.state import State
from tests.core.support.builders import a_booking, a_job, a_node, a_spec, a_state, a_status
from tests.core.support.scene import Scene


def on_nodes(*gpus: int, **rules: Any) -> Scene:
    """Nodes n0, n1, … with these numbers of GPUs."""
    scene = Scene(gpus=0, cpu_job_slots=0, **rules)
    scene.happen(NodeLeft(node=next(iter(scene.state.nodes))))
    for number, count in enumerate(gpus):
        name = NodeName(f"n{number}")
        scene.state.nodes[name] = a_node(gpus=count, name=name)
        scene.happen(NodeJoined(node=name, cpu_job_slots=1, runs=()))
    return scene


def plans_of(scene: Scene) -> list[PlannedStart]:
    """The plans, once nothing more can start."""
    turn = Pass(scene.state, scene.now)
    assert list(turn.run()) == []
    return turn.plans


def filled(scene: Scene, *limits_s: float | None, owner: str = "bob") -> None:
    """Fill one GPU after the other with jobs of these limits."""
    scene.run(*(a_spec(owner=owner, time_limit_s=limit_s, name=f"{owner} {n}") for n, limit_s in enumerate(limits_s)))


def where(plans: list[PlannedStart]) -> list[tuple[int, str]]:
    return [(int(planned.job), str(planned.node)) for planned in plans]


# How many


@pytest.mark.parametrize(
    ("policy", "planned_starts", "nodes", "most"),
    [
        ("fifo", 8, 20, 1),
        ("fifo", 0, 20, 0),
        ("balance", 8, 1, 1),
        ("balance", 8, 4, 1),
        ("balance", 8, 5, 2),
        ("balance", 8, 16, 7),
        ("balance", 8, 20, 8),
        ("balance", 2, 20, 2),
        ("fairshare", 8, 9, 4),
        ("fairshare", 0, 9, 0),
    ],
)
def test_at_most_one_plan_under_fifo_and_else_on_less_than_half_of_the_nodes(
    policy: str, planned_starts: int, nodes: int, most: int
) -> None:
    state = a_state(*(a_node(name=f"n{number}") for number in range(nodes)))
    state.rules = replace(state.rules, policy=policy, planned_starts=planned_starts)  # type: ignore[arg-type]
    assert most_plans(state) == most


def nodes_full_of_jobs(**rules: Any) -> Scene:
    """Nine nodes full of bob's jobs, which end at 100, 200, …"""
    scene = on_nodes(*[2] * 9, **rules)
    filled(scene, *(100.0 * (1 + number // 2) for number in range(18)))
    return scene


def wide_owner_meets_full_nodes(**rules: Any) -> Scene:
    scene = nodes_full_of_jobs(**rules)
    scene.submit(*[a_spec(gpus=2, name="wide")] * 6)
    return scene


def ann_has(share: float) -> dict[str, Any]:
    return {"shares": PerName(1.0, (("ann", share),))}


def test_an_owner_gets_plans_up_to_their_part_of_the_gpus() -> None:
    scene = wide_owner_meets_full_nodes(**ann_has(0.5))
    assert where(plans_of(scene)) == [(19, "n0"), (20, "n1"), (21, "n2")], "a third of 18 GPUs is due to ann"
    ats = [planned.at for planned in plans_of(scene)]
    assert ats == sorted(ats)


@pytest.mark.parametrize(
    ("rules", "plans"),
    [
        ({"policy": "fifo"}, 1),
        ({"policy": "fairshare"}, 4),
        ({"planned_starts": 2}, 2),
        ({"planned_starts": 0}, 0),
        ({"is_backfilling": False}, 0),
        (ann_has(1.0), 4),
        (ann_has(0.3), 2),
        (ann_has(0.01), 1),  # the first in any case
        ({"shares": PerName(1.0, (("bob", 0.0),))}, 4),  # on less than half of the nodes
    ],
)
def test_shares_and_rules_decide_how_many(rules: dict[str, Any], plans: int) -> None:
    expected = [(19 + number, f"n{number}") for number in range(plans)]
    assert where(plans_of(wide_owner_meets_full_nodes(**rules))) == expected


def test_plans_of_two_owners_alternate() -> None:
    """A planned start counts as if its GPUs were in use already."""
    scene = nodes_full_of_jobs()
    shares = PerName(1.0, (("bob", 0.0),))
    scene.set_rules(shares=shares, policy="balance")
    scene.submit(*[a_spec(gpus=2, name="wide")] * 3, *[a_spec(gpus=2, owner="cat", name="wide")] * 3)
    owners = [scene.state.jobs[planned.job].spec.owner for planned in plans_of(scene)]
    assert owners == ["ann", "cat", "ann", "cat"]


def test_jobs_for_one_gpu_get_no_plan_beside_another() -> None:
    scene = on_nodes(2, 2)
    filled(scene, 100.0, 100.0, 200.0, 200.0)
    scene.submit(a_spec(gpus=2, name="wide"), *[a_spec(name="narrow")] * 3)
    assert where(plans_of(scene)) == [(5, "n0")]
    scene = on_nodes(2, 2)
    filled(scene, 100.0, 100.0, 200.0, 200.0)
    scene.submit(a_spec(name="narrow"), a_spec(gpus=2, name="wide"))
    assert where(plans_of(scene))[0][0] == 5, "the first stuck job gets one in any case"


def test_each_plan_is_on_another_node_and_the_next_soonest() -> None:
    scene = on_nodes(*[2] * 7, shares=PerName(1.0, (("bob", 0.0),)))
    filled(scene, 300.0, 300.0, 100.0, 100.0, 200.0, 200.0, *[900.0] * 8)
    scene.submit(*[a_spec(gpus=2, name="wide")] * 3)
    assert where(plans_of(scene)) == [(15, "n1"), (16, "n2"), (17, "n0")]


def test_planned_jobs_start_where_they_were_planned() -> None:
    scene = wide_owner_meets_full_nodes()
    for job in (1, 2):
        scene.finish(job)
    assert scene.jobs[JobId(19)].status.booking.node == "n0"  # type: ignore[union-attr]
    assert where(plans_of(scene))[0] == (20, "n1")


# Who is due


def due_state(*, ann: float = 1.0, bob: float = 1.0, ann_runs: int = 0) -> State:
    """Eight GPUs, of which bob uses two and ann some."""
    jobs = [a_job(1, owner="bob", gpus=2, status=a_status("running", a_booking(0, 1)))]
    if ann_runs:
        jobs.append(a_job(2, gpus=ann_runs, status=a_status("running", a_booking(*range(2, 2 + ann_runs)))))
    state = a_state(a_node(gpus=8), a_node(gpus=4, name="away", is_connected=False), jobs=tuple(jobs))
    state.rules = replace(state.rules, shares=PerName(1.0, (("ann", ann), ("bob", bob))))
    return state


@pytest.mark.parametrize(
    ("state", "planned", "gpus", "due"),
    [
        (due_state(), 0, 4, True),  # half of eight
        (due_state(), 0, 5, False),
        (due_state(), 2, 2, True),
        (due_state(), 2, 3, False),
        (due_state(ann_runs=3), 0, 1, True),
        (due_state(ann_runs=3), 0, 2, False),
        (due_state(ann=3.0), 0, 6, True),
        (due_state(ann=3.0), 0, 7, False),
        (due_state(ann=0.0), 0, 1, False),
        (due_state(ann=-1.0), 0, 1, False),
        (due_state(bob=0.0), 0, 8, True),
        (due_state(bob=-1.0), 0, 8, True),
        (due_state(ann=0.0, bob=0.0), 0, 1, False),
    ],
)
def test_an_owner_is_due_their_part_of_the_connected_gpus(state: State, planned: int, gpus: int, due: bool) -> None:
    assert FairParts(state).is_due(a_job(9, gpus=gpus), planned) is due


def test_only_owners_with_waiting_or_running_jobs_count() -> None:
    state = due_state()
    state.load([a_job(3, owner="cat")], next_id=4)
    assert not FairParts(state).is_due(a_job(9, gpus=4), 0), "cat waits, so a third is due"
    assert FairParts(state).is_due(a_job(9, gpus=2), 0)


WHO_IS_DUE = """
from dataclasses import replace
from tarmac.core.model.rules import PerName
from tarmac.core.policy.order.fair_parts import FairParts
from tests.core.support.builders import a_job, a_node, a_state
state = a_state(a_node(gpus=20), jobs=tuple(a_job(n, owner=o) for n, o in enumerate(("ann", "bob", "cat"), 1)))
state.rules = replace(state.rules, shares=PerName(1.0, (("ann", 0.3), ("bob", 0.1), ("cat", 0.2))))
print(FairParts(state).is_due(a_job(9, gpus=10), 0))
"""


def test_who_is_due_does_not_depend_on_the_hash_seed() -> None:
    """Shares are summed over a set of names: 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1."""
    said = {
        subprocess.run(
            [sys.executable, "-c", WHO_IS_DUE],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in range(1, 7)
    }
    assert said == {"True\n"}


# Which GPUs


def test_a_plan_takes_the_gpus_that_come_free_last_among_those_free_in_time() -> None:
    """GPU 0 is free now, GPU 1 at 100, GPUs 2 and 3 at 300: three are free at 300."""
    scene = on_nodes(4, policy="fifo")
    scene.run(
        *(a_spec(owner="bob", gpus=gpus, time_limit_s=limit_s) for gpus, limit_s in ((1, 1.0), (1, 100.0), (2, 300.0)))
    )
    scene.finish(1)
    scene.submit(a_spec(gpus=3, name="wide"))
    (planned,) = plans_of(scene)
    assert planned.gpus == {"n0-1", "n0-2", "n0-3"}
    scene.submit(a_spec(owner="cat", name="of any length"))
    assert scene.starts() == [(5, [0])], "what is free now stays usable"


def test_where_more_gpus_come_free_at_the_same_time_the_free_ones_are_left() -> None:
    """GPUs 0 and 1 are free, the others at 100: the two that are needed are two of those."""
    scene = on_nodes(4, policy="fifo")
    scene.run(a_spec(owner="bob", gpus=2, time_limit_s=1.0), a_spec(owner="bob", gpus=2, time_limit_s=100.0))
    scene.finish(1)
    scene.submit(a_spec(gpus=3, name="wide"))  # starts at 100
    (planned,) = plans_of(scene)
    assert len(planned.gpus & {"n0-2", "n0-3"}) == 2
    scene.submit(a_spec(owner="cat", name="of any length"))
    assert len(scene.starts()) == 1


# Who passes


def passing(planned_rests_on: str, *, is_overdue: bool = False) -> Scene:
    """Two GPUs: one is held until about 1100 by a job with a limit, namesakes, or past runs. Job 9 wants both."""
    scene = on_nodes(2, policy="fifo", starvation_s=1e9)
    spec = a_spec(owner="bob", name="holder", time_limit_s=100.0 if planned_rests_on == "limit" else None)
    known = {"limit": (), "history": ("holder",), "owner": ("other",), "guess": ()}[planned_rests_on]
    for name in known:
        learn(scene, owner="bob", name=name, seconds=100.0 if name == "holder" else 50.0)
    scene.run(spec)
    scene.submit(a_spec(gpus=2, name="wide"))
    if is_overdue:
        scene.pass_s(60.0)
        scene.set_rules(starvation_s=50.0)
    return scene


def learn(scene: Scene, *, owner: str, name: str, seconds: float, gpus: int = 1) -> None:
    status = replace(a_status("succeeded"), started_at=0.0, ended_at=seconds)  # type: ignore[call-arg]
    scene.state.runtimes.learn(replace(a_job(999, status=status), spec=a_spec(owner=owner, name=name, gpus=gpus)))


def passes(scene: Scene, spec: JobSpec) -> bool:
    (number,) = scene.submit(spec)
    return [job for job, _ in scene.starts()] == [number]


SHORT = {"owner": "cat", "name": "short"}


@pytest.mark.parametrize("rests_on", ["history", "owner"])
def test_a_plan_on_expectations_is_passed_by_jobs_that_are_expected_to_be_over_in_time(rests_on: str) -> None:
    scene = passing(rests_on)
    (planned,) = plans_of(scene)
    assert (planned.rests_on, planned.is_promise) == ({rests_on}, False)
    assert not passes(scene, a_spec(**SHORT)), "an hour is expected where nothing is known"
    scene = passing(rests_on)
    learn(scene, owner="cat", name="another", seconds=20.0)
    assert passes(scene, a_spec(**SHORT)), "one past run of that width is enough"
    scene = passing(rests_on)
    learn(scene, owner="cat", name="another", seconds=200.0)
    assert not passes(scene, a_spec(**SHORT))


def test_a_promise_is_passed_only_by_jobs_whose_limit_ends_in_time() -> None:
    scene = passing("limit")
    (planned,) = plans_of(scene)
    assert planned.is_promise
    learn(scene, owner="cat", name="short", seconds=1.0)
    for number in range(5):
        learn(scene, owner="cat", name=f"another {number}", seconds=1.0)
    assert not passes(scene, a_spec(**SHORT)), "however short its runs were"
    assert passes(passing("limit"), a_spec(**SHORT, time_limit_s=90.0))
    assert not passes(passing("limit"), a_spec(**SHORT, time_limit_s=110.0))


@pytest.mark.parametrize("rests_on", ["history", "owner", "guess"])
def test_an_overdue_job_is_passed_only_by_jobs_that_surely_or_by_many_runs_are_over_in_time(rests_on: str) -> None:
    scene = passing(rests_on, is_overdue=True)
    (planned,) = plans_of(scene)
    assert (planned.is_overdue, planned.is_promise) == (True, False)
    learn(scene, owner="cat", name="another", seconds=5.0)
    assert not passes(scene, a_spec(**SHORT)), "one run does not tell"
    scene = passing(rests_on, is_overdue=True)
    for number in range(5):
        learn(scene, owner="cat", name=f"another {number}", seconds=5.0)
    assert passes(scene, a_spec(**SHORT)), "even twice the longest of many runs is in time"
    if rests_on != "guess":
        scene = passing(rests_on, is_overdue=True)
        for number in range(5):
            learn(scene, owner="cat", name=f"another {number}", seconds=60.0 if number == 0 else 5.0)
        assert not passes(scene, a_spec(**SHORT)), "twice the longest is too long"
    scene = passing(rests_on, is_overdue=True)
    learn(scene, owner="cat", name="short", seconds=5.0)
    assert passes(scene, a_spec(**SHORT)), "twice what its namesakes took is in time"
    assert passes(passing(rests_on, is_overdue=True), a_spec(**SHORT, time_limit_s=20.0))


def test_a_guess_holds_nothing_back_before_the_job_is_overdue() -> None:
    scene = passing("guess")
    assert plans_of(scene) == []
    assert passes(scene, a_spec(**SHORT))


def test_a_job_may_pass_one_plan_and_not_another() -> None:
    """n0 is planned at 100, n1 at 500: a job of 300 seconds may use only the free GPU of n1."""
    scene = on_nodes(2, 2, 0, 0)  # two more nodes, or only one start would be planned
    scene.run(a_spec(owner="bob", time_limit_s=100.0), a_spec(owner="bob", gpus=2, time_limit_s=1.0))
    scene.run(a_spec(owner="bob", time_limit_s=500.0, name="on n0"))
    scene.finish(2)
    assert {job: scene.jobs[JobId(job)].status.booking.node for job in (1, 3)} == {1: "n0", 3: "n0"}  # type: ignore[union-attr]
    scene.set_rules(shares=PerName(1.0, (("bob", 0.0),)))
    scene.run(a_spec(owner="bob", time_limit_s=500.0, name="on n1"))
    scene.finish(3)
    scene.submit(*[a_spec(gpus=2, name="wide")] * 2)
    assert where(plans_of(scene)) == [(5, "n0"), (6, "n1")]
    scene.submit(a_spec(owner="cat", time_limit_s=300.0))
    assert scene.jobs[JobId(7)].status.booking.node == "n1"  # type: ignore[union-attr]


def test_why_names_every_plan_that_a_job_would_delay() -> None:
    scene = on_nodes(2, 2, 0, 0, shares=PerName(1.0, (("bob", 0.0),)))
    scene.run(*(a_spec(owner="bob", time_limit_s=limit_s) for limit_s in (100.0, 1.0)))  # both on n0
    scene.run(a_spec(owner="bob", time_limit_s=200.0))
    scene.finish(2)
    scene.submit(*[a_spec(gpus=2, name="wide")] * 2, a_spec(name="narrow"))
    plans = plans_of(scene)
    assert len(plans) == 2
    said = Explainer(scene.state, scene.now).reasons(scene.jobs[JobId(6)])
    assert said == tuple(KeptFor(job=planned.job, node=planned.node, gpus=2, at=planned.at) for planned in plans)
    asked = Explainer(scene.state, scene.now)
    assert [asked.planned_start(scene.jobs[planned.job]) for planned in plans] == plans
    off = {name: asked.unavailable_gpus(scene.jobs[JobId(6)], scene.state.nodes[name]) for name in ("n0", "n1")}  # type: ignore[index]
    assert {gpu: kept.job for found in off.values() for gpu, kept in found.items()} == {  # type: ignore[union-attr]
        gpu: planned.job for planned in plans for gpu in planned.gpus
    }


# Preempted GPUs


def test_the_plan_on_preempted_gpus_survives_the_plans_of_other_jobs() -> None:
    """Job 1 is preempted for job 3. The turn of the urgent job 4 comes first, and it gets a plan on the other node."""
    scene = on_nodes(2, 2)
    scene.run(a_spec(owner="bob", gpus=2, tier="preemptible"), a_spec(owner="bob", gpus=2, time_limit_s=1000.0))
    scene.submit(a_spec(owner="cat", gpus=2, name="late"))
    assert scene.state_of(1) == "stopping"
    scene.submit(a_spec(gpus=2, tier="urgent", name="first"))
    plans = plans_of(scene)
    assert where(plans) == [(3, "n1"), (4, "n0")]
    assert plans[0].rests_on == {"stop"}
    assert plans_of(scene) == plans, "until job 1 has stopped"
