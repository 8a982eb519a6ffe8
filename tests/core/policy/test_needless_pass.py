"""A submit into a full cluster needs no pass, and leaving it out changes nothing."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.core import machine
from tarmac.core.model.job import JobSpec
from tarmac.core.model.node import Node
from tarmac.core.model.rules import Rules
from tarmac.core.policy.scheduling_pass import Pass
from tests.core.support.builders import a_spec
from tests.core.support.effort import tries
from tests.core.support.loads import limits, machines, rules, specs, whole
from tests.core.support.play import Play, Step, steps
from tests.core.support.scene import Scene


def full(**more: Any) -> Scene:
    """Both GPUs are busy, and ann waits for both."""
    scene = Scene(gpus=2, policy="balance", **more)
    scene.run(a_spec(owner="zoe", gpus=2, time_limit_s=1000.0))
    scene.submit(a_spec(owner="ann", gpus=2, time_limit_s=50.0))
    return scene


def passes_for(scene: Scene, *jobs: JobSpec) -> int:
    with patch.object(machine, "Pass", wraps=Pass) as made:
        scene.submit(*jobs)
    return made.call_count


def test_a_job_behind_others_of_its_owner_needs_no_pass_in_a_full_cluster() -> None:
    scene = full()
    assert passes_for(scene, a_spec(owner="ann"), a_spec(owner="ann", gpus=2)) == 0
    assert scene.state.pass_at == scene.now


@pytest.mark.parametrize(
    "job",
    [
        a_spec(owner="bob"),  # a new owner may be the first in turn
        a_spec(owner="ann", priority=1),  # goes before the others of its owner
        a_spec(owner="ann", gpus=0),  # fits
    ],
)
def test_a_job_that_fits_or_changes_a_turn_needs_one(job: JobSpec) -> None:
    assert passes_for(full(), job) > 0


@pytest.mark.parametrize("changed", [{"order": "expected"}, {"max_gpus_per_job": 2}])
def test_where_turns_change_with_time_every_submit_needs_one(changed: dict[str, Any]) -> None:
    assert passes_for(full(**changed), a_spec(owner="ann")) > 0


def test_once_the_job_in_turn_is_overdue_a_submit_needs_one() -> None:
    scene = full(starvation_s=100.0)
    assert passes_for(scene, a_spec(owner="ann")) == 0
    scene.now += 100.0
    assert passes_for(scene, a_spec(owner="ann")) > 0


crowded = steps(specs(whole, owner=st.sampled_from(["ann", "bob"])))


@tries(120)
@given(nodes=machines(), rules=st.one_of(rules, rules, limits), steps=st.one_of(crowded, steps()))
def test_leaving_it_out_changes_nothing(nodes: list[Node], rules: Rules, steps: list[Step]) -> None:
    play = Play(nodes, rules)
    for step in steps:
        play.take(step)
        if step[0] != "begin":  # after it, no pass follows
            turn = Pass(play.state, play.now, stops_when_full=True)
            assert list(turn.run()) == []
            assert turn.replan_at == play.state.replan_at
            assert set(turn.stuck) <= play.state.stuck_since.keys()
