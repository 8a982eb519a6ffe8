"""Nodes that a job names, excludes or prefers, and how jobs are placed over nodes."""

from __future__ import annotations

import pytest

from tarmac.core.explain.reasons import NeverFits, TooFewGpus
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.policy.feasibility import NoNodeLeft, TooFewGpusOnNode, candidates, chosen_nodes, lack
from tarmac.core.policy.recheck import refusal
from tests.core.support.builders import a_booking
from tests.core.support.explaining import explain
from tests.core.support.two_nodes import A, B, TwoNodes, asking


def test_a_job_runs_only_on_the_nodes_it_names() -> None:
    scene = TwoNodes(a=1, b=2)
    scene.submit(*[asking(only_nodes=(B,))] * 3)
    assert [scene.node_of(job) for job in (1, 2, 3)] == [B, B, None]
    (reason,) = explain(scene.state, scene.jobs[JobId(3)], scene.now)
    assert isinstance(reason, TooFewGpus)
    assert reason.node == B


def test_a_job_avoids_the_nodes_it_excludes() -> None:
    scene = TwoNodes()
    scene.submit(*[asking(exclude_nodes=(A,))] * 3)
    assert [scene.node_of(job) for job in (1, 2, 3)] == [B, B, None]


def test_preferred_nodes_are_tried_first_in_their_order() -> None:
    scene = TwoNodes(a=1, b=1)
    scene.submit(*[asking(prefer_nodes=(B, A))] * 2)
    assert [scene.node_of(job) for job in (1, 2)] == [B, A]


@pytest.mark.parametrize(("placement", "nodes"), [("pack", [A, A, B, B]), ("spread", [A, B, A, B])])
def test_pack_fills_one_node_and_spread_alternates(placement: str, nodes: list[str]) -> None:
    scene = TwoNodes(placement=placement)
    scene.submit(*[asking()] * 4)
    assert [scene.node_of(job) for job in (1, 2, 3, 4)] == nodes


def test_spread_uses_the_emptiest_node_and_preferences_win_over_it() -> None:
    scene = TwoNodes(a=2, b=4, placement="spread")
    scene.submit(asking(gpus=2), asking(prefer_nodes=(A,)), asking())
    assert [scene.node_of(job) for job in (1, 2, 3)] == [B, A, B]


def test_a_request_counts_only_the_nodes_it_may_run_on() -> None:
    scene = TwoNodes(a=1, b=4)
    request = asking(gpus=2, only_nodes=(A,)).request
    assert lack(scene.state, request) == TooFewGpusOnNode(asked=2, have=1)
    assert chosen_nodes(scene.state, request) == (A,)
    assert candidates(scene.state, asking(exclude_nodes=(A,)).request) == [scene.state.nodes[B]]


def test_no_node_left_is_a_reason_of_its_own() -> None:
    scene = TwoNodes()
    gone = NodeName("gone")
    (job,) = scene.submit(asking(only_nodes=(gone,)))
    (reason,) = explain(scene.state, scene.jobs[job], scene.now)
    assert isinstance(reason, NeverFits)
    assert reason.lack == NoNodeLeft(named=(gone,), excluded=())
    both = asking(exclude_nodes=(A, B)).request
    assert lack(scene.state, both) == NoNodeLeft(named=(), excluded=(A, B))


def test_jobs_that_differ_in_their_nodes_are_not_alike() -> None:
    """The head of a class that does not fit must not hold up requests for other nodes."""
    scene = TwoNodes(a=1, b=1)
    scene.submit(*[asking(only_nodes=(A,))] * 2, asking(only_nodes=(B,)), asking(exclude_nodes=(A,)))
    assert [scene.node_of(job) for job in (1, 2, 3, 4)] == [A, None, B, None]


def test_the_recheck_counts_nodes_itself() -> None:
    scene = TwoNodes(a=1, b=1)
    scene.submit(*[asking(only_nodes=(A,))] * 2)
    assert refusal(scene.state, scene.jobs[JobId(2)], a_booking(0, node=B)) == "node b was not asked for"
