"""Whole nodes: drained, resumed, only watched, removed, forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import (
    NodeAdded,
    NodeForgotten,
    NodeJoined,
    NodeLeft,
    NodeRemoved,
    NodesDrained,
    NodesResumed,
    ReservationMade,
    RunOrigin,
)
from tarmac.core.explain.reasons import NeverFits
from tarmac.core.fit.closure import NodeDrained
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import JobSpec
from tarmac.core.model.node import NodeDrain
from tarmac.core.model.note import note
from tarmac.core.model.queue import Reservation
from tarmac.core.model.status import RunName, Unknown
from tarmac.core.policy.feasibility import OnlyWatched
from tarmac.core.policy.forced_start import closed_node, plan
from tests.core.support.builders import exited, started
from tests.core.support.explaining import explain
from tests.core.support.two_nodes import A, B, TwoNodes, asking


def drain(scene: TwoNodes, *nodes: str) -> None:
    scene.happen(NodesDrained(nodes=nodes or (A,), by="eve", reason="new fans"))  # type: ignore[arg-type]


def test_nothing_starts_on_a_drained_node_and_its_jobs_go_on() -> None:
    scene = TwoNodes()
    scene.run(asking(only_nodes=(A,)))
    drain(scene)
    assert scene.state.nodes[A].drain == NodeDrain(reason="new fans", by="eve", since=scene.now)
    scene.run(*[asking()] * 3)
    assert [scene.node_of(job) for job in (1, 2, 3, 4)] == [A, B, B, None]
    scene.finish(1)
    assert scene.at_work() == [2, 3]
    scene.happen(NodesResumed(nodes=(A,)))
    assert scene.node_of(4) == A
    assert scene.state.changes.node_drains == {A: None}


def test_why_names_the_drain_and_the_job_is_not_refused() -> None:
    scene = TwoNodes()
    drain(scene)
    scene.submit(asking(only_nodes=(A,)))
    reasons = explain(scene.state, scene.jobs[JobId(1)], scene.now)
    assert reasons == (NodeDrained(node=A, reason="new fans", by="eve", since=scene.now - 1.0),)


def test_no_start_is_planned_or_forced_on_a_drained_node() -> None:
    scene = TwoNodes(a=4, b=1)
    drain(scene)
    (job,) = scene.submit(asking(gpus=4))
    assert plan(scene.state, scene.jobs[job]) is None
    wanted = tuple(scene.state.nodes[A].gpus)
    assert plan(scene.state, scene.jobs[job], wanted) is None
    assert closed_node(scene.state, scene.jobs[job], wanted) is scene.state.nodes[A]
    assert closed_node(scene.state, scene.jobs[job]) is scene.state.nodes[A]
    scene.happen(NodesResumed(nodes=(A,)))
    assert scene.node_of(job) == A


def test_a_drain_survives_a_restart_of_the_node() -> None:
    scene = TwoNodes()
    drain(scene)
    scene.happen(NodeLeft(node=A))
    scene.happen(NodeJoined(node=A, cpu_job_slots=2, runs=()))
    scene.submit(asking(only_nodes=(A,)))
    assert scene.at_work() == []


def test_a_watch_only_node_never_gets_a_job_and_never_counts() -> None:
    scene = TwoNodes(a=4, b=1)
    scene.happen(NodeAdded(node=A, is_watch_only=True))
    first, second = scene.submit(asking(), asking(gpus=2))
    assert (scene.node_of(first), scene.node_of(second)) == (B, None)
    (reason,) = [one for one in explain(scene.state, scene.jobs[second], scene.now) if isinstance(one, NeverFits)]
    assert reason.lack == OnlyWatched(nodes=(A,))
    assert scene.state.fit_cache.gpu_count(scene.state.nodes) == 1
    scene.happen(NodeAdded(node=A))
    assert scene.node_of(second) == A


def test_a_node_is_removed_only_once_no_job_holds_anything_there() -> None:
    scene = TwoNodes()
    scene.run(asking(only_nodes=(B,)), asking(only_nodes=(A,)))
    drain(scene, B)
    reserved = Reservation(
        id=1, owner="bob", node=B, gpus=(GpuUuid("b-1"),), begins_at=5000.0, ends_at=6000.0, by="eve"
    )
    scene.happen(ReservationMade(reservation=reserved))
    scene.happen(NodeRemoved(node=B))
    assert B in scene.state.nodes
    scene.finish(1)
    scene.happen(NodeRemoved(node=B))
    assert list(scene.state.nodes) == [A]
    assert (scene.state.reservations, scene.state.changes.node_drains) == ({}, {B: None})
    scene.happen(NodeLeft(node=B))  # its session ends later
    assert list(scene.state.nodes) == [A]
    scene.run(asking())
    assert scene.node_of(3) == A


def test_a_forgotten_node_ends_its_attempts_and_they_are_retried_elsewhere_if_asked() -> None:
    scene = TwoNodes()
    first, second, third = scene.run(asking(prefer_nodes=(B,)), _retrying(asking()), asking(gpus=0, only_nodes=(B,)))
    assert [scene.node_of(job) for job in (first, second, third)] == [B, B, B]
    scene.happen(NodeLeft(node=B))
    scene.happen(NodeForgotten(node=B, by="eve"))
    assert list(scene.state.nodes) == [A]
    for job in (first, third):
        status = scene.status(job)
        assert isinstance(status, Unknown)
        assert status.message == note("unknown.node_forgotten", node=B, by="eve")
        assert status.ended_at == scene.now
    assert (scene.node_of(second), scene.jobs[second].attempt) == (A, 2)
    assert [release.job for release in scene.state.changes.releases] == [first, second, third]


def _retrying(spec: JobSpec) -> JobSpec:
    request = replace(spec.request, prefer_nodes=(B,))
    return replace(spec, request=request, retries=1, retry_on=("lost",))


def test_a_node_that_is_connected_is_not_forgotten() -> None:
    scene = TwoNodes()
    scene.run(asking(only_nodes=(B,)))
    scene.happen(NodeForgotten(node=B, by="eve"))
    assert scene.state_of(1) == "running"
    assert B in scene.state.nodes


@pytest.mark.parametrize("is_over", [True, False])
def test_a_node_that_was_forgotten_and_comes_back_is_heard_but_starts_nothing_again(is_over: bool) -> None:
    """The person was wrong: an attempt that still runs there gets its GPUs booked as a job of its own."""
    scene = TwoNodes()
    (job,) = scene.run(asking(only_nodes=(B,)))
    submitted_at, spec = scene.jobs[job].submitted_at, scene.jobs[job].spec
    scene.happen(NodeLeft(node=B))
    scene.happen(NodeForgotten(node=B, by="eve"))
    run = RunName(job, 1)
    gpus = (BookedGpu(uuid=GpuUuid("b-0"), index=0),)
    origin = RunOrigin(run=run, submitted_at=submitted_at, spec=spec, gpus=gpus)
    report = exited(job) if is_over else started(job)
    joined = NodeJoined(node=B, cpu_job_slots=2, runs=(report,), origins=(origin,), ended=frozenset({run}))
    scene.happen(joined)
    assert isinstance(scene.status(job), Unknown)
    assert scene.starts() == []
    if is_over:
        assert scene.forgotten() == [(job, 1)]
        assert scene.state.nodes[B].booked == {}
    else:
        (taken_in,) = scene.state.nodes[B].booked[GpuUuid("b-0")]
        assert taken_in != job
