"""Many quick failures in a row suspend their owner. The jobs of others go on."""

from __future__ import annotations

from typing import Any

import pytest

from tarmac.core.events import OwnersResumed, QueueResumed, StartForced
from tarmac.core.explain.reasons import OwnerSuspended
from tarmac.core.handlers.queue.failure_breaker import common_line
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.note import note
from tarmac.core.model.queue import Suspension
from tarmac.core.state import State
from tests.core.support.builders import BOX, a_spec, launch_failed, lost
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene

ERROR = "ModuleNotFoundError: No module named 'torch'"


def fail(scene: Scene, *, after_s: float = 2.0, exit_code: int = 1, error_line: str | None = None) -> None:
    """The running job fails after `after_s`."""
    (job,) = scene.at_work()
    scene.begin(job)
    scene.now += after_s - 1.0
    scene.finish(job, exit_code=exit_code, error_line=error_line)


def a_broken_environment(**rules: Any) -> Scene:
    scene = Scene(gpus=1, **{"suspend_after_failures": 3, "fail_fast_s": 10.0, **rules})
    scene.submit(*[a_spec()] * 12)
    return scene


def is_suspended(scene: Scene, owner: str = "ann") -> bool:
    return owner in scene.state.suspended


def test_an_owner_is_suspended_after_exactly_the_configured_quick_failures() -> None:
    scene = a_broken_environment()
    fail(scene)
    fail(scene, after_s=10.0)
    assert (scene.notices(), scene.state.suspended) == ([], {})
    fail(scene)
    assert scene.notices() == ["owner-suspended"]
    reason = note("suspended.failures", owner="ann", count=3, within_s=10.0, job=3, reason="exit", detail=1)
    assert scene.state.suspended == {"ann": Suspension(owner="ann", reason=reason, since=scene.now)}
    assert (scene.starts(), scene.at_work()) == ([], [])
    assert not scene.state.mode.is_paused


def test_the_jobs_of_others_go_on() -> None:
    scene = a_broken_environment(policy="fifo")
    scene.submit(a_spec(owner="bob", priority=20))
    for _ in range(3):
        fail(scene)
    assert (is_suspended(scene), scene.at_work()) == (True, [13])
    scene.submit(a_spec(owner="cy", gpus=0))
    assert scene.starts() == [(14, [])]


def test_failures_of_one_owner_do_not_count_for_another() -> None:
    scene = Scene(gpus=1, suspend_after_failures=3, policy="fifo")
    scene.submit(*[a_spec(owner="ann"), a_spec(owner="bob")] * 2)
    for _ in range(4):
        fail(scene)
    assert scene.state.suspended == {}
    assert {owner: list(failed) for owner, failed in scene.state.failures.items()} == {"ann": [1, 3], "bob": [2, 4]}


def test_the_error_line_that_most_have_in_common_is_named() -> None:
    scene = a_broken_environment()
    fail(scene, error_line=ERROR)
    fail(scene, error_line="CUDA error")
    fail(scene, error_line=ERROR)
    reason = scene.state.suspended["ann"].reason
    assert reason == note("suspended.failures_alike", owner="ann", count=3, within_s=10.0, alike=2, line=ERROR)


@pytest.mark.parametrize(
    ("lines", "text", "jobs"),
    [
        (["at 0x7f01 line 3", "other", "at 0xbeef line 77"], "at 0xbeef line 77", 2),
        ([None, "x", None], "x", 1),
    ],
)
def test_lines_that_differ_in_numbers_are_one(lines: list[str | None], text: str, jobs: int) -> None:
    assert common_line(lines) == (text, jobs)
    assert common_line([None, None]) is None


