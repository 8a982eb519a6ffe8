"""A node that lacks files of a job is not used for it, and that counts neither as a retry nor as a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tarmac.core.events import JobExited, JobsRetried, LaunchFailed, NodeJoined, NodeLeft
from tarmac.core.explain.explainer import Explainer
from tarmac.core.explain.reasons import NeverFits, NodeAway, PathMissing, TooFewGpus
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import Failed, MissingPath, Queued, Starting
from tarmac.core.policy.feasibility import FilesMissing
from tests.core.support.builders import BOX, a_node, a_spec
from tests.core.support.scene import Scene

OTHER = NodeName("other")


def two_nodes(**rules: int) -> Scene:
    scene = Scene(**rules)
    other = a_node(name=OTHER)
    scene.state.nodes[OTHER] = other
    scene.state.touch(other)
    return scene


def lacking(scene: Scene, node: NodeName, path: str = "/home/ann", job: int = 1) -> None:
    """The start of the job fails there, because the path does not exist."""
    attempt = scene.jobs[JobId(job)].attempt
    report = LaunchFailed(job=JobId(job), attempt=attempt, message="no", at=scene.now, outside="no-cwd", missing=path)
    scene.report(report, node)


def node_of(scene: Scene, job: int = 1) -> NodeName:
    status = scene.status(job)
    assert isinstance(status, Starting), status
    return status.booking.node


def test_a_job_moves_to_a_node_that_has_its_files() -> None:
    scene = two_nodes(suspend_after_failures=1)
    scene.submit(a_spec())
    first = node_of(scene)
    lacking(scene, first)
    assert node_of(scene) != first
    job = scene.jobs[JobId(1)]
    assert (job.attempt, job.retried) == (2, 0)
    assert job.spec.missing == (MissingPath(first, "/home/ann"),)
    assert not scene.state.suspended


def test_it_fails_when_no_node_is_left() -> None:
    scene = two_nodes()
    scene.submit(a_spec())
    lacking(scene, node_of(scene))
    lacking(scene, node_of(scene))
    status = scene.status()
    assert isinstance(status, Failed)
    assert status.reason == "no-cwd"


def test_a_single_node_fails_as_before() -> None:
    scene = Scene()
    scene.submit(a_spec())
    lacking(scene, BOX)
    assert isinstance(scene.status(), Failed)


def test_it_waits_for_a_node_that_may_have_its_files_and_says_why() -> None:
    scene = two_nodes()
    scene.happen(NodeLeft(node=OTHER))
    scene.submit(a_spec())
    lacking(scene, BOX)
    assert isinstance(scene.status(), Queued)
    reasons = Explainer(scene.state, scene.now).reasons(scene.jobs[JobId(1)])
    assert reasons == (NodeAway(node=OTHER), PathMissing(node=BOX, path="/home/ann"))
    scene.happen(NodeJoined(node=OTHER, cpu_job_slots=2, runs=()))
    assert node_of(scene) == OTHER


def test_a_request_that_avoids_a_node_never_starts_there() -> None:
    scene = two_nodes()
    spec = a_spec(gpus=2).with_missing([MissingPath(BOX, "/data")])
    first, second = scene.submit(spec, spec)
    assert node_of(scene, first) == OTHER
    assert isinstance(scene.status(second), Queued)
    found = Explainer(scene.state, scene.now).reasons(scene.jobs[second])
    assert [type(reason) for reason in found] == [TooFewGpus, PathMissing]
    assert found[0].node == OTHER  # type: ignore[union-attr]


def test_a_job_that_avoids_every_node_never_fits() -> None:
    scene = two_nodes()
    scene.submit(a_spec().with_missing([MissingPath(BOX, "/data"), MissingPath(OTHER, "/data")]))
    reasons = Explainer(scene.state, scene.now).reasons(scene.jobs[JobId(1)])
    assert reasons[0] == NeverFits(lack=FilesMissing(nodes=(BOX, OTHER)), nodes=2)


def test_jobs_that_avoid_the_same_nodes_for_different_paths_form_one_class() -> None:
    one, two = (a_spec().with_missing([MissingPath(BOX, path)]) for path in ("/data", "/home/ann"))
    assert one.request == two.request
    assert one.missing != two.missing


@pytest.mark.parametrize("missing", [[], [MissingPath(BOX, "/data")]])
def test_with_missing_returns_the_same_spec_if_nothing_changes(missing: list[MissingPath]) -> None:
    spec = a_spec().with_missing(missing)
    assert spec.with_missing(missing) is spec


def test_a_retry_tries_all_nodes_again() -> None:
    scene = two_nodes()
    scene.submit(a_spec())
    lacking(scene, node_of(scene))
    lacking(scene, node_of(scene))
    ended = scene.jobs[JobId(1)]
    assert ended.spec.missing
    scene.happen(JobsRetried(jobs=(replace(ended),), by="ann"))
    assert scene.jobs[JobId(1)].spec.missing == ()
    assert isinstance(scene.status(), Starting)


def several(scene: Scene, count: int) -> None:
    """Start a job on that many nodes."""
    spec = a_spec()
    scene.submit(replace(spec, request=replace(spec.request, node_count=count)))


def test_a_job_on_several_nodes_moves_if_enough_others_are_left() -> None:
    scene = two_nodes()
    third = a_node(name="third")
    scene.state.nodes[NodeName("third")] = third
    scene.state.touch(third)
    several(scene, 2)
    first = node_of(scene)
    lacking(scene, first)
    status = scene.status()
    assert isinstance(status, Starting)
    assert first not in status.booking.nodes
    lacking(scene, node_of(scene))
    assert isinstance(scene.status(), Failed)


def test_a_further_part_that_cannot_be_launched_ends_the_attempt() -> None:
    scene = two_nodes()
    several(scene, 2)
    first = node_of(scene)
    scene.begin()
    (second,) = {BOX, OTHER} - {first}
    lacking(scene, second)
    report = JobExited(
        job=JobId(1), attempt=1, exit_code=None, signal=15, pid=41, started_at=scene.now, ended_at=scene.now
    )
    scene.report(report, first)
    assert isinstance(scene.status(), Failed)
