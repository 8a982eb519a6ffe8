"""A node on which jobs of several owners fail at once is drained by itself."""

from __future__ import annotations

from typing import Any

from tarmac.core.events import JobLost, LaunchFailed, NodesDrained, NodesResumed
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import note
from tests.core.support.two_nodes import A, B, TwoNodes, asking

CUDA = "RuntimeError: CUDA error: no kernel image"


def fail(scene: TwoNodes, owner: str, *, on: str = A, after_s: float = 2.0, exit_code: int = 1, **more: Any) -> None:
    (job,) = scene.run(asking(owner=owner, only_nodes=(on,)))
    scene.now += after_s - 1.0
    scene.finish(job, exit_code=exit_code, **more)


def is_drained(scene: TwoNodes, node: str = A) -> bool:
    return scene.state.nodes[node].drain is not None  # type: ignore[index]


def test_failures_of_several_owners_drain_the_node_with_the_common_line() -> None:
    scene = TwoNodes()
    fail(scene, "ann", error_line=f"{CUDA} 1")
    fail(scene, "ann", error_line="ImportError: no torch")
    assert not is_drained(scene)
    fail(scene, "bob", error_line=f"{CUDA} 2")
    drain = scene.state.nodes[A].drain
    assert drain is not None
    assert (drain.by, drain.since) == (None, scene.now)
    assert drain.reason == note(
        "drained.failures_alike", node=A, count=3, owners=2, within_s=10.0, alike=2, line=f"{CUDA} 2"
    )
    assert scene.notices() == ["node-drained"]
    scene.submit(asking())
    assert scene.node_of(4) == B


def test_lines_that_differ_are_not_named() -> None:
    scene = TwoNodes()
    for owner in ("ann", "bob", "cy"):
        fail(scene, owner, error_line=f"Error of {owner}")
    drain = scene.state.nodes[A].drain
    assert drain is not None
    assert drain.reason == note("drained.failures", node=A, count=3, owners=3, within_s=10.0)


def test_one_success_or_a_longer_run_starts_the_count_again() -> None:
    for exit_code, after_s in ((0, 2.0), (1, 60.0)):
        scene = TwoNodes()
        fail(scene, "ann")
        fail(scene, "bob")
        fail(scene, "cy", exit_code=exit_code, after_s=after_s)
        fail(scene, "ann")
        fail(scene, "bob")
        assert not is_drained(scene)
        fail(scene, "ann")
        assert is_drained(scene)


def test_failures_on_other_nodes_do_not_count() -> None:
    scene = TwoNodes()
    for owner in ("ann", "bob"):
        for node in (A, B):
            fail(scene, owner, on=node)
    assert not is_drained(scene, A)
    assert not is_drained(scene, B)


def test_the_jobs_of_one_owner_drain_a_node_only_if_they_work_elsewhere() -> None:
    scene = TwoNodes()
    for _ in range(9):
        fail(scene, "ann")
    assert not is_drained(scene), "the code of the owner may be wrong"
    fail(scene, "bob", on=B, exit_code=0)
    fail(scene, "ann")
    assert not is_drained(scene), "a job of another owner proves nothing about the code of this one"
    fail(scene, "ann", on=B, exit_code=0)
    fail(scene, "ann")
    assert is_drained(scene)


def test_a_job_that_runs_on_another_node_counts_as_proof() -> None:
    scene = TwoNodes()
    fail(scene, "ann")
    scene.run(asking(only_nodes=(B,)))
    scene.now += 60.0
    for _ in range(3):
        fail(scene, "ann")
    assert not is_drained(scene), "one owner needs more failures"
    fail(scene, "ann")
    assert is_drained(scene)


def test_the_last_node_that_takes_jobs_is_never_drained() -> None:
    scene = TwoNodes()
    scene.happen(NodesDrained(nodes=(B,), by="eve"))
    for owner in ("ann", "bob", "cy", "ann", "bob"):
        fail(scene, owner)
    assert not is_drained(scene)
    scene.happen(NodesResumed(nodes=(B,)))
    fail(scene, "cy")
    assert is_drained(scene)


def test_attempts_of_one_job_count_once_and_old_failures_not_at_all() -> None:
    scene = TwoNodes()
    fail(scene, "ann")
    scene.now += 4000.0
    fail(scene, "ann")
    fail(scene, "bob")
    assert not is_drained(scene)
    fail(scene, "bob")
    assert is_drained(scene)


def test_starts_that_the_controller_refused_and_lost_attempts_do_not_count() -> None:
    scene = TwoNodes()
    for owner in ("ann", "bob", "cy", "dee"):
        (job,) = scene.submit(asking(owner=owner, only_nodes=(A,)))
        message = note("failed.no_secrets", names="TOKEN")
        scene.report(LaunchFailed(job=job, attempt=1, message=message, at=scene.now), A)
        (job,) = scene.run(asking(owner=owner, only_nodes=(A,)))
        scene.report(JobLost(job=JobId(job), attempt=1, message="killed", is_alive=False, at=scene.now), A)
    assert not is_drained(scene)


def test_commands_that_cannot_be_launched_count() -> None:
    scene = TwoNodes()
    for owner in ("ann", "bob", "cy"):
        (job,) = scene.submit(asking(owner=owner, only_nodes=(A,)))
        report = LaunchFailed(job=job, attempt=1, message="/data/run.sh: not found", at=scene.now, outside="no-cwd")
        scene.report(report, A)
    assert is_drained(scene)


def test_a_resumed_node_begins_with_a_clean_record() -> None:
    scene = TwoNodes()
    for owner in ("ann", "bob", "cy"):
        fail(scene, owner)
    scene.happen(NodesResumed(nodes=(A,)))
    fail(scene, "ann")
    fail(scene, "bob")
    assert not is_drained(scene)


def test_it_can_be_switched_off() -> None:
    scene = TwoNodes(drain_node_after_failures=0)
    for owner in ("ann", "bob", "cy", "dee"):
        fail(scene, owner)
    assert not is_drained(scene)