def test_waiting_jobs_say_why_and_start_once_their_owner_is_resumed() -> None:
    scene = a_broken_environment()
    for _ in range(3):
        fail(scene)
    suspension = scene.state.suspended["ann"]
    why = OwnerSuspended(owner="ann", reason=suspension.reason, since=suspension.since)
    assert explain(scene.state, scene.jobs[JobId(4)], scene.now) == (why,)
    scene.submit(a_spec(gpus=0))
    assert scene.starts() == []
    scene.happen(OwnersResumed(owners=("ann",), by="ann"))
    assert (scene.state.suspended, len(scene.starts())) == ({}, 2)
    assert scene.state.changes.suspended == {"ann": None}


def test_a_suspension_survives_a_restart() -> None:
    scene = a_broken_environment()
    for _ in range(3):
        fail(scene)
    again = State()
    again.load_suspensions(scene.state.suspended.values())
    again.load(scene.state.jobs.values(), next_id=scene.state.next_id, now=scene.now)
    assert (set(again.blocked), len(again.queue)) == (set(scene.state.jobs), 0)


@pytest.mark.parametrize(("after_s", "exit_code"), [(2.0, 0), (10.5, 1)])
def test_a_success_or_a_late_failure_resets_the_count(after_s: float, exit_code: int) -> None:
    scene = a_broken_environment()
    fail(scene)
    fail(scene)
    fail(scene, after_s=after_s, exit_code=exit_code)
    fail(scene)
    fail(scene)
    assert not is_suspended(scene)
    fail(scene)
    assert is_suspended(scene)


def test_resuming_resets_the_count() -> None:
    scene = a_broken_environment()
    fail(scene)
    fail(scene)
    scene.happen(QueueResumed(by="root"))
    fail(scene)
    fail(scene)
    assert not is_suspended(scene)
    fail(scene)
    scene.happen(OwnersResumed(owners=("ann",), by="root"))
    fail(scene)
    assert not is_suspended(scene)


def test_launch_failures_count_but_stopped_and_lost_jobs_do_not() -> None:
    scene = a_broken_environment()
    fail(scene)
    scene.stop(2)
    scene.finish(2, exit_code=1)
    scene.report(launch_failed(3))
    assert list(scene.state.failures["ann"]) == [1, 3]
    scene.report(lost(4))
    assert scene.state.failures == {}


def test_one_job_that_is_tried_again_and_again_does_not_suspend_its_owner() -> None:
    scene = Scene(gpus=1, suspend_after_failures=3)
    scene.submit(a_spec(retries=20, retry_delay_s=0.0), a_spec())
    for _ in range(8):
        fail(scene)
        assert not is_suspended(scene)
    assert scene.jobs[JobId(1)].attempt == 9


def test_retries_of_a_suspended_owner_wait_as_well() -> None:
    scene = Scene(gpus=1, suspend_after_failures=3)
    scene.submit(*[a_spec(retries=3)] * 3)
    while not is_suspended(scene):
        fail(scene)
    assert (scene.at_work(), scene.states()) == ([], ["queued"] * 3)


def test_nobody_is_suspended_when_the_setting_is_0() -> None:
    scene = a_broken_environment(suspend_after_failures=0, drain_node_after_failures=0)
    for _ in range(10):
        fail(scene)
    assert not is_suspended(scene)


def test_a_start_by_force_works_for_a_suspended_owner() -> None:
    scene = a_broken_environment()
    for _ in range(3):
        fail(scene)
    scene.happen(StartForced(job=JobId(5), node=BOX, gpus=(GpuUuid("box-0"),), by="ann"))
    assert scene.starts() == [(5, [0])]


def test_failures_are_not_remembered_where_none_suspends_or_the_owner_is_suspended() -> None:
    scene = a_broken_environment(suspend_after_failures=0, drain_node_after_failures=0)
    for _ in range(3):
        fail(scene)
    assert scene.state.failures == {}
    scene = Scene(gpus=3, suspend_after_failures=2, policy="fifo")
    scene.run(*[a_spec()] * 3)
    for job in (1, 2, 3):
        scene.finish(job, exit_code=1)
    assert is_suspended(scene)
    assert list(scene.state.failures.get("ann", {})) in ([], [1, 2])
